// SPDX-License-Identifier: Apache-2.0
// Which options of a target have no effect here, and why.
#include "core/target/ignored_options.h"

#include "core/base/option_code.h"
#include "core/base/text.h"
#include "core/target/target_kind.h"

#include <algorithm>

namespace tenon::core {
namespace {

bool isArm32(const Target& target)
{
    return target.mtriple.starts_with("arm") || target.mtriple.starts_with("thumb");
}

/// A switch that is off asks for what is done anyway.
bool isOff(const Target& target, std::string_view option)
{
    const auto* kind = findTargetKind(target.kind);
    const TargetOption* known = kind ? findTargetOption(*kind, option) : nullptr;
    return known && known->type == OptionType::Boolean && target.intOption(option, 0) == 0;
}

/// The keys that the target has when none are given.
std::vector<std::string> usualKeys(const Target& target)
{
    Target plain = target;
    plain.keys.clear();
    plain.attributes.clear();
    plain.host.reset();
    const auto parsed = parseTarget(plain.text());
    return parsed ? parsed->keys : target.keys;
}

/// Names of the options that the target was given, or its tag.
std::vector<std::string> givenOptions(const Target& target)
{
    std::vector<std::string> names;
    for (const auto& [name, value] : target.attributes) names.push_back(name);
    if (!target.mtriple.empty()) names.emplace_back("mtriple");
    if (!target.mattr.empty()) names.emplace_back("mattr");
    if (!target.device.empty()) names.emplace_back("device");
    if (target.tag.empty() && target.host) names.emplace_back("host");
    if (target.tag.empty() && target.keys != usualKeys(target)) names.emplace_back("keys");
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace

Diagnostic noEffect(const std::string& option, std::string_view why)
{
    return makeWarning(
        OptionCode::NoEffect,
        core::quoted(option) +
            " is accepted for TVM's sake and has no effect here: " + std::string(why));
}

std::string_view noEffectOf(const Target& target, std::string_view option)
{
    const TargetKind* kind = findTargetKind(target.kind);
    const TargetOption* known = kind ? findTargetOption(*kind, option) : nullptr;
    if (!known || isOff(target, option)) return {};
    if (target.kind == "llvm" && option == "mfloat-abi" && !isArm32(target))
        return "only 32-bit Arm has several ways to pass floats";
    return known->noEffect;
}

std::vector<Diagnostic> ignoredOptions(const Target& target)
{
    std::vector<Diagnostic> out;
    for (const std::string& name : givenOptions(target))
        if (const std::string_view why = noEffectOf(target, name); !why.empty())
            out.push_back(noEffect("-" + name, why));
    return out;
}

Status checkGenerates(const Target& target)
{
    const TargetKind* kind = findTargetKind(target.kind);
    if (!kind || kind->state == KindState::Generates) return kDone;
    std::vector<std::string> others;
    for (const TargetKind& each : allTargetKinds())
        if (each.state == KindState::Generates) others.emplace_back(each.name);
    return makeError(DiagnosticCode::UnsupportedTarget,
                     "no code is generated for target kind " + core::quoted(target.kind) +
                         (kind->state == KindState::NotYet ? " yet: " : ", and none will be: ") +
                         std::string(kind->why) + "; supported: " + join(others, ", "),
                     {.detail = target.kind});
}

} // namespace tenon::core
