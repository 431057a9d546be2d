// SPDX-License-Identifier: Apache-2.0
// Trial imports of every operator with every element type.
#include "tests/lint/onnx_manual.h"

#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "tests/compiler/frontend/operator_example.h"
#include "tests/support/environment.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

struct Type
{
    int32_t onnx;
    const char* name;
};

constexpr Type kTypes[] = {
    {TensorProto::BOOL, "bool"},         {TensorProto::INT8, "int8"},
    {TensorProto::INT16, "int16"},       {TensorProto::INT32, "int32"},
    {TensorProto::INT64, "int64"},       {TensorProto::UINT8, "uint8"},
    {TensorProto::UINT16, "uint16"},     {TensorProto::UINT32, "uint32"},
    {TensorProto::UINT64, "uint64"},     {TensorProto::FLOAT16, "float16"},
    {TensorProto::BFLOAT16, "bfloat16"}, {TensorProto::FLOAT, "float32"},
    {TensorProto::DOUBLE, "float64"},
};

bool isImported(const tenon_onnx::ModelProto& model)
{
    const std::string bytes = model.SerializeAsString();
    const auto loaded =
        compiler::loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    return loaded && !core::hasErrors(loaded->diagnostics);
}

/// "all", "all but bool", or the names; families are named as one.
std::string typesText(const std::set<std::string>& types)
{
    const std::set<std::string> floats{"float16", "bfloat16", "float32", "float64"};
    const std::set<std::string> integers{"int8",  "int16",  "int32",  "int64",
                                         "uint8", "uint16", "uint32", "uint64"};
    if (types.size() == std::size(kTypes)) return "all";
    std::vector<std::string> out;
    const auto has = [&](const std::set<std::string>& family) {
        return std::includes(types.begin(), types.end(), family.begin(), family.end());
    };
    if (types.contains("bool")) out.emplace_back("bool");
    if (has(integers)) out.emplace_back("integers");
    if (has(floats)) out.emplace_back("floats");
    for (const Type& type : kTypes) {
        const std::string name = type.name;
        const bool isNamed = name == "bool" || (integers.contains(name) && has(integers)) ||
                             (floats.contains(name) && has(floats));
        if (!isNamed && types.contains(name)) out.push_back(name);
    }
    return core::join(out, ", ");
}

std::string typesOf(const OperatorExample& example, const compiler::Converter& row)
{
    const bool isFree = std::any_of(example.words.begin(), example.words.end(),
                                    [](const std::string& w) { return w.starts_with("T:"); });
    if (!isFree) return "as the standard fixes them";
    std::set<std::string> out;
    for (const Type& type : kTypes)
        if (isImported(exampleModel(example, row, type.onnx))) out.insert(type.name);
    return typesText(out);
}

/// Cases of the ONNX backend tests that hold an operator, by operator.
std::map<std::string, size_t> archiveCases()
{
    std::map<std::string, size_t> out;
    const auto text = core::readFile(sourcePath("tests/conformance/archive_cases.txt"));
    if (!text) return out;
    for (const std::string& line : core::split(*text, '\n')) {
        std::istringstream words(line);
        std::string op, name;
        if (words >> op >> name && op[0] != '#') ++out[op];
    }
    return out;
}

std::string graphOperatorRow(const std::string& op, int since, const char* becomes,
                             const std::map<std::string, size_t>& cases, const std::string& golden)
{
    std::vector<std::string> tests;
    const auto count = cases.find(op);
    if (count != cases.end())
        tests.push_back(std::to_string(count->second) + (count->second == 1 ? " case" : " cases"));
    if (golden.find("node " + op.substr(op.rfind('.') + 1) + " ") != std::string::npos)
        tests.emplace_back("`import.txt`");
    return "| " + op + " | " + std::to_string(since) + " | " + becomes + " | " +
           core::join(tests, ", ") + " |\n";
}

} // namespace

std::string onnxManual()
{
    const auto examples =
        readOperatorExamples(sourcePath("tests/compiler/frontend/operator_examples.txt"));
    const auto cases = archiveCases();
    const auto golden = core::readFile(sourcePath("tests/compiler/frontend/import.txt"));
    std::string text =
        "# ONNX operators\n\nGenerated from the converter table and trial imports by "
        "`packaging/dev/gen_docs.sh`; do not edit.\n\nA row serves all opsets from its own to the "
        "next row's of the same operator, up to opset " +
        std::to_string(compiler::kNewestOpset) +
        ". Types are those of the main operands; 8-bit floats and integers of 2 and 4 bits are "
        "held as their codes, moved, cast, quantized and dequantized. *Examples* are the mutated "
        "models of `operator_examples.txt`, *cases* those of the ONNX backend tests.\n\n"
        "| operator | from opset | types | tested by |\n|---|---|---|---|\n";
    for (const compiler::Converter& row : compiler::allConverters()) {
        const std::string op(row.op);
        std::string tests = "examples";
        if (const auto count = cases.find(op); count != cases.end())
            tests +=
                ", " + std::to_string(count->second) + (count->second == 1 ? " case" : " cases");
        if (golden && golden->find("node " + op + " ") != std::string::npos)
            tests += ", `import.txt`";
        text += "| " + op + " | " + std::to_string(row.sinceVersion) + " | " +
                typesOf(exampleFor(examples, row), row) + " | " + tests + " |\n";
    }
    text += "\n## Bodies and sequences\n\nSequences live inside the importer as lists of tensors: "
            "what a "
            "model puts together and takes apart itself costs nothing. Sequences that enter or "
            "leave a model, are carried by a loop, or have a length known at run time only are "
            "reported.\n\n| operator | from opset | becomes | tested by |\n|---|---|---|---|\n";
#define GRAPH_OPERATOR(op, since, function, becomes)                                               \
    text += graphOperatorRow(op, since, becomes, cases, golden ? *golden : std::string());
#include "compiler/frontend/onnx/graph/graph_operators.def"
#undef GRAPH_OPERATOR
    text += "\n## Not imported\n\nNodes of these operators are shown; compiling stops with the "
            "reason.\n\n| operator | why |\n|---|---|\n";
#define DECLINED(op, reason) text += std::string("| ") + (op) + " | " + (reason) + " |\n";
#include "compiler/frontend/onnx/converters/declined.def"
#undef DECLINED
    return text;
}

} // namespace tenon::test
