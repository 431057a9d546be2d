// SPDX-License-Identifier: Apache-2.0
// A model's buffers and its one call in C, and the image around them.
#include "compiler/codegen/c/micro_program.h"

#include "compiler/codegen/c/c_pools.h"
#include "compiler/codegen/c/c_text.h"
#include "compiler/codegen/c/micro_image.h"
#include "compiler/codegen/c/micro_room.h"
#include "compiler/executor/memory.h"
#include "core/base/file.h"
#include "core/base/program_files.h"
#include "core/base/text.h"
#include "core/base/tool.h"

#include <set>

namespace tenon::compiler {
namespace {

/// As fast as GCC makes it without growing: what MCU vendors measure with.
constexpr std::string_view kOptimization = "-O2";

class MainWriter
{
public:
    explicit MainWriter(const SourceProgram& source)
        : m_source(source)
        , m_program(source.program)
        , m_prefix("tvmgen_" + cName(source.program.moduleName))
        , m_isGraph(source.executor == ExecutorKind::Graph)
    {
    }

    std::string text()
    {
        for (const int input : m_program.inputs) m_inputs.push_back(tensorName(input));
        m_outputs = m_program.outputNames;
        std::string out =
            "#include \"" + m_prefix + ".h\"\n#include \"program.h\"\n\n#include <string.h>\n\n";
        out += tensors("program_inputs", "program_input_count", "input_", m_program.inputs);
        out += tensors("program_outputs", "program_output_count", "output_", m_program.outputs);
        const size_t marks = m_source.isMarked ? m_program.calls.size() + 1 : 0;
        out += "uint64_t program_marks[" + std::to_string(std::max<size_t>(1, marks)) +
               "];\nconst uint32_t program_mark_count = " + std::to_string(marks) + ";\n";
        out += faults() + (m_isGraph ? "" : pools() + workspaceBytes()) +
               (m_isGraph                                  ? graph()
                : m_source.interface == CInterface::Packed ? packed()
                                                           : direct());
        return out;
    }

private:
    std::string tensorName(int tensor) const
    {
        return m_program.tensors[static_cast<size_t>(tensor)].name;
    }

    /// The graph executor has the memory of its tensors.
    std::string tensors(const std::string& table, const std::string& count,
                        const std::string& buffer, const std::vector<int>& list) const
    {
        std::string buffers, rows;
        for (size_t i = 0; i < list.size(); ++i) {
            const int64_t bytes = m_program.tensors[static_cast<size_t>(list[i])].bytes();
            const std::string name = buffer + std::to_string(i);
            if (!m_isGraph)
                buffers += "static uint64_t " + name + "[" +
                           std::to_string(std::max<int64_t>(1, (bytes + 7) / 8)) +
                           "] __attribute__((aligned(16)));\n";
            rows += "{" + (m_isGraph ? "0" : name) + ", " + std::to_string(bytes) + "}, ";
        }
        return buffers + "program_tensor " + table + "[] = {" + (rows.empty() ? "{0, 0}" : rows) +
               "};\nconst uint32_t " + count + " = " + std::to_string(list.size()) + ";\n";
    }

    /// In the order of the codes that the run function returns.
    std::string faults() const
    {
        std::string rows;
        for (const KernelCall& call : m_program.calls)
            if (!call.dividers.empty()) rows += cString(divisionFault(call.dividers)) + ", ";
        if (m_isGraph) rows = "\"\", ";
        return "const char* program_faults[] = {" + rows + "0};\n\n";
    }

    /// Memories that a caller gives, as arrays of the planned sizes.
    std::string pools() const
    {
        const ProgramMemory& memory = m_source.memory;
        const auto array = [](const Pool& pool, int64_t bytes) {
            return "uint8_t " + cPoolLocal(pool) + "[" +
                   std::to_string(std::max<int64_t>(1, bytes)) + "] __attribute__((aligned(64)))";
        };
        std::string out;
        for (size_t p = 0; p < memory.problem.pools.size(); ++p)
            if (const Pool& pool = memory.problem.pools[p]; pool.isCallers)
                out += "static " + array(pool, memory.plan.peakBytes[p]) + ";\n";
        for (size_t p = 0; p < memory.constants.pools.size(); ++p)
            if (const Pool& pool = memory.constants.pools[p]; pool.isCallers)
                out += "static const " + array(pool, memory.constants.bytes[p]) + " = " +
                       cConstantPoolData(m_program, pool) + ";\n";
        return out;
    }

    std::string workspaceBytes() const
    {
        int64_t bytes = 0;
        for (const int64_t peak : m_source.memory.plan.peakBytes) bytes += peak;
        return "uint32_t program_workspace_bytes(void) { return " + std::to_string(bytes) +
               "; }\n\n";
    }

    /// Their names, in the order of the interface.
    std::vector<std::string> poolNames() const
    {
        std::vector<std::string> out;
        for (const auto* pools : {&m_source.memory.problem.pools, &m_source.memory.constants.pools})
            for (const Pool& pool : *pools)
                if (pool.isCallers) out.push_back(cPoolLocal(pool));
        return out;
    }

    /// Inputs and outputs lie where the model says; a run takes their memory, so that every run
    /// gets its inputs anew.
    std::string mapped() const
    {
        const std::string given = poolNames().empty() ? "" : "&pools";
        std::string in, out;
        for (size_t i = 0; i < m_inputs.size(); ++i)
            in += "    memcpy(in." + cMemberName(m_inputs[i]) + ", input_" + std::to_string(i) +
                  ", program_inputs[" + std::to_string(i) + "].size);\n";
        for (size_t i = 0; i < m_outputs.size(); ++i)
            out += "    memcpy(output_" + std::to_string(i) + ", out." + cMemberName(m_outputs[i]) +
                   ", program_outputs[" + std::to_string(i) + "].size);\n";
        return structOfPools() + "    struct " + m_prefix + "_inputs in = " + m_prefix +
               "_map_inputs(" + given + ");\n    struct " + m_prefix +
               "_outputs out = " + m_prefix + "_map_outputs(" + given + ");\n    int32_t code;\n" +
               in + "    code = " + m_prefix + "_run(" + given + ");\n" + out +
               "    return code;\n";
    }

    std::string structOfPools() const
    {
        std::string out;
        if (poolNames().empty()) return out;
        out = "    struct " + m_prefix + "_workspace_pools pools;\n";
        for (const std::string& pool : poolNames())
            out += "    pools." + pool.substr(5) + " = (void*)(uintptr_t)" + pool + ";\n";
        return out;
    }

    std::string direct() const
    {
        const bool isStructs = m_source.interface == CInterface::Structs;
        std::string in, out;
        std::vector<std::string> all;
        for (size_t i = 0; i < m_inputs.size(); ++i) {
            all.push_back("input_" + std::to_string(i));
            in += "    in." + cMemberName(m_inputs[i]) + " = " + all.back() + ";\n";
        }
        for (size_t i = 0; i < m_outputs.size(); ++i) {
            all.push_back("output_" + std::to_string(i));
            out += "    out." + cMemberName(m_outputs[i]) + " = " + all.back() + ";\n";
        }
        for (const std::string& pool : poolNames()) all.push_back("(uint8_t*)(uintptr_t)" + pool);
        std::string body = "    return " + m_prefix + "_run(" + core::join(all, ", ") + ");\n";
        if (isStructs)
            body = structOfPools() + "    struct " + m_prefix + "_inputs in;\n    struct " +
                   m_prefix + "_outputs out;\n" + in + out + "    return " + m_prefix +
                   "_run(&in, &out" + (poolNames().empty() ? "" : ", &pools") + ");\n";
        if (m_source.memory.hasIo()) body = mapped();
        return kNothingToPrepare + ("int32_t program_infer(void)\n{\n" + body + "}\n");
    }

    std::string packed() const
    {
        const std::vector<std::string> memories = poolNames();
        const size_t own = m_inputs.size() + m_outputs.size();
        const std::string count = std::to_string(own + memories.size());
        std::string fill;
        for (size_t i = 0; i < memories.size(); ++i) {
            const std::string index = std::to_string(own + i);
            fill += "    tensors[" + index + "].data = (void*)(uintptr_t)" + memories[i] +
                    ";\n    values[" + index + "].v_handle = &tensors[" + index + "];\n";
        }
        for (size_t i = 0; i < m_inputs.size() + m_outputs.size(); ++i) {
            const bool isInput = i < m_inputs.size();
            const std::string index = std::to_string(i);
            fill += "    tensors[" + index + "].data = " + (isInput ? "input_" : "output_") +
                    std::to_string(isInput ? i : i - m_inputs.size()) + ";\n    values[" + index +
                    "].v_handle = &tensors[" + index + "];\n";
        }
        return kNothingToPrepare +
               ("int32_t program_infer(void)\n{\n    static DLTensor tensors[" + count +
                "];\n    static TVMValue values[" + count + "];\n    static int32_t codes[" +
                count + "];\n" + fill + "    return " + m_prefix + "_run(values, codes, " + count +
                ", 0, 0, 0);\n}\n");
    }

    std::string graph() const
    {
        std::string bind;
        for (size_t i = 0; i < m_inputs.size(); ++i)
            bind += "    if (!(tensor = tenon_micro_graph_input(graph, " + cString(m_inputs[i]) +
                    "))) return -1;\n    program_inputs[" + std::to_string(i) +
                    "].bytes = (uint8_t*)tensor->data + tensor->byte_offset;\n";
        for (size_t i = 0; i < m_outputs.size(); ++i)
            bind += "    if (!(tensor = tenon_micro_graph_output(graph, " + std::to_string(i) +
                    "))) return -1;\n    program_outputs[" + std::to_string(i) +
                    "].bytes = (uint8_t*)tensor->data + tensor->byte_offset;\n";
        return "static uint64_t arena[" + std::to_string((microArenaBytes(m_program) + 7) / 8) +
               "] __attribute__((aligned(16), section(\".bss.noinit.arena\")));\n"
               "static tenon_micro_graph* graph;\n\n"
               "int32_t program_prepare(void)\n{\n    DLTensor* tensor;\n"
               "    if (tenon_micro_graph_create(&" +
               m_prefix + "_model, arena, sizeof arena, &graph)) return -1;\n" + bind +
               "    return 0;\n}\n\n"
               "uint32_t program_workspace_bytes(void)\n{\n"
               "    return (uint32_t)tenon_micro_graph_used_bytes(graph);\n}\n\n"
               "int32_t program_infer(void)\n{\n"
               "    const int32_t code = tenon_micro_graph_run(graph);\n"
               "    if (code > 0) program_faults[0] = tenon_micro_last_error();\n"
               "    return code;\n}\n";
    }

    static constexpr const char* kNothingToPrepare =
        "int32_t program_prepare(void) { return 0; }\n\n";

    const SourceProgram& m_source;
    const ExecutorProgram& m_program;
    std::string m_prefix;
    bool m_isGraph;
    std::vector<std::string> m_inputs, m_outputs;
};

std::vector<std::string> sourcesIn(const SourceProgram& source, const std::string& folder)
{
    const std::string module = folder + "/src/" + cName(source.program.moduleName);
    std::vector<std::string> out{module + "_lib0.c", module + "_lib1.c", folder + "/main.c",
                                 core::shippedFile("runtime/micro/mps2/program.c")};
    if (source.executor == ExecutorKind::Graph)
        for (std::string& path : microGraphSources()) out.push_back(std::move(path));
    return out;
}

} // namespace

int64_t microArenaBytes(const ExecutorProgram& program)
{
    const StoragePlan plan = planStorage(program);
    std::set<int> constants;
    for (size_t t = 0; t < program.tensors.size(); ++t)
        if (program.tensors[t].role == TensorRole::Constant) constants.insert(plan.storageOf[t]);
    int64_t bytes = 0;
    for (size_t s = 0; s < plan.bytes.size(); ++s)
        if (!constants.contains(static_cast<int>(s))) bytes += plan.bytes[s];
    // Parsing takes a few times the text, most of it for the nodes and entries it describes.
    return bytes + 65536 +
           1024 * static_cast<int64_t>(program.tensors.size() + program.calls.size());
}

std::string microMainText(const SourceProgram& source) { return MainWriter(source).text(); }

Status linkMicroProgram(const SourceProgram& source, const std::string& folder,
                        const std::string& manifest, const std::string& path)
{
    const auto core = linkableCore(source.target);
    if (!core) return core.error();
    if (Status fits = checkRoom(source, **core); !fits) return fits;
    if (Status done = writeFileAtomically(folder + "/main.c", microMainText(source)); !done)
        return done;
    if (Status done = writeFileAtomically(folder + "/manifest", manifest); !done) return done;
    MicroImage image{source.target, sourcesIn(source, folder), folder + "/include", kOptimization};
    image.options = {"-DTICK_PICOSECONDS=" + std::to_string(1000000000000 / (*core)->clockHz)};
    if (source.isMarked)
        image.options.insert(image.options.end(),
                             {"-DTVMGEN_MARK(call)=program_mark(call)", "-include",
                              shippedFile("runtime/micro/mps2/program.h")});
    if (Status linked = linkMicroImage(image, path); !linked) return linked;
    const auto described = runTool({core::microTool(**core, "objcopy"), "--add-section",
                                    ".tenon.manifest=" + folder + "/manifest", path});
    return described ? Status(kDone) : Status(described.error());
}

} // namespace tenon::compiler
