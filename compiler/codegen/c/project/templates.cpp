// SPDX-License-Identifier: Apache-2.0
// The list of templates, and pieces of their files.
#include "compiler/codegen/c/project/templates.h"

#include "compiler/codegen/c/c_text.h"
#include "compiler/executor/program.h"
#include "core/base/file.h"
#include "core/base/program_files.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

std::span<const ProjectTemplate* const> cProjectTemplates()
{
    static constexpr std::array kAll = {&arduinoTemplate, &baremetalMps2Template,
                                        &baremetalRiscvTemplate, &crtHostTemplate, &zephyrTemplate};
    return kAll;
}

core::Result<std::vector<SourceFile>> shippedFiles(std::span<const ShippedFile> files)
{
    std::vector<SourceFile> out;
    for (const ShippedFile& file : files) {
        auto text = core::readFile(core::shippedFile("runtime/" + std::string(file.from)));
        if (!text) return text.error();
        out.push_back({std::string(file.to), std::move(*text)});
    }
    return out;
}

std::string modelSources()
{
    return "$(wildcard model/codegen/host/src/*.c model/runtime/common/*.c "
           "model/runtime/executor/*.c model/runtime/micro/graph/*.c)";
}

std::string modelIncludes() { return "-Imodel/codegen/host/include -Imodel/runtime/micro/graph"; }

core::Result<std::string> demonstrationText(const SourceProgram& source)
{
    if (source.executor != ExecutorKind::Aot)
        return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                               "this project calls the model without an executor; use --executor "
                               "aot");
    const ExecutorProgram& program = source.program;
    const std::string prefix = "tvmgen_" + cName(program.moduleName);
    const auto bytesOf = [&](int tensor) {
        return std::to_string(
            std::max<int64_t>(1, program.tensors[static_cast<size_t>(tensor)].bytes()));
    };
    std::string buffers, in, out, rows;
    for (size_t i = 0; i < program.inputs.size(); ++i) {
        const std::string name = "input_" + std::to_string(i);
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(program.inputs[i])];
        buffers += "static uint8_t " + name + "[" + bytesOf(program.inputs[i]) +
                   "] __attribute__((aligned(8)));\n";
        in += "    in." + cMemberName(tensor.name) + " = " + name + ";\n";
    }
    for (size_t i = 0; i < program.outputs.size(); ++i) {
        const std::string name = "output_" + std::to_string(i);
        buffers += "static uint8_t " + name + "[" + bytesOf(program.outputs[i]) +
                   "] __attribute__((aligned(8)));\n";
        out += "    out." + cMemberName(program.outputNames[i]) + " = " + name + ";\n";
        rows += "    {" + name + ", " + bytesOf(program.outputs[i]) + "},\n";
    }
    return "#include \"" + prefix + ".h\"\n\n/* Inputs: put your data here. */\n" + buffers +
           "\nstatic const struct\n{\n    const uint8_t* bytes;\n    uint32_t size;\n} outputs[] = "
           "{\n" +
           rows + "};\n#define OUTPUT_COUNT " + std::to_string(program.outputs.size()) +
           "\n\nstatic int32_t infer(void)\n{\n    struct " + prefix + "_inputs in;\n    struct " +
           prefix + "_outputs out;\n" + in + out + "    return " + prefix + "_run(&in, &out);\n}\n";
}

} // namespace tenon::compiler
