// SPDX-License-Identifier: Apache-2.0
// Takes out of metadata.json what can be shown, and refuses what contradicts the format.
#include "compiler/frontend/mlf/metadata.h"

#include "core/base/printable.h"
#include "core/base/text.h"

#include <nlohmann/json.hpp>

namespace tenon::compiler {
namespace {

using Json = nlohmann::json;

constexpr int64_t kVersion = 7;

Diagnostic badMetadata(const std::string& key, const std::string& why)
{
    return makeError(DiagnosticCode::BadModel,
                     "metadata.json: " + (key.empty() ? "" : core::quoted(key) + " ") + why);
}

/// The member of an object, or null.
const Json* find(const Json& object, const char* key)
{
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

std::string textOf(const Json& object, const char* key)
{
    const Json* found = find(object, key);
    return found && found->is_string() ? found->get<std::string>() : "";
}

std::string joinedTexts(const Json& object, const char* key)
{
    std::vector<std::string> texts;
    if (const Json* found = find(object, key); found && found->is_array())
        for (const Json& each : *found)
            if (each.is_string()) texts.push_back(each.get<std::string>());
    return join(texts, ", ");
}

Result<std::pair<std::string, Json>> theModel(const Json& all)
{
    if (!all.is_object()) return badMetadata("", "is no object");
    const Json* version = find(all, "version");
    if (!version || !version->is_number_integer()) return badMetadata("version", "is no integer");
    if (*version != kVersion)
        return badMetadata("version",
                           "is " + version->dump() + "; Tenon reads " + std::to_string(kVersion));
    const Json* modules = find(all, "modules");
    if (!modules && textOf(all, "style") == "operator")
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "the archive holds a single operator and no model");
    if (!modules || !modules->is_object() || modules->empty())
        return badMetadata("modules", "names no model");
    if (modules->size() > 1)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "the archive holds " + std::to_string(modules->size()) +
                             " models; archives of one can be read");
    if (!modules->begin()->is_object())
        return badMetadata("modules", "has a model that is no object");
    return std::pair(modules->begin().key(), *modules->begin());
}

/// By name, with the size in bytes in place of the shape, which the format does not tell.
Result<std::vector<ValueFacts>> valuesOf(const Json& main, const char* key)
{
    std::vector<ValueFacts> out;
    const Json* values = find(main, key);
    if (!values || !values->is_object()) return badMetadata(key, "is no object");
    for (const auto& [name, value] : values->items())
        out.push_back({.name = name, .dtype = textOf(value, "dtype"), .hasShape = false});
    return out;
}

Result<int64_t> bytesAt(const Json& main, const char* key)
{
    const Json* found = find(main, key);
    if (found && found->is_number_integer() && found->get<int64_t>() >= 0)
        return found->get<int64_t>();
    return badMetadata(key, "is no number of bytes");
}

Result<const Json*> mainFunction(const Json& model)
{
    const Json* at = &model;
    for (const char* key : {"memory", "functions", "main"}) {
        at = find(*at, key);
        if (!at) return badMetadata(key, "is missing");
    }
    if (!at->is_array() || at->empty() || !at->front().is_object())
        return badMetadata("main", "lists no device");
    return &at->front();
}

/// One row for each memory that the code was planned for.
Status addPools(const Json& pools, LibraryMetadata& out)
{
    if (!pools.is_array()) return badMetadata("pools", "is no list");
    for (const Json& pool : pools) {
        const auto used = bytesAt(pool, "used_bytes");
        if (!used) return used.error();
        std::string text = thousands(*used) + " bytes";
        if (const auto most = bytesAt(pool, "size_hint_bytes"); most && *most > 0)
            text += " of " + thousands(*most);
        if (const std::string kind = textOf(pool, "kind"); !kind.empty()) text += ", " + kind;
        if (const std::string section = textOf(pool, "section"); !section.empty())
            text += ", section " + section;
        out.rows.emplace_back("pool " + textOf(pool, "pool_name"), text);
    }
    return kDone;
}

Status addPlan(const Json& plan, LibraryMetadata& out)
{
    if (const std::string planner = textOf(plan, "algorithm"); !planner.empty())
        out.rows.emplace_back("memory planner", planner);
    const Json* buffers = find(plan, "buffers");
    if (!buffers) return kDone;
    if (!buffers->is_array()) return badMetadata("buffers", "is no list");
    const Json* largest = nullptr;
    int64_t most = 0;
    for (const Json& each : *buffers) {
        const auto bytes = bytesAt(each, "size_bytes");
        if (!bytes) return bytes.error();
        if (*bytes <= most) continue;
        most = *bytes;
        largest = &each;
    }
    std::string text = std::to_string(buffers->size());
    if (largest)
        text += ", the largest " + core::quoted(elided(textOf(*largest, "name"))) + " of " +
                thousands(most) + " bytes";
    out.rows.emplace_back("planned buffers", text);
    return kDone;
}

Status addMemory(const Json& main, LibraryMetadata& out)
{
    for (const auto& [key, title] : {std::pair("workspace_size_bytes", "workspace"),
                                     std::pair("constants_size_bytes", "constants"),
                                     std::pair("io_size_bytes", "inputs and outputs")}) {
        const auto bytes = bytesAt(main, key);
        if (!bytes) return bytes.error();
        out.rows.emplace_back(title, thousands(*bytes) + " bytes");
    }
    if (const Json* pools = find(main, "pools"))
        if (Status added = addPools(*pools, out); !added) return added;
    const Json* plan = find(main, "plan");
    return plan ? addPlan(*plan, out) : kDone;
}

/// The graph executor's storages.
Status addStorages(const Json& model, LibraryMetadata& out)
{
    const Json* memory = find(model, "memory");
    const Json* storages = find(*memory, "sids");
    if (!storages) return kDone;
    if (!storages->is_array()) return badMetadata("sids", "is no list");
    int64_t total = 0;
    for (const Json& each : *storages) {
        const auto bytes = bytesAt(each, "size_bytes");
        if (!bytes) return bytes.error();
        if (__builtin_add_overflow(total, *bytes, &total))
            return badMetadata("sids", "has more bytes than there are");
    }
    out.rows.emplace_back("storages", std::to_string(storages->size()) + ", " + thousands(total) +
                                          " bytes in all");
    return kDone;
}

} // namespace

Result<LibraryMetadata> readLibraryMetadata(std::string_view json)
{
    const Json all = Json::parse(json, nullptr, false);
    if (all.is_discarded()) return badMetadata("", "is no JSON");
    const auto model = theModel(all);
    if (!model) return model.error();
    const auto& [name, described] = *model;
    const auto main = mainFunction(described);
    if (!main) return main.error();
    LibraryMetadata out{.module = name};
    if (const Json* producer = find(described, "producer")) {
        out.producer = textOf(*producer, "name");
        out.producerVersion = textOf(*producer, "version");
        out.rows.emplace_back("model", textOf(*producer, "model"));
    }
    out.hasGraph = joinedTexts(described, "executors") == "graph";
    for (const auto& [key, title] :
         {std::pair("executors", "executor"), std::pair("target", "target")})
        out.rows.emplace_back(title, joinedTexts(described, key));
    out.rows.emplace_back("exported", textOf(described, "export_datetime"));
    if (const Status fine = addMemory(**main, out); !fine) return fine.error();
    if (const Status fine = addStorages(described, out); !fine) return fine.error();
    for (const auto& [key, list] :
         {std::pair("inputs", &out.inputs), std::pair("outputs", &out.outputs)}) {
        auto values = valuesOf(**main, key);
        if (!values) return values.error();
        *list = std::move(*values);
    }
    return out;
}

} // namespace tenon::compiler
