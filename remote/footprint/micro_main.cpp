// SPDX-License-Identifier: Apache-2.0
// C programs around a model, as small as they can be.
#include "remote/footprint/micro_main.h"

#include <nlohmann/json.hpp>

namespace tenon::remote {

// Inputs are zeros: a model that divides by them says so with a positive number, having run.

std::string aotMainText(const compiler::ExecutorProgram& program, compiler::CInterface interface)
{
    std::string buffers, pointers;
    size_t index = 0;
    const bool isPacked = interface == compiler::CInterface::Packed;
    const auto add = [&](int tensor, const std::string& name, const char* group) {
        const std::string buffer = "footprint_io_" + std::to_string(index);
        buffers += "static uint64_t " + buffer + "[" +
                   std::to_string((program.tensors[static_cast<size_t>(tensor)].bytes() + 7) / 8) +
                   "];\n";
        if (isPacked)
            pointers += "    tensors[" + std::to_string(index) + "].data = " + buffer +
                        ";\n    values[" + std::to_string(index) + "].v_handle = &tensors[" +
                        std::to_string(index) + "];\n";
        else
            pointers += "    " + std::string(group) + "." + compiler::cMemberName(name) + " = " +
                        buffer + ";\n";
        ++index;
    };
    for (const int input : program.inputs)
        add(input, program.tensors[static_cast<size_t>(input)].name, "in");
    for (size_t i = 0; i < program.outputs.size(); ++i)
        add(program.outputs[i], program.outputNames[i], "out");
    const std::string count = std::to_string(index);
    const std::string locals = isPacked ? "    static DLTensor tensors[" + count +
                                              "];\n    static TVMValue values[" + count +
                                              "];\n    static int32_t codes[" + count + "];\n"
                                        : std::string("    struct tvmgen_default_inputs in;\n"
                                                      "    struct tvmgen_default_outputs out;\n");
    const std::string call = isPacked ? "tvmgen_default_run(values, codes, " + count + ", 0, 0, 0)"
                                      : std::string("tvmgen_default_run(&in, &out)");
    return "#include \"tvmgen_default.h\"\n#include \"stack.h\"\n" + buffers +
           "static int run(void)\n{\n" + locals + pointers + "    return " + call +
           " < 0;\n}\nint main(void) { return stack_used_by(run); }\n";
}

std::string graphMainText(const compiler::ExecutorProgram& program, int64_t arenaBytes)
{
    std::string checks;
    for (const int input : program.inputs)
        checks += "    if (!tenon_micro_graph_input(graph, " +
                  nlohmann::json(program.tensors[static_cast<size_t>(input)].name).dump() +
                  ")) return 2;\n";
    for (size_t i = 0; i < program.outputs.size(); ++i)
        checks +=
            "    if (!tenon_micro_graph_output(graph, " + std::to_string(i) + ")) return 2;\n";
    return "#include \"tvmgen_default.h\"\n#include \"stack.h\"\n"
           "static uint64_t footprint_arena[" +
           std::to_string((arenaBytes + 7) / 8) +
           "] __attribute__((aligned(16), section(\".bss.noinit.arena\")));\n"
           "static int run(void)\n{\n    tenon_micro_graph* graph;\n"
           "    if (tenon_micro_graph_create(&tvmgen_default_model, footprint_arena, "
           "sizeof footprint_arena, &graph)) return 1;\n" +
           checks +
           "    if (tenon_micro_graph_run(graph) < 0) return 3;\n"
           "    report(\"arena\", tenon_micro_graph_used_bytes(graph));\n"
           "    report(\"tensors\", tenon_micro_graph_tensor_bytes(graph));\n"
           "    return 0;\n}\nint main(void) { return stack_used_by(run); }\n";
}

} // namespace tenon::remote
