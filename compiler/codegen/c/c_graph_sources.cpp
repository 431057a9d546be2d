// SPDX-License-Identifier: Apache-2.0
// A program for the graph executor of runtime/micro: packed kernels, the graph and the parameters
// as bytes.
#include "compiler/codegen/c/c_sources.h"
#include "compiler/codegen/c/c_text.h"
#include "compiler/executor/graph_json.h"
#include "compiler/executor/params.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

/// Rows of 16 numbers between braces.
std::string byteInitializer(std::string_view bytes)
{
    const auto count = static_cast<int64_t>(bytes.size());
    return cInitializer(core::Tensor::make(core::kUInt8, {count}, [&](std::span<std::byte> out) {
        std::memcpy(out.data(), bytes.data(), bytes.size());
    }));
}

/// Sizes that keep what follows aligned come first, so that few parameters need a copy.
NamedTensors parametersOf(const ExecutorProgram& program)
{
    NamedTensors out;
    for (const ProgramTensor& tensor : program.tensors)
        if (tensor.role == TensorRole::Constant && tensor.viewOf < 0)
            out.emplace_back(tensor.name, tensor.constant);
    const auto unevenness = [](const auto& named) {
        const size_t bytes = named.second.bytes().size();
        return bytes % 8 == 0 ? 0 : bytes % 4 == 0 ? 1 : 2;
    };
    std::stable_sort(out.begin(), out.end(),
                     [&](const auto& a, const auto& b) { return unevenness(a) < unevenness(b); });
    return out;
}

/// Where the first parameter's data starts in the blob.
size_t firstDataAt(const NamedTensors& params)
{
    ByteStream first;
    size_t names = 0;
    for (const auto& [name, tensor] : params) names += 8 + name.size();
    if (!params.empty()) writeNdArray(first, params.front().second);
    const size_t data = params.empty() ? 0 : params.front().second.bytes().size();
    return 8 + 8 + 8 + names + 8 + first.bytes().size() - data;
}

class GraphSourceWriter
{
public:
    explicit GraphSourceWriter(const CProgram& source)
        : m_source(source)
        , m_program(source.program)
        , m_prefix("tvmgen_" + cName(source.program.moduleName))
    {
    }

    core::Result<std::vector<SourceFile>> write() const
    {
        ExecutorProgram plain = m_program;
        for (ProgramKernel& kernel : plain.kernels) kernel.textHash.clear(); // for people only
        const core::Result<std::string> json = graphJson(plain, planStorage(plain));
        if (!json) return json.error();
        const std::string module = cName(m_program.moduleName);
        return std::vector<SourceFile>{
            {"include/" + m_prefix + ".h", cFileHead(m_source) + header()},
            {"src/" + module + "_lib0.c", cFileHead(m_source) + code(json->size())},
            {"src/" + module + "_lib1.c", cFileHead(m_source) + data(*json)}};
    }

private:
    std::string header() const
    {
        std::string guard = m_prefix + "_H_";
        for (char& c : guard) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        return "#ifndef " + guard + "\n#define " + guard +
               "\n\n/* Of runtime/micro/graph. */\n#include \"micro_graph.h\"\n\n"
               "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
               "/* For tenon_micro_graph_create. Kernels are not reentrant. */\nextern const "
               "tenon_micro_model " +
               m_prefix + "_model;\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    }

    std::string packedName(const ProgramKernel& kernel) const
    {
        return cIdentifier(kernel.function) + "_packed";
    }

    std::string packed(size_t index) const
    {
        const ProgramKernel& kernel = m_program.kernels[index];
        const std::vector<std::string> dividers = dividersOf(m_program, static_cast<int>(index));
        std::vector<std::string> arguments;
        for (int i = 0; i < kernel.parameterCount; ++i)
            arguments.push_back("((DLTensor*)args[" + std::to_string(i) + "].v_handle)->data");
        if (kernel.scratchBytes > 0) arguments.push_back(cWorkspaceSymbol(m_program));
        return "static int32_t " + packedName(kernel) +
               "(TVMValue* args, int32_t* type_codes, int32_t num_args,\n"
               "    TVMValue* out_value, int32_t* out_type_code, void* resource)\n{\n"
               "    (void)type_codes;\n    (void)out_value;\n    (void)out_type_code;\n"
               "    (void)resource;\n    if (num_args != " +
               std::to_string(kernel.parameterCount) + ") return -1;\n    " +
               (dividers.empty() ? "" : "divided_by_zero = 0;\n    ") +
               cIdentifier(kernel.function) + "(" + core::join(arguments, ",\n        ") + ");\n" +
               (dividers.empty() ? ""
                                 : "    if (divided_by_zero) return tenon_micro_fault(" +
                                       cString(divisionFault(dividers)) + ");\n") +
               "    return 0;\n}\n\n";
    }

    /// Kernels lend one scratch to one another, as they run one after another.
    int64_t scratchBytes() const
    {
        int64_t most = 0;
        for (const ProgramKernel& kernel : m_program.kernels)
            most = std::max(most, kernel.scratchBytes);
        return most;
    }

    std::string code(size_t jsonBytes) const
    {
        std::string out = "#include \"" + m_prefix +
                          ".h\"\n\n#include <math.h>\n"
                          "#include <stddef.h>\n#include <string.h>\n\n" +
                          cPlacedMacro();
        const NamedTensors params = parametersOf(m_program);
        const size_t pad = padBefore(params);
        const size_t bytes = paramsBlob(params).size();
        out += "extern const uint8_t " + m_prefix + "_graph[" + std::to_string(jsonBytes) + "];\n" +
               "extern const uint8_t " + m_prefix + "_params[" + std::to_string(pad + bytes) +
               "];\n\n";
        if (const int64_t scratch = scratchBytes(); scratch > 0)
            out += "static uint8_t " + cWorkspaceSymbol(m_program) + "[" + std::to_string(scratch) +
                   "] TVMGEN_PLACED(\".bss.noinit.tvm\", " + std::to_string(m_source.alignment) +
                   ");\n\n";
        out += m_source.helpers;
        for (size_t i = 0; i < m_program.kernels.size(); ++i)
            out += cKernelText(m_source, i) + "\n" + packed(i);
        std::string names, rows;
        for (size_t i = 0; i < m_program.kernels.size(); ++i) {
            const std::string name = m_prefix + "_name_" + std::to_string(i);
            names +=
                "static const char " + name + "[] = \"" + m_program.kernels[i].function + "\";\n";
            rows += "    {" + name + ", " + packedName(m_program.kernels[i]) + "},\n";
        }
        if (rows.empty()) rows = "    {NULL, NULL},\n";
        return out + names + "static const tenon_micro_function " + m_prefix +
               "_functions[] = {\n" + rows + "};\n\nconst tenon_micro_model " + m_prefix +
               "_model = {\n    (const char*)" + m_prefix + "_graph, sizeof " + m_prefix +
               "_graph,\n    " + m_prefix + "_params + " + std::to_string(pad) + ", " +
               std::to_string(bytes) + ",\n    " + m_prefix + "_functions, " +
               std::to_string(m_program.kernels.size()) + ",\n};\n";
    }

    /// Bytes before the blob so that the first parameter's data are aligned.
    size_t padBefore(const NamedTensors& params) const
    {
        const auto alignment = static_cast<size_t>(m_source.constantsAlignment);
        return (alignment - firstDataAt(params) % alignment) % alignment;
    }

    std::string data(const std::string& json) const
    {
        const NamedTensors params = parametersOf(m_program);
        const std::string blob = std::string(padBefore(params), '\0') + paramsBlob(params);
        const std::string graph =
            "const uint8_t " + m_prefix + "_graph[" + std::to_string(json.size()) + "]";
        const std::string bytes =
            "const uint8_t " + m_prefix + "_params[" + std::to_string(blob.size()) + "]";
        return "#include <stdint.h>\n\n" + cPlacedMacro() + "/* The graph's JSON. */\nextern " +
               graph + ";\n" + graph + " = " + byteInitializer(json) +
               ";\n\n/* The parameters as TVM's runtime saves them. */\nextern " + bytes + ";\n" +
               bytes + " TVMGEN_PLACED(\".rodata.tvm\", " +
               std::to_string(m_source.constantsAlignment) + ") = " + byteInitializer(blob) + ";\n";
    }

    const CProgram& m_source;
    const ExecutorProgram& m_program;
    std::string m_prefix;
};

} // namespace

core::Result<std::vector<SourceFile>> writeCGraphSources(const CProgram& source)
{
    return GraphSourceWriter(source).write();
}

} // namespace tenon::compiler
