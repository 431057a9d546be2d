// SPDX-License-Identifier: Apache-2.0
// PassContext configuration: the keys that TVM knows and a few of Tenon's own, with their types.
#include "compiler/passes/pass.h"
#include "core/base/text.h"

#include <charconv>

namespace tenon::compiler {
namespace {

enum class KeyType : uint8_t
{
    Bool,
    Int,
    Number,
    Text
};

struct KnownKey
{
    std::string_view name;
    KeyType type;
};

/// Alphabetical. Structured values (tir.UnrollLoop and the like) are taken as their text.
constexpr KnownKey kKeys[] = {
    {"cuda.kernels_output_dir", KeyType::Text},
    {"fuse_rows", KeyType::Bool},
    {"relax.FuseOps.max_depth", KeyType::Int},
    {"relax.backend.use_cuda_graph", KeyType::Bool},
    {"relay.FuseOps.link_params", KeyType::Bool},
    {"relay.FuseOps.max_depth", KeyType::Int},
    {"relay.backend.tir_converter", KeyType::Text},
    {"relay.backend.use_auto_scheduler", KeyType::Bool},
    {"relay.backend.use_meta_schedule", KeyType::Bool},
    {"relay.backend.use_meta_schedule_dispatch", KeyType::Int},
    {"relay.collage.tvm_max_depth", KeyType::Int},
    {"relay.fallback_device_type", KeyType::Int},
    {"relay.remove_standalone_reshapes.enable", KeyType::Bool},
    {"testing.immutable_module", KeyType::Bool},
    {"tir.HoistExpression", KeyType::Text},
    {"tir.HoistIfThenElse", KeyType::Text},
    {"tir.LoopPartition", KeyType::Text},
    {"tir.Simplify", KeyType::Text},
    {"tir.UnrollLoop", KeyType::Text},
    {"tir.add_lower_pass", KeyType::Text},
    {"tir.disable_assert", KeyType::Bool},
    {"tir.disable_cse_tir", KeyType::Bool},
    {"tir.disable_storage_rewrite", KeyType::Bool},
    {"tir.disable_vectorize", KeyType::Bool},
    {"tir.instrument_bound_checkers", KeyType::Bool},
    {"tir.merge_static_smem", KeyType::Bool},
    {"tir.noalias", KeyType::Bool},
    {"tir.use_async_copy", KeyType::Bool},
    {"tir.usmp.algorithm", KeyType::Text},
    {"tir.usmp.custom_algorithm", KeyType::Text},
    {"tir.usmp.enable", KeyType::Bool},
    {"tir.usmp.use_workspace_io", KeyType::Bool},
    {"winograd.max_error", KeyType::Number},
    {"winograd.output_error", KeyType::Number},
};

const char* typeText(KeyType type)
{
    switch (type) {
    case KeyType::Bool: return "a truth value (0, 1, true, false)";
    case KeyType::Int: return "an integer";
    case KeyType::Number: return "a number";
    case KeyType::Text: return "a text";
    }
    return "";
}

Diagnostic unknownKey(const std::string& key)
{
    std::vector<std::string> names;
    for (const KnownKey& known : kKeys) names.emplace_back(known.name);
    Location location;
    location.detail = key;
    Diagnostic error = makeError(DiagnosticCode::BadArgument,
                                 "unknown pass configuration key " + quoted(key) + "; nearest is " +
                                     quoted(nearestNames(key, names, 1).front()),
                                 location);
    Diagnostic note = makeError(DiagnosticCode::BadArgument, "known keys: " + join(names, ", "));
    note.severity = Severity::Note;
    error.notes.push_back(std::move(note));
    return error;
}

template <class T>
bool readNumber(const std::string& text, T& value)
{
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc() && end == text.data() + text.size();
}

bool readValue(KeyType type, const std::string& text, PassConfig::mapped_type& value)
{
    int64_t integer = 0;
    double number = 0;
    switch (type) {
    case KeyType::Bool:
        value = text == "1" || text == "true" || text == "True";
        return std::get<bool>(value) || text == "0" || text == "false" || text == "False";
    case KeyType::Int:
        if (!readNumber(text, integer)) return false;
        value = integer;
        return true;
    case KeyType::Number:
        if (!readNumber(text, number)) return false;
        value = number;
        return true;
    case KeyType::Text: value = text; return true;
    }
    return false;
}

template <class T>
T read(const PassConfig& config, std::string_view key, T fallback)
{
    const auto found = config.find(std::string(key));
    if (found == config.end()) return fallback;
    const T* value = std::get_if<T>(&found->second);
    CHECK(value) << "configuration key " << key << " has another type";
    return *value;
}

} // namespace

Result<PassConfig> parsePassConfig(const std::vector<std::string>& keyValues)
{
    PassConfig config;
    for (const std::string& entry : keyValues) {
        const size_t equals = entry.find('=');
        const std::string key = entry.substr(0, equals);
        const KnownKey* known = nullptr;
        for (const KnownKey& candidate : kKeys)
            if (candidate.name == key) known = &candidate;
        if (!known) return unknownKey(key);
        Location location;
        location.detail = key;
        const std::string text = equals == std::string::npos ? "" : entry.substr(equals + 1);
        PassConfig::mapped_type value;
        if (equals == std::string::npos || !readValue(known->type, text, value))
            return makeError(DiagnosticCode::BadArgument,
                             "pass configuration key " + quoted(key) + " needs " +
                                 typeText(known->type) + " but got " + quoted(text),
                             location);
        config[key] = std::move(value);
    }
    return config;
}

bool PassContext::flag(std::string_view key, bool fallback) const
{
    return read(config, key, fallback);
}

int64_t PassContext::integer(std::string_view key, int64_t fallback) const
{
    return read(config, key, fallback);
}

double PassContext::number(std::string_view key, double fallback) const
{
    return read(config, key, fallback);
}

} // namespace tenon::compiler
