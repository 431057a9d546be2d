// SPDX-License-Identifier: Apache-2.0
// Writes the generated parts of the manual from the definitions that the compiler itself uses.
// usage: write_manual operators|passes|onnx      prints Markdown
#include "compiler/ops/op.h"
#include "compiler/passes/pass.h"
#include "tests/lint/onnx_manual.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace tenon::compiler {
namespace {

const char* patternText(Pattern pattern)
{
    switch (pattern) {
    case Pattern::Elementwise: return "elementwise";
    case Pattern::Broadcast: return "broadcast";
    case Pattern::Injective: return "injective";
    case Pattern::Reduction: return "reduction";
    case Pattern::OutEwiseFusable: return "takes elementwise followers";
    case Pattern::Opaque: return "never fused";
    }
    return "";
}

const char* accuracyText(Accuracy accuracy)
{
    switch (accuracy) {
    case Accuracy::Exact: return "exact";
    case Accuracy::Rounding: return "rounding";
    case Accuracy::Random: return "random";
    }
    return "";
}

const char* arityText(OperandSpec::Arity arity)
{
    switch (arity) {
    case OperandSpec::Required: return "";
    case OperandSpec::Optional: return " (optional)";
    case OperandSpec::Variadic: return " (any number)";
    }
    return "";
}

std::string attrLine(const AttrSpec& attr)
{
    std::string line = "- attribute `" + std::string(attr.name) + "` " + std::string(attr.type);
    line += attr.fallback.empty() ? ", required" : ", default `" + std::string(attr.fallback) + "`";
    return line + ": " + std::string(attr.doc) + "\n";
}

std::string operatorSection(const OpDef& op)
{
    std::string text = "## " + std::string(op.name) + "\n\n" + std::string(op.doc) + "\n\n";
    for (const OperandSpec& operand : op.operands)
        text += "- operand `" + std::string(operand.name) + "`" + arityText(operand.arity) + ": " +
                std::string(operand.doc) + "\n";
    for (const AttrSpec& attr : op.attrs) text += attrLine(attr);
    text += std::string("- fusion: ") + patternText(op.pattern) +
            "; accuracy: " + accuracyText(op.accuracy) + "\n\n";
    if (!op.example.empty()) text += "```\n" + std::string(op.example) + "\n```\n\n";
    return text;
}

std::string operatorManual()
{
    std::string text = "# Operators\n\nGenerated from `compiler/ops/` by "
                       "`packaging/dev/gen_docs.sh`; do not edit.\n\n";
    for (const OpDef* op : allOps()) text += operatorSection(*op);
    text.pop_back();
    return text;
}

std::string passManual()
{
    std::string text = "# Passes\n\nGenerated from `compiler/passes/passes.def` by "
                       "`packaging/dev/gen_docs.sh`; do not edit.\n\n"
                       "| pass | on the command line | phase | from opt level | what it does |\n"
                       "|---|---|---|---|---|\n";
    for (const PassDef& pass : allPasses())
        text += "| " + std::string(pass.name) + " | `" + std::string(pass.cliName) + "` | " +
                std::string(pass.phase) + " | " + std::to_string(pass.minOptLevel) + " | " +
                std::string(pass.summary) + " |\n";
    text += "\n## What they rely on\n\n"
            "| pass | needs | guarantees | stands |\n|---|---|---|---|\n";
    for (const PassDef& pass : allPasses())
        text += "| " + std::string(pass.name) + " | " + std::string(pass.needs) + " | " +
                std::string(pass.guarantees) + " | " + std::string(pass.stands) + " |\n";
    text += "\n## Default pipeline\n\n";
    int index = 1;
    for (const std::string_view name : defaultPipeline())
        text += std::to_string(index++) + ". " + std::string(name) + "\n";
    return text;
}

} // namespace
} // namespace tenon::compiler

int main(int argc, char** argv)
{
    if (argc == 2 && std::strcmp(argv[1], "operators") == 0)
        std::fputs(tenon::compiler::operatorManual().c_str(), stdout);
    else if (argc == 2 && std::strcmp(argv[1], "passes") == 0)
        std::fputs(tenon::compiler::passManual().c_str(), stdout);
    else if (argc == 2 && std::strcmp(argv[1], "onnx") == 0)
        std::fputs(tenon::test::onnxManual().c_str(), stdout);
    else
        return 2;
    return 0;
}
