// SPDX-License-Identifier: Apache-2.0
// The AOT interfaces of TVM's C runtime, written for a person to read.
#include "compiler/codegen/c/c_sources.h"

#include "compiler/codegen/c/c_pools.h"
#include "compiler/codegen/c/c_text.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

size_t at(int index) { return static_cast<size_t>(index); }

std::string shapeText(const ProgramTensor& tensor)
{
    return cType(tensor.dtype) + " (" + core::join(tensor.shape, ", ") + ")";
}

class SourceWriter
{
public:
    explicit SourceWriter(const CProgram& source)
        : m_source(source)
        , m_program(source.program)
        , m_prefix("tvmgen_" + cName(source.program.moduleName))
        , m_pools(source)
    {
    }

    core::Result<std::vector<SourceFile>> write()
    {
        if (hasIo() && m_source.interface != CInterface::Structs)
            return core::makeError(core::DiagnosticCode::BadArgument,
                                   "inputs and outputs in the workspace "
                                   "(`tir.usmp.use_workspace_io`) need --interface-api c");
        for (const int input : m_program.inputs)
            m_inputs.push_back(cMemberName(m_program.tensors[at(input)].name));
        for (const std::string& name : m_program.outputNames)
            m_outputs.push_back(cIdentifier(name));
        for (const auto* names : {&m_inputs, &m_outputs})
            if (std::set<std::string>(names->begin(), names->end()).size() != names->size())
                return core::makeError(core::DiagnosticCode::BadArgument,
                                       "two inputs or outputs have the same name in C: " +
                                           core::join(*names, ", "));
        const std::string module = cName(m_program.moduleName);
        return std::vector<SourceFile>{{"include/" + m_prefix + ".h", head() + header()},
                                       {"src/" + module + "_lib0.c", head() + code()},
                                       {"src/" + module + "_lib1.c", head() + weights()}};
    }

private:
    std::string head() const { return cFileHead(m_source); }

    bool hasIo() const { return m_source.memory.hasIo(); }

    bool isPacked() const { return m_source.interface == CInterface::Packed; }

    std::string runSignature() const
    {
        if (isPacked())
            return "int32_t " + m_prefix +
                   "_run(TVMValue* args, int32_t* type_codes, int32_t num_args,\n"
                   "                           TVMValue* out_value, int32_t* out_type_code, "
                   "void* resource)";
        if (m_source.interface == CInterface::Unpacked)
            return "int32_t " + m_prefix + "_run(" + core::join(pointerParameters(), ", ") + ")";
        std::vector<std::string> parameters;
        if (!hasIo())
            parameters = {"struct " + m_prefix + "_inputs* inputs",
                          "struct " + m_prefix + "_outputs* outputs"};
        if (!m_pools.callers().empty()) parameters.push_back(poolsParameter());
        if (parameters.empty()) parameters.emplace_back("void");
        return "int32_t " + m_prefix + "_run(" + core::join(parameters, ", ") + ")";
    }

    std::string poolsParameter() const
    {
        return m_pools.callers().empty() ? "void"
                                         : "struct " + m_prefix + "_workspace_pools* pools";
    }

    /// Where a caller finds inputs and outputs that lie in the workspace.
    std::string mapSignature(const std::string& which) const
    {
        return "struct " + m_prefix + "_" + which + " " + m_prefix + "_map_" + which + "(" +
               poolsParameter() + ")";
    }

    std::vector<std::string> pointerParameters() const
    {
        std::vector<std::string> out;
        for (const std::string& input : m_inputs) out.push_back("void* in_" + input);
        for (const std::string& output : m_outputs) out.push_back("void* out_" + output);
        for (const std::string& pool : m_pools.callers()) out.push_back("uint8_t* pool_" + pool);
        return out.empty() ? std::vector<std::string>{"void"} : out;
    }

    std::string tensorMacros(const std::vector<int>& tensors,
                             const std::vector<std::string>& names) const
    {
        std::string out;
        for (size_t i = 0; i < tensors.size(); ++i) {
            const ProgramTensor& tensor = m_program.tensors[at(tensors[i])];
            out += "/* " + shapeText(tensor) + " */\n#define " + cMacro(m_prefix + "_" + names[i]) +
                   "_SIZE " + std::to_string(tensor.bytes()) + "\n";
        }
        return out;
    }

    std::string structOf(const std::string& name, const std::vector<std::string>& members) const
    {
        std::string out = "struct " + m_prefix + "_" + name + "\n{\n";
        for (const std::string& member : members) out += "    void* " + member + ";\n";
        return out + "};\n\n";
    }

    std::string header() const
    {
        const std::string guard = cMacro(m_prefix) + "_H_";
        std::string out = "#ifndef " + guard + "\n#define " + guard + "\n\n#include <stdint.h>\n";
        if (isPacked()) out += "\n#include \"tenon/c_runtime_api.h\"\n";
        out += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
        out += tensorMacros(m_program.inputs, m_inputs);
        out += tensorMacros(m_program.outputs, m_outputs);
        out += m_pools.macros();
        if (m_source.interface == CInterface::Structs) {
            out += structOf("inputs", m_inputs) + structOf("outputs", m_outputs);
            if (!m_pools.callers().empty())
                out += "/* Memories that the caller gives, each aligned to " +
                       std::to_string(m_source.alignment) + " bytes. */\n" +
                       structOf("workspace_pools", m_pools.callers());
            if (hasIo())
                out += "/* Where inputs are to be written before each run, and outputs to be read\n"
                       " * behind it: a run takes the memory of inputs for other values. */\n" +
                       mapSignature("inputs") + ";\n" + mapSignature("outputs") + ";\n\n";
        } else if (isPacked()) {
            out += "/* Arguments: tensors of the inputs, then of the outputs, in this order:\n * " +
                   core::join(m_inputs, ", ") + "; " + core::join(m_outputs, ", ") +
                   (m_pools.callers().empty()
                        ? ""
                        : ";\n * then of the memories " + core::join(m_pools.callers(), ", ")) +
                   ". */\n";
        }
        out += returnCodes() + runSignature() + ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
        return out;
    }

    std::string constantName(int tensor) const
    {
        return m_prefix + "_constant_" + std::to_string(tensor);
    }

    std::string constantDeclaration(int tensor) const
    {
        const ProgramTensor& constant = m_program.tensors[at(tensor)];
        return "const " + cType(constant.dtype) + " " + constantName(tensor) + "[" +
               std::to_string(std::max<int64_t>(1, core::elementCount(constant.shape))) + "]";
    }

    std::vector<int> constants() const
    {
        std::vector<int> out;
        for (size_t t = 0; t < m_program.tensors.size(); ++t)
            if (m_program.tensors[t].role == TensorRole::Constant &&
                m_program.tensors[t].viewOf < 0)
                out.push_back(static_cast<int>(t));
        return out;
    }

    /// Those that lie in no pool.
    std::vector<int> looseConstants() const
    {
        return m_pools.poolsConstants() ? std::vector<int>() : constants();
    }

    std::string weights() const
    {
        std::string body = m_pools.constants();
        for (const int tensor : looseConstants()) {
            const ProgramTensor& constant = m_program.tensors[at(tensor)];
            body += "/* " + core::replaced(constant.name, "*/", "* /") + ": " +
                    shapeText(constant) + " */\nextern " + constantDeclaration(tensor) + ";\n" +
                    constantDeclaration(tensor) + " TVMGEN_PLACED(\".rodata.tvm\", " +
                    std::to_string(m_source.constantsAlignment) +
                    ") = " + cInitializer(constant.constant) + ";\n\n";
        }
        std::string out;
        if (body.find("INFINITY") != std::string::npos || body.find("NAN") != std::string::npos)
            out += "#include <math.h>\n";
        return out + "#include <stdint.h>\n\n" + cPlacedMacro() +
               (body.empty() ? "typedef int " + m_prefix + "_has_no_weights;\n" : body);
    }

    std::string pointer(int tensor) const
    {
        const int owner = m_program.memoryOwner(tensor);
        const int64_t offset = m_program.memoryOffset(tensor);
        const std::string type = cType(m_program.tensors[at(tensor)].dtype);
        std::string base;
        if (m_program.tensors[at(owner)].role == TensorRole::Constant) {
            if (m_pools.poolsConstants()) return m_pools.constantAt(owner, type, offset);
            base = constantName(owner);
            if (offset == 0 &&
                m_program.tensors[at(owner)].dtype == m_program.tensors[at(tensor)].dtype)
                return base;
            return "(const " + type + "*)(const void*)((const uint8_t*)" + base + " + " +
                   std::to_string(offset) + ")";
        }
        if (const auto known = m_places.find(owner); known != m_places.end()) {
            if (offset == 0) return known->second;
            return "(" + type + "*)(void*)((uint8_t*)" + known->second + " + " +
                   std::to_string(offset) + ")";
        }
        const int buffer = m_source.memory.bufferOf[at(owner)];
        return workspaceAt(type, buffer, offset);
    }

    std::string workspaceAt(const std::string& type, int buffer, int64_t offset = 0) const
    {
        const bool isEmpty =
            buffer < 0 ||
            m_source.memory.plan.peakBytes[at(m_source.memory.plan.placements[at(buffer)].pool)] ==
                0;
        return isEmpty ? "NULL" : m_pools.place(type, buffer, offset);
    }

    std::string callText(size_t index) const
    {
        const KernelCall& call = m_program.calls[index];
        const ProgramKernel& kernel = m_program.kernels[at(call.kernel)];
        std::vector<std::string> arguments;
        for (const int argument : call.arguments) arguments.push_back(pointer(argument));
        if (kernel.scratchBytes > 0) {
            const int buffer = m_source.memory.scratchOf[index];
            arguments.push_back(workspaceAt("uint8_t", buffer));
        }
        std::string out = mark(index) + "    /* " +
                          core::replaced(core::join(call.fromNodes, ", "), "*/", "* /") +
                          " */\n    " + cIdentifier(kernel.function) + "(";
        out += core::join(arguments, ",\n        ") + ");\n";
        if (!call.dividers.empty())
            out +=
                "    if (divided_by_zero && !fault) fault = " + std::to_string(faultCode(index)) +
                ";\n";
        return out;
    }

    std::string mark(size_t index) const
    {
        return m_source.isMarked ? "    TVMGEN_MARK(" + std::to_string(index) + ");\n" : "";
    }

    /// What run returns when the data of a call are at fault: 1 for the first that may be. The
    /// calls behind it run all the same: time and stack of an inference do not depend on data.
    size_t faultCode(size_t index) const
    {
        return 1 + static_cast<size_t>(std::count_if(
                       m_program.calls.begin(),
                       m_program.calls.begin() + static_cast<std::ptrdiff_t>(index),
                       [](const KernelCall& call) { return !call.dividers.empty(); }));
    }

    std::string returnCodes() const
    {
        std::string out = "/* One inference; 0 on success";
        for (size_t i = 0; i < m_program.calls.size(); ++i)
            if (const auto& dividers = m_program.calls[i].dividers; !dividers.empty())
                out += ",\n * " + std::to_string(faultCode(i)) + " for " +
                       core::replaced(divisionFault(dividers), "*/", "* /");
        const bool mayFault = faultCode(m_program.calls.size()) > 1;
        const std::string when = m_pools.hasStaticWorkspace()
                                     ? "Not reentrant: the workspace is static"
                                 : mayFault ? "Not reentrant: what went wrong is noted statically"
                                            : "Runs at the same time need memories of their own";
        return out + ". " + when + ". Pointers are\n * aligned for their element type. */\n";
    }

    /// Locals for the caller's memories.
    std::string bindPools(size_t firstArgument) const
    {
        std::string out;
        for (const std::string& pool : m_pools.callers()) {
            if (m_source.interface == CInterface::Unpacked) break; // they are parameters
            const std::string value =
                isPacked()
                    ? "((DLTensor*)args[" + std::to_string(firstArgument++) + "].v_handle)->data"
                    : "pools->" + pool;
            out += "    uint8_t* const pool_" + pool + " = (uint8_t*)" + value + ";\n";
        }
        for (const std::string& pool : m_pools.callers()) out += "    (void)pool_" + pool + ";\n";
        return out;
    }

    /// What the caller asks for where inputs and outputs lie in the workspace.
    std::string mapFunctions() const
    {
        std::string in, out;
        for (size_t i = 0; i < m_inputs.size(); ++i)
            in += "    mapped." + m_inputs[i] + " = " +
                  workspaceAt("uint8_t", m_source.memory.bufferOf[at(m_program.inputs[i])]) + ";\n";
        for (size_t i = 0; i < m_outputs.size(); ++i)
            out += "    mapped." + m_outputs[i] + " = " +
                   workspaceAt("uint8_t", m_source.memory.outputOf[i]) + ";\n";
        std::string text;
        for (const auto& [which, body] : {std::pair("inputs", in), std::pair("outputs", out)})
            text += mapSignature(which) + "\n{\n    struct " + m_prefix + "_" + which +
                    " mapped;\n" + bindPools(0) + body + "    return mapped;\n}\n\n";
        return text;
    }

    /// Where inputs and direct outputs are.
    std::string bindArguments()
    {
        std::string out = bindPools(m_inputs.size() + m_outputs.size());
        if (hasIo()) return out;
        const auto bind = [&](const std::string& name, size_t index, const std::string& from) {
            const std::string value =
                isPacked() ? "((DLTensor*)args[" + std::to_string(index) + "].v_handle)->data"
                           : from + "->" + name;
            const std::string local = (from == "inputs" ? "in_" : "out_") + name;
            if (m_source.interface == CInterface::Unpacked) return local; // a parameter
            out += "    void* const " + local + " = " + value + ";\n";
            return local;
        };
        for (size_t i = 0; i < m_inputs.size(); ++i)
            m_places[m_program.inputs[i]] = bind(m_inputs[i], i, "inputs");
        const std::vector<bool> isDirect = directOutputs(m_program);
        for (size_t i = 0; i < m_outputs.size(); ++i) {
            const std::string local = bind(m_outputs[i], m_inputs.size() + i, "outputs");
            if (isDirect[i]) m_places[m_program.memoryOwner(m_program.outputs[i])] = local;
        }
        return out;
    }

    std::string copies() const
    {
        std::string out;
        const std::vector<bool> isDirect = directOutputs(m_program);
        for (size_t i = 0; i < m_outputs.size(); ++i) {
            const int64_t bytes = m_program.tensors[at(m_program.outputs[i])].bytes();
            const std::string to = hasIo() ? workspaceAt("uint8_t", m_source.memory.outputOf[i])
                                           : "out_" + m_outputs[i];
            if (!isDirect[i] && bytes > 0)
                out += "    memcpy(" + to + ", " + pointer(m_program.outputs[i]) + ", " +
                       std::to_string(bytes) + ");\n";
        }
        return out;
    }

    std::string code()
    {
        std::string kernels = m_source.helpers;
        for (size_t i = 0; i < m_program.kernels.size(); ++i)
            kernels += cKernelText(m_source, i) + "\n";
        std::string body = bindArguments();
        if (isPacked())
            body = "    (void)type_codes;\n    (void)out_value;\n    (void)out_type_code;\n"
                   "    (void)resource;\n    if (num_args != " +
                   std::to_string(m_inputs.size() + m_outputs.size() + m_pools.callers().size()) +
                   ") return -1;\n" + body;
        for (size_t i = 0; i < m_inputs.size() && !hasIo(); ++i)
            body += "    (void)in_" + m_inputs[i] + ";\n";
        const bool mayFault = faultCode(m_program.calls.size()) > 1;
        if (mayFault) body += "    int32_t fault = 0;\n    divided_by_zero = 0;\n";
        for (size_t i = 0; i < m_program.calls.size(); ++i) body += callText(i);
        body += copies() + mark(m_program.calls.size()) +
                (mayFault ? "    return fault;\n" : "    return 0;\n");
        std::string out = "#include \"" + m_prefix +
                          ".h\"\n\n#include <math.h>\n#include <stddef.h>\n"
                          "#include <string.h>\n\n" +
                          cPlacedMacro();
        if (m_source.isMarked)
            out += "/* A profiler's note: call `call` begins, or the last one has ended. */\n"
                   "#ifndef TVMGEN_MARK\n#define TVMGEN_MARK(call) ((void)0)\n#endif\n\n";
        for (const int tensor : looseConstants())
            out += "extern " + constantDeclaration(tensor) + ";\n";
        return out + m_pools.arrays() + "\n" + kernels + (hasIo() ? mapFunctions() : "") +
               runSignature() + "\n{\n" + body + "}\n";
    }

    const CProgram& m_source;
    const ExecutorProgram& m_program;
    std::string m_prefix;
    CPools m_pools;
    std::vector<std::string> m_inputs;
    std::vector<std::string> m_outputs;
    std::map<int, std::string> m_places; ///< memory owner -> local pointer
};

} // namespace

core::Result<std::vector<SourceFile>> writeCSources(const CProgram& source)
{
    return SourceWriter(source).write();
}

} // namespace tenon::compiler
