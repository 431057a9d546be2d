// SPDX-License-Identifier: Apache-2.0
// The on-device RPC server in a project: its sources as shipped, and what it knows of the model.
#include "compiler/codegen/c/c_text.h"
#include "compiler/codegen/c/project/templates.h"
#include "compiler/codegen/image_mark.h"
#include "compiler/executor/program.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using core::Result;

constexpr size_t kMostDims = 8; ///< kMicroMostDims

constexpr ShippedFile kServer[] = {
    {"include/tenon/c_runtime_api.h", "server/include/tenon/c_runtime_api.h"},
    {"include/tenon/dlpack.h", "server/include/tenon/dlpack.h"},
    {"micro/graph/micro_function.h", "server/micro/graph/micro_function.h"},
    {"micro/mps2/serve.c", "server/micro/mps2/serve.c"},
    {"micro/mps2/served.h", "server/micro/mps2/served.h"},
    {"micro/project/microtvm_api_server.py", "microtvm_api_server.py"},
    {"micro/rpc/micro_answer.c", "server/micro/rpc/micro_answer.c"},
    {"micro/rpc/micro_answer.h", "server/micro/rpc/micro_answer.h"},
    {"micro/rpc/micro_arrays.c", "server/micro/rpc/micro_arrays.c"},
    {"micro/rpc/micro_calls.c", "server/micro/rpc/micro_calls.c"},
    {"micro/rpc/micro_frame.c", "server/micro/rpc/micro_frame.c"},
    {"micro/rpc/micro_frame.h", "server/micro/rpc/micro_frame.h"},
    {"micro/rpc/micro_server.c", "server/micro/rpc/micro_server.c"},
    {"micro/rpc/micro_server.h", "server/micro/rpc/micro_server.h"},
    {"micro/rpc/micro_statistics.c", "server/micro/rpc/micro_statistics.c"},
    {"micro/rpc/micro_subject.h", "server/micro/rpc/micro_subject.h"},
    {"micro/rpc/micro_time.c", "server/micro/rpc/micro_time.c"},
    {"micro/rpc/micro_values.c", "server/micro/rpc/micro_values.c"},
    {"micro/rpc/micro_values.h", "server/micro/rpc/micro_values.h"}};

/// `which` is "input" or "output".
std::string portsText(const ExecutorProgram& program, const std::string& which,
                      const std::vector<int>& tensors, const std::vector<std::string>& names)
{
    std::string shapes, rows;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(tensors[i])];
        const std::string shape = which + "_" + std::to_string(i);
        std::vector<std::string> dims;
        for (const int64_t dim : tensor.shape) dims.push_back(std::to_string(dim));
        if (dims.empty()) dims.emplace_back("0"); // a scalar; C wants something
        shapes += "static const int64_t " + shape + "[] = {" + core::join(dims, ", ") + "};\n";
        rows += "    {" + cString(names[i]) + ", {" +
                std::to_string(static_cast<int>(tensor.dtype.kind)) + ", " +
                std::to_string(tensor.dtype.bits) + ", " + std::to_string(tensor.dtype.lanes) +
                "}, " + std::to_string(tensor.shape.size()) + ", " + shape + "},\n";
    }
    if (rows.empty()) rows = "    {0, {0, 0, 0}, 0, 0},\n";
    return shapes + "const micro_port served_" + which + "s[] = {\n" + rows + "};\n\n";
}

std::string kernelsText(const SourceProgram& source, const std::string& prefix)
{
    if (source.executor != ExecutorKind::Graph)
        return "const tenon_micro_function* served_kernels(uint32_t* count)\n{\n    *count = 0;\n"
               "    return 0;\n}\n\n";
    return "const tenon_micro_function* served_kernels(uint32_t* count)\n{\n    *count = "
           "(uint32_t)" +
           prefix + "_model.function_count;\n    return " + prefix + "_model.functions;\n}\n\n";
}

std::string servedText(const SourceProgram& source)
{
    const ExecutorProgram& program = source.program;
    const std::string prefix = "tvmgen_" + cName(program.moduleName);
    std::vector<std::string> inputNames;
    for (const int input : program.inputs)
        inputNames.push_back(program.tensors[static_cast<size_t>(input)].name);
    return "/* SPDX-License-Identifier: MIT-0 */\n/* The model as serve.c serves it. */\n"
           "#include \"" +
           prefix + ".h\"\n#include \"served.h\"\n\nconst char served_model[] = " +
           cString(program.moduleName) + ";\nconst char served_image[] = \"" +
           std::string(kImageMark) + std::string(kImagePlace) + "\";\n\n" +
           portsText(program, "input", program.inputs, inputNames) +
           portsText(program, "output", program.outputs, program.outputNames) +
           kernelsText(source, prefix) + "uint32_t served_call_counts[" +
           std::to_string(std::max<size_t>(1, program.calls.size())) + "];\n";
}

core::Status checkDims(const ExecutorProgram& program)
{
    for (const auto* ports : {&program.inputs, &program.outputs})
        for (const int port : *ports)
            if (const ProgramTensor& tensor = program.tensors[static_cast<size_t>(port)];
                tensor.shape.size() > kMostDims)
                return core::makeError(core::DiagnosticCode::UnsupportedFeature,
                                       "the tensor " + core::quoted(tensor.name) + " has " +
                                           std::to_string(tensor.shape.size()) +
                                           " dimensions; the server of such projects takes up to " +
                                           std::to_string(kMostDims));
    return core::kDone;
}

} // namespace

Result<std::vector<SourceFile>> serverFiles(const SourceProgram& program, std::string_view platform,
                                            const std::string& command)
{
    if (core::Status fine = checkDims(program.program); !fine) return fine.error();
    const std::string folder = "micro/" + std::string(platform) + "/";
    // Headers of a system that is not here are no sources of this program.
    const std::string suffix = platform == "zephyr" ? ".h.in" : ".h";
    const std::string transport = folder + "transport" + suffix, board = folder + "board" + suffix;
    std::vector<ShippedFile> files(std::begin(kServer), std::end(kServer));
    files.push_back({transport, "transport.h"});
    files.push_back({board, "board.h"});
    auto out = shippedFiles(files);
    if (!out) return out;
    out->push_back({"served.c", servedText(program)});
    out->push_back({"serve.sh", "#!/bin/sh\n# The server, its line as standard input and "
                                "output.\ncd \"$(dirname \"$0\")\" && exec " +
                                    command + "\n"});
    return out;
}

std::string serverSources() { return "served.c $(wildcard server/micro/*/*.c)"; }

std::string serverOptions()
{
    return "-Iserver/micro/mps2 -Iserver/micro/graph -include program.h "
           "'-DTVMGEN_MARK(call)=program_mark(call)'";
}

} // namespace tenon::compiler
