// SPDX-License-Identifier: Apache-2.0
// Manifest <-> JSON, and reading it out of an artifact.
#include "core/artifact/manifest.h"

#include "core/artifact/elf_section.h"
#include "core/artifact/wasm_section.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::core {
namespace {

using Json = nlohmann::ordered_json;

Json toJson(const std::vector<ManifestTensor>& tensors)
{
    Json list = Json::array();
    for (const ManifestTensor& tensor : tensors) {
        list.push_back({{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}});
        if (!tensor.dims.empty()) list.back()["dims"] = tensor.dims;
    }
    return list;
}

Json toJson(const ManifestMemory& memory)
{
    Json buffers = Json::array();
    for (const ManifestBuffer& buffer : memory.buffers)
        buffers.push_back({{"name", buffer.name},
                           {"size_bytes", buffer.sizeBytes},
                           {"offset_bytes", buffer.offsetBytes},
                           {"first", buffer.first},
                           {"last", buffer.last}});
    return {{"algorithm", memory.algorithm},
            {"workspace_bytes", memory.workspaceBytes},
            {"kernel_workspace_bytes", memory.kernelWorkspaceBytes},
            {"constant_bytes", memory.constantBytes},
            {"io_bytes", memory.ioBytes},
            {"lower_bound_bytes", memory.lowerBoundBytes},
            {"buffers", std::move(buffers)}};
}

/// Takes typed values out of a JSON object and remembers the first key that was wrong.
class Fields
{
public:
    Fields(const Json& object, std::string path, std::optional<std::string>& wrong)
        : m_object(object)
        , m_path(std::move(path))
        , m_wrong(wrong)
    {
        if (!object.is_object()) fail("");
    }

    void get(const char* key, std::string& value)
    {
        const Json* found = find(key, [](const Json& j) { return j.is_string(); });
        if (found) value = found->get<std::string>();
    }
    void get(const char* key, int64_t& value)
    {
        const Json* found = find(key, [](const Json& j) { return j.is_number_integer(); });
        if (found) value = found->get<int64_t>();
    }
    void get(const char* key, int& value)
    {
        int64_t wide = 0;
        get(key, wide);
        if (wide < INT32_MIN || wide > INT32_MAX) fail(key);
        value = static_cast<int>(wide);
    }
    void get(const char* key, double& value)
    {
        const Json* found = find(key, [](const Json& j) { return j.is_number(); });
        if (found) value = found->get<double>();
    }
    void get(const char* key, std::vector<int64_t>& values)
    {
        eachItem(key, [&](const Json& item, const std::string&) {
            if (item.is_number_integer())
                values.push_back(item.get<int64_t>());
            else
                fail(key);
        });
    }
    void get(const char* key, std::vector<std::string>& values)
    {
        eachItem(key, [&](const Json& item, const std::string&) {
            if (item.is_string())
                values.push_back(item.get<std::string>());
            else
                fail(key);
        });
    }
    void get(const char* key, std::vector<ManifestTensor>& tensors)
    {
        eachObject(key, [&](Fields fields) {
            ManifestTensor& tensor = tensors.emplace_back();
            fields.get("name", tensor.name);
            fields.get("dtype", tensor.dtype);
            fields.get("shape", tensor.shape);
            if (fields.has("dims")) fields.get("dims", tensor.dims);
        });
    }
    bool has(const char* key) const { return m_object.is_object() && m_object.contains(key); }
    /// {"batch": "1..8"}
    void get(const char* key, SizeBounds& bounds)
    {
        const Json* found = find(key, [](const Json& j) { return j.is_object(); });
        if (!found) return;
        for (const auto& [name, text] : found->items()) {
            const auto range =
                text.is_string() ? parseBounds(text.get<std::string>()) : std::nullopt;
            if (range)
                bounds[name] = *range;
            else
                fail(key);
        }
    }
    template <class Visit>
    void eachObject(const char* key, Visit visit)
    {
        eachItem(key, [&](const Json& item, const std::string& path) {
            visit(Fields(item, path, m_wrong));
        });
    }
    Fields nested(const char* key)
    {
        const Json* found = find(key, [](const Json& j) { return j.is_object(); });
        return Fields(found ? *found : m_object, m_path + key + ".", m_wrong);
    }

private:
    void fail(const std::string& key)
    {
        if (!m_wrong) m_wrong = m_path + key;
    }
    template <class Is>
    const Json* find(const char* key, Is is)
    {
        const auto it = m_object.is_object() ? m_object.find(key) : m_object.end();
        if (it != m_object.end() && is(*it)) return &*it;
        fail(key);
        return nullptr;
    }
    template <class Visit>
    void eachItem(const char* key, Visit visit)
    {
        const Json* list = find(key, [](const Json& j) { return j.is_array(); });
        if (!list) return;
        for (size_t i = 0; i < list->size(); ++i)
            visit((*list)[i], m_path + key + "[" + std::to_string(i) + "].");
    }

    const Json& m_object;
    std::string m_path;
    std::optional<std::string>& m_wrong;
};

void readMemory(Fields fields, ManifestMemory& memory)
{
    fields.get("algorithm", memory.algorithm);
    fields.get("workspace_bytes", memory.workspaceBytes);
    fields.get("kernel_workspace_bytes", memory.kernelWorkspaceBytes);
    fields.get("constant_bytes", memory.constantBytes);
    fields.get("io_bytes", memory.ioBytes);
    fields.get("lower_bound_bytes", memory.lowerBoundBytes);
    fields.eachObject("buffers", [&](Fields row) {
        ManifestBuffer& buffer = memory.buffers.emplace_back();
        row.get("name", buffer.name);
        row.get("size_bytes", buffer.sizeBytes);
        row.get("offset_bytes", buffer.offsetBytes);
        row.get("first", buffer.first);
        row.get("last", buffer.last);
    });
}

void readKernelsAndCalls(Fields& fields, Manifest& manifest)
{
    fields.eachObject("kernels", [&](Fields row) {
        ManifestKernel& kernel = manifest.kernels.emplace_back();
        row.get("symbol", kernel.symbol);
        row.get("function", kernel.function);
        row.get("tir_hash", kernel.tirHash);
        row.get("code_bytes", kernel.codeBytes);
    });
    fields.eachObject("calls", [&](Fields row) {
        ManifestCall& call = manifest.calls.emplace_back();
        row.get("name", call.name);
        if (row.has("title")) row.get("title", call.title);
        row.get("kernel", call.kernel);
        row.get("from_nodes", call.fromNodes);
        row.get("outputs", call.outputs);
        row.get("flops", call.flops);
        row.get("moved_bytes", call.movedBytes);
        call.leastFlops = call.flops;
        if (row.has("least_flops")) row.get("least_flops", call.leastFlops);
        if (row.has("macs")) row.get("macs", call.macs);
        if (row.has("weight_bytes")) row.get("weight_bytes", call.weightBytes);
        if (row.has("plain_reason")) row.get("plain_reason", call.plainReason);
        std::string method;
        if (row.has("method")) row.get("method", method);
        call.method = parseMethod(method, call.refusal);
    });
}

Diagnostic badManifest(const std::string& what)
{
    return makeError(DiagnosticCode::BadArtifact, "manifest: " + what);
}

/// Of an ELF file or WebAssembly module, or of the first member of a tar that has one.
Result<std::span<const std::byte>> manifestSection(std::span<const std::byte> file)
{
    constexpr size_t kBlock = 512;
    const auto isTar = file.size() > kBlock && std::memcmp(file.data() + 257, "ustar", 5) == 0;
    if (isWasmModule(file)) return findWasmSection(file, ".tenon.manifest");
    if (!isTar) return findElfSection(file, ".tenon.manifest");
    while (file.size() > kBlock && file[0] != std::byte{0}) {
        uint64_t size = 0;
        for (size_t i = 124; i < 135; ++i) {
            const auto digit = static_cast<unsigned char>(file[i]);
            if (digit >= '0' && digit <= '7') size = size * 8 + (digit - '0');
        }
        const uint64_t stored = (size + kBlock - 1) / kBlock * kBlock;
        if (stored > file.size() - kBlock) break;
        const auto section = findElfSection(file.subspan(kBlock, size), ".tenon.manifest");
        if (section) return section;
        file = file.subspan(kBlock + stored);
    }
    return badManifest("no member of the archive has one");
}

} // namespace

std::string writeManifest(const Manifest& manifest)
{
    Json kernels = Json::array();
    for (const ManifestKernel& kernel : manifest.kernels)
        kernels.push_back({{"symbol", kernel.symbol},
                           {"function", kernel.function},
                           {"tir_hash", kernel.tirHash},
                           {"code_bytes", kernel.codeBytes}});
    Json calls = Json::array();
    for (const ManifestCall& call : manifest.calls) {
        calls.push_back({{"name", call.name},
                         {"kernel", call.kernel},
                         {"from_nodes", call.fromNodes},
                         {"outputs", toJson(call.outputs)},
                         {"flops", call.flops},
                         {"least_flops", call.leastFlops},
                         {"moved_bytes", call.movedBytes},
                         {"weight_bytes", call.weightBytes}});
        if (call.macs >= 0) calls.back()["macs"] = call.macs;
        if (!call.title.empty()) calls.back()["title"] = call.title;
        const std::string method = methodText(call.method, call.refusal);
        if (!method.empty()) calls.back()["method"] = method;
        if (!call.plainReason.empty()) calls.back()["plain_reason"] = call.plainReason;
    }
    Json json = {{"manifest_version", Manifest::kVersion}, {"tool_version", manifest.toolVersion},
                 {"model_name", manifest.modelName},       {"model_hash", manifest.modelHash},
                 {"module_name", manifest.moduleName},     {"target", manifest.target},
                 {"executor", manifest.executor},          {"opt_level", manifest.optLevel},
                 {"inputs", toJson(manifest.inputs)},      {"outputs", toJson(manifest.outputs)},
                 {"kernels", std::move(kernels)},          {"calls", std::move(calls)},
                 {"memory", toJson(manifest.memory)}};
    if (manifest.threads > 0) json["threads"] = manifest.threads;
    for (const auto& [name, range] : manifest.bounds) json["bounds"][name] = boundsText(range);
    return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

Result<Manifest> parseManifest(std::string_view text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return badManifest("this is no JSON");
    std::optional<std::string> wrong;
    Fields fields(json, "", wrong);
    Manifest manifest;
    int version = 0;
    fields.get("manifest_version", version);
    if (!wrong && version != Manifest::kVersion)
        return badManifest("version " + std::to_string(version) +
                           " is unknown; this program reads " + std::to_string(Manifest::kVersion));
    fields.get("tool_version", manifest.toolVersion);
    fields.get("model_name", manifest.modelName);
    fields.get("model_hash", manifest.modelHash);
    fields.get("module_name", manifest.moduleName);
    fields.get("target", manifest.target);
    fields.get("executor", manifest.executor);
    fields.get("opt_level", manifest.optLevel);
    fields.get("inputs", manifest.inputs);
    fields.get("outputs", manifest.outputs);
    readKernelsAndCalls(fields, manifest);
    readMemory(fields.nested("memory"), manifest.memory);
    int threads = 0;
    if (fields.has("threads")) fields.get("threads", threads);
    manifest.threads = static_cast<unsigned>(std::max(0, threads));
    if (fields.has("bounds")) fields.get("bounds", manifest.bounds);
    for (const ManifestCall& call : manifest.calls)
        if (call.kernel < 0 || static_cast<size_t>(call.kernel) >= manifest.kernels.size())
            return badManifest("call " + core::quoted(call.name) + " names no kernel");
    if (wrong) return badManifest(core::quoted(*wrong) + " is missing or of the wrong type");
    return manifest;
}

Result<Manifest> readManifest(const std::string& artifactPath)
{
    const Result<std::shared_ptr<const MappedFile>> file = MappedFile::open(artifactPath);
    if (!file) return file.error();
    const Result<std::span<const std::byte>> section = manifestSection((*file)->bytes());
    const auto located = [&](Diagnostic error) {
        error.location.file = artifactPath;
        return error;
    };
    if (!section) return located(section.error());
    const std::string_view text(reinterpret_cast<const char*>(section->data()), section->size());
    Result<Manifest> manifest = parseManifest(text);
    if (!manifest) return located(manifest.error());
    return manifest;
}

} // namespace tenon::core
