// SPDX-License-Identifier: Apache-2.0
// PassContext configuration: the keys that TVM knows and a few of Tenon's own, with their types.
#include "compiler/passes/pass_config.h"

#include "compiler/memory/memory_plan.h"
#include "core/base/text.h"
#include "core/target/ignored_options.h"

#include <charconv>

namespace tenon::compiler {
namespace {

using Type = PassConfigKey::Type;
using enum PassConfigKey::Type;

constexpr std::string_view kNoGpu = "no code is generated for GPUs";
constexpr std::string_view kNoTuner =
    "no tuning records are looked up; schedules follow from rules";
constexpr std::string_view kNoPython = "it names a function of TVM's in Python";
constexpr std::string_view kNoPartition = "a model runs on one target as a whole";
constexpr std::string_view kAlwaysLinked = "parameters always lie in the compiled model";
constexpr std::string_view kNoReshapes = "reshapes take no kernel: they are views of their inputs";
constexpr std::string_view kImmutable = "modules never change";
constexpr std::string_view kByRules = "schedule rules decide it, loop by loop";
constexpr std::string_view kAlways = "it is always done";
constexpr std::string_view kNoAsserts =
    "kernels have no assertions; executors check their arguments";
constexpr std::string_view kChecked =
    "every access is proven to be inside before code is generated";

constexpr PassConfigKey kKeys[] = {
    {"cuda.kernels_output_dir", Text, kNoGpu},
    {"fuse_rows", Bool},
    {"relax.FuseOps.max_depth", Int},
    {"relax.backend.use_cuda_graph", Bool, kNoGpu},
    {"relay.FuseOps.link_params", Bool, kAlwaysLinked},
    {"relay.FuseOps.max_depth", Int},
    {"relay.backend.tir_converter", Text, kNoPython},
    {"relay.backend.use_auto_scheduler", Bool, kNoTuner},
    {"relay.backend.use_meta_schedule", Bool, kNoTuner},
    {"relay.backend.use_meta_schedule_dispatch", Int, kNoTuner},
    {"relay.collage.tvm_max_depth", Int, kNoPartition},
    {"relay.fallback_device_type", Int, kNoPartition},
    {"relay.remove_standalone_reshapes.enable", Bool, kNoReshapes},
    {"testing.immutable_module", Bool, kImmutable},
    {"tir.HoistExpression", Text, kAlways},
    {"tir.HoistIfThenElse", Text, kAlways},
    {"tir.LoopPartition", Text, kByRules},
    {"tir.Simplify", Text, kAlways},
    {"tir.UnrollLoop", Text, kByRules},
    {"tir.add_lower_pass", Text, kNoPython},
    {"tir.disable_assert", Bool, kNoAsserts},
    {"tir.disable_cse_tir", Bool, kAlways},
    {"tir.disable_storage_rewrite", Bool, kAlways},
    {"tir.disable_vectorize", Bool},
    {"tir.instrument_bound_checkers", Bool, kChecked},
    {"tir.merge_static_smem", Bool, kNoGpu},
    {"tir.noalias", Bool, kAlways},
    {"tir.use_async_copy", Bool, kNoGpu},
    {"tir.usmp.algorithm", Text},
    {"tir.usmp.custom_algorithm", Text, kNoPython},
    {"tir.usmp.enable", Bool},
    {"tir.usmp.use_workspace_io", Bool},
    {"winograd.max_error", Number},
    {"winograd.output_error", Number},
};

Diagnostic unknownKey(const std::string& key)
{
    std::vector<std::string> names;
    for (const PassConfigKey& known : kKeys) names.emplace_back(known.name);
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

bool readValue(Type type, const std::string& text, PassConfig::mapped_type& value)
{
    int64_t integer = 0;
    double number = 0;
    switch (type) {
    case Type::Bool:
        value = text == "1" || text == "true" || text == "True";
        return std::get<bool>(value) || text == "0" || text == "false" || text == "False";
    case Type::Int:
        if (!readNumber(text, integer)) return false;
        value = integer;
        return true;
    case Type::Number:
        if (!readNumber(text, number)) return false;
        value = number;
        return true;
    case Type::Text: value = text; return true;
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

const char* typeText(Type type)
{
    switch (type) {
    case Type::Bool: return "a truth value (0, 1, true, false)";
    case Type::Int: return "an integer";
    case Type::Number: return "a number";
    case Type::Text: return "a text";
    }
    return "";
}

Result<PassConfig> parsePassConfig(const std::vector<std::string>& keyValues)
{
    PassConfig config;
    for (const std::string& entry : keyValues) {
        const size_t equals = entry.find('=');
        const std::string key = entry.substr(0, equals);
        const PassConfigKey* known = nullptr;
        for (const PassConfigKey& candidate : kKeys)
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

std::span<const PassConfigKey> allPassConfigKeys() { return kKeys; }

std::vector<Diagnostic> ignoredPassConfig(const PassConfig& config)
{
    std::vector<Diagnostic> out;
    for (const PassConfigKey& key : kKeys)
        if (!key.noEffect.empty() && config.contains(std::string(key.name)))
            out.push_back(noEffect("--pass-config " + std::string(key.name), key.noEffect));
    return out;
}

Result<std::string> configuredPlanner(const PassConfig& config, const std::string& planner)
{
    const auto named = config.find("tir.usmp.algorithm");
    const bool isOff = !read(config, "tir.usmp.enable", true);
    if (named == config.end()) return isOff ? std::string(kNoSharing) : planner;
    const std::string& wanted = std::get<std::string>(named->second);
    if (isOff)
        return makeError(DiagnosticCode::BadArgument,
                         "`tir.usmp.enable=0` leaves nothing to plan for `tir.usmp.algorithm=" +
                             wanted + "`; give one of them");
    if (planner != kUsualPlanner && planner != wanted)
        return makeError(DiagnosticCode::BadArgument,
                         "`tir.usmp.algorithm=" + wanted + "` contradicts the planner " +
                             core::quoted(planner) + "; give one of them");
    return wanted;
}

bool plansInputsAndOutputs(const PassConfig& config)
{
    return read(config, "tir.usmp.use_workspace_io", false);
}

bool disablesVectors(const PassConfig& config)
{
    return read(config, "tir.disable_vectorize", false);
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
