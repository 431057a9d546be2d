// SPDX-License-Identifier: Apache-2.0
// The members of a Model Library Format archive, from the same values that the code is made of.
#include "compiler/package/model_library.h"

#include "compiler/executor/graph_json.h"
#include "compiler/executor/params.h"
#include "core/ir/graph_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace tenon::compiler {
namespace {

using Json = nlohmann::json; // with sorted keys

constexpr int kVersion = 7;
constexpr int kCpu = 1; ///< DLPack's number of the device

size_t at(int index) { return static_cast<size_t>(index); }

std::string timeText(int64_t seconds)
{
    const std::time_t time = seconds;
    std::tm fields{};
    char text[64];
    if (!::gmtime_r(&time, &fields) ||
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &fields) == 0)
        return "1970-01-01 00:00:00Z";
    return text;
}

Json tensorsJson(const ExecutorProgram& program, const std::vector<int>& tensors,
                 const std::vector<std::string>& names)
{
    Json out = Json::object();
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[at(tensors[i])];
        out[names[i]] = {{"size", tensor.bytes()}, {"dtype", tensor.dtype.text()}};
    }
    return out;
}

std::vector<std::string> inputNames(const ExecutorProgram& program)
{
    std::vector<std::string> names;
    for (const int input : program.inputs) names.push_back(program.tensors[at(input)].name);
    return names;
}

/// Where every value lies in the workspace, and from which call to which.
Json planJson(const ProgramMemory& memory)
{
    Json buffers = Json::array();
    for (size_t i = 0; i < memory.problem.buffers.size(); ++i) {
        const BufferInfo& buffer = memory.problem.buffers[i];
        buffers.push_back({{"name", buffer.name},
                           {"pool", memory.poolOf(static_cast<int>(i)).name},
                           {"size_bytes", buffer.sizeBytes},
                           {"offset_bytes", memory.plan.placements[i].offset},
                           {"first_call", buffer.first},
                           {"last_call", buffer.last}});
    }
    return {{"algorithm", memory.plan.algorithm},
            {"lower_bound_bytes", memory.plan.lowerBoundBytes},
            {"buffers", std::move(buffers)}};
}

Json poolJson(const Pool& pool, const char* kind, int64_t usedBytes)
{
    Json out{{"pool_name", pool.name},
             {"kind", kind},
             {"used_bytes", usedBytes},
             {"size_hint_bytes", pool.sizeHintBytes},
             {"is_internal", !pool.isCallers},
             {"clock_frequency_hz", pool.clockHz},
             {"read_bandwidth_bytes_per_cycle", pool.readBytesPerCycle},
             {"write_bandwidth_bytes_per_cycle", pool.writeBytesPerCycle},
             {"read_latency_cycles", pool.readLatencyCycles},
             {"write_latency_cycles", pool.writeLatencyCycles}};
    if (!pool.section.empty()) out["section"] = pool.section;
    return out;
}

/// Every memory with TVM's names of what is known of it, and what the model takes of it.
Json poolsJson(const ProgramMemory& memory)
{
    Json out = Json::array();
    for (size_t p = 0; p < memory.problem.pools.size(); ++p)
        out.push_back(poolJson(memory.problem.pools[p], "workspace", memory.plan.peakBytes[p]));
    for (size_t p = 0; p < memory.constants.pools.size(); ++p)
        out.push_back(poolJson(memory.constants.pools[p], "constant", memory.constants.bytes[p]));
    return out;
}

Json mainJson(const ModelLibrary& library)
{
    const core::ManifestMemory& memory = library.manifest.memory;
    Json out{{"device", kCpu},
             {"workspace_size_bytes", memory.workspaceBytes},
             {"constants_size_bytes", memory.constantBytes},
             {"io_size_bytes", memory.ioBytes},
             {"inputs",
              tensorsJson(library.program, library.program.inputs, inputNames(library.program))},
             {"outputs",
              tensorsJson(library.program, library.program.outputs, library.program.outputNames)}};
    if (!library.memory) return out;
    out["plan"] = planJson(*library.memory);
    out["pools"] = poolsJson(*library.memory);
    return out;
}

/// What kernels take for themselves; in C the caller lends it, from the workspace.
Json operatorsJson(const ExecutorProgram& program)
{
    Json out = Json::array();
    for (const ProgramKernel& kernel : program.kernels)
        out.push_back({{"function_name", kernel.function},
                       {"workspace",
                        Json::array({{{"device", kCpu},
                                      {"workspace_size_bytes",
                                       std::max(kernel.workspaceBytes, kernel.scratchBytes)}}})}});
    return out;
}

/// Every storage by its id. The name is that of the input or constant that it holds for good.
Json storagesJson(const ExecutorProgram& program)
{
    const StoragePlan plan = planStorage(program);
    Json out = Json::array();
    for (size_t s = 0; s < plan.bytes.size(); ++s)
        out.push_back({{"storage_id", s}, {"size_bytes", plan.bytes[s]}});
    for (size_t t = 0; t < program.tensors.size(); ++t) {
        const ProgramTensor& tensor = program.tensors[t];
        if (tensor.role != TensorRole::Intermediate && tensor.viewOf < 0 && plan.storageOf[t] >= 0)
            out[at(plan.storageOf[t])]["input_binding"] = tensor.name;
    }
    return out;
}

std::string metadataText(const ModelLibrary& library)
{
    const std::string& module = library.program.moduleName;
    Json memory{{"functions",
                 {{"main", Json::array({mainJson(library)})},
                  {"operator_functions", operatorsJson(library.program)}}}};
    if (library.executor == ExecutorKind::Graph) memory["sids"] = storagesJson(library.program);
    Json described{{"model_name", module},
                   {"export_datetime", timeText(library.exportedAt)},
                   {"style", "full-model"},
                   {"target", Json::array({library.manifest.target})},
                   {"executors", Json::array({executorName(library.executor)})},
                   {"memory", std::move(memory)},
                   {"producer",
                    {{"name", "Tenon"},
                     {"version", library.manifest.toolVersion},
                     {"model", library.manifest.modelName}}}};
    if (!library.runtimeVersion.empty())
        described["external_dependencies"] =
            Json::array({{{"short_name", "tenon_runtime"},
                          {"url", "./runtime"},
                          {"url_type", "mlf_path"},
                          {"version_spec", library.runtimeVersion}}});
    const Json all{{"version", kVersion}, {"modules", {{module, std::move(described)}}}};
    return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// What load_params gives the executor; C source has them in its code as well.
std::string parametersBlob(const ExecutorProgram& program)
{
    NamedTensors params;
    for (const ProgramTensor& tensor : program.tensors)
        if (tensor.role == TensorRole::Constant && tensor.viewOf < 0)
            params.emplace_back(tensor.name, tensor.constant);
    return paramsBlob(params);
}

/// Constants that the model's text names by their hash.
std::string constantsBlob(const core::Module& module)
{
    NamedTensors constants;
    for (const auto& [hash, tensor] : core::constantPool(module))
        constants.emplace_back(hash, *tensor);
    return paramsBlob(constants);
}

} // namespace

core::Result<std::vector<SourceFile>> modelLibraryMembers(const ModelLibrary& library)
{
    const std::string& module = library.program.moduleName;
    std::vector<SourceFile> out{
        {"metadata.json", metadataText(library)},
        {"parameters/" + module + ".params", parametersBlob(library.program)},
        {"src/" + module + ".relay", core::printModule(library.module, {.origins = true})},
        {"src/" + module + ".constants", constantsBlob(library.module)}};
    if (library.executor != ExecutorKind::Graph) return out;
    auto graph = graphJson(library.program, planStorage(library.program));
    if (!graph) return graph.error();
    out.push_back({"executor-config/graph/" + module + ".graph", std::move(*graph)});
    return out;
}

std::vector<SourceFile> modelLibraryCode(std::vector<SourceFile> sources)
{
    for (SourceFile& source : sources)
        if (source.path.starts_with("src/") || source.path.starts_with("include/"))
            source.path = "codegen/host/" + source.path;
    return sources;
}

int64_t exportTime()
{
    const char* said = std::getenv("SOURCE_DATE_EPOCH");
    const std::string_view text = said ? said : "";
    int64_t seconds = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    return failed == std::errc() && end == text.data() + text.size() && seconds >= 0 ? seconds : 0;
}

} // namespace tenon::compiler
