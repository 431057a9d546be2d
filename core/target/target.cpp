// SPDX-License-Identifier: Apache-2.0
// Target: canonical text, JSON export and explanation.
#include "core/target/target.h"

#include "core/base/text.h"
#include "core/target/ignored_options.h"
#include "core/target/target_kind.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tenon::core {
namespace {

std::string valueText(const TargetValue& value)
{
    if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
    if (const auto* list = std::get_if<TargetList>(&value)) return join(*list, ",");
    return std::get<std::string>(value);
}

/// All options by name, the named fields included.
std::map<std::string, TargetValue> allOptions(const Target& target)
{
    std::map<std::string, TargetValue> options = target.attributes;
    if (!target.device.empty()) options["device"] = target.device;
    if (!target.mcpu.empty()) options["mcpu"] = target.mcpu;
    if (!target.mtriple.empty()) options["mtriple"] = target.mtriple;
    if (!target.mattr.empty()) options["mattr"] = target.mattr;
    return options;
}

/// In single quotes when the raw form would otherwise split or change it.
std::string shellQuoted(const std::string& text)
{
    if (text.find_first_of(" '\\") == std::string::npos) return text;
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

nlohmann::json exported(const Target& target)
{
    nlohmann::json object = {
        {"kind", target.kind}, {"tag", target.tag}, {"keys", nlohmann::json(target.keys)}};
    for (const auto& [name, value] : allOptions(target))
        std::visit([&, &key = name](const auto& v) { object[key] = v; }, value);
    if (target.host) object["host"] = exported(*target.host);
    return object;
}

std::string featureMeaning(const std::vector<std::string>& features)
{
    std::vector<std::string> added;
    std::vector<std::string> removed;
    for (const std::string& feature : features)
        (feature.starts_with('-') ? removed : added).push_back(feature.substr(1));
    std::string text;
    if (!added.empty()) text = "adds the processor features " + join(added, ", ");
    if (!removed.empty()) text += (text.empty() ? "removes " : "; removes ") + join(removed, ", ");
    return text;
}

std::string optionMeaning(const Target& target, const std::string& name, const TargetOption* option)
{
    if (name == "mattr") return featureMeaning(target.mattr);
    if (name == "mcpu" && target.mcpu == "native")
        return "this computer's processor, detected when compiling";
    return option ? std::string(option->meaning) : "option";
}

bool isMProfile(const Target& target, std::initializer_list<std::string_view> cores)
{
    return std::any_of(cores.begin(), cores.end(), [&](std::string_view core) {
        return target.mcpu.starts_with("cortex-" + std::string(core));
    });
}

} // namespace

std::string Target::text() const
{
    std::string out = kind;
    if (!keys.empty()) out += " -keys=" + shellQuoted(join(keys, ","));
    for (const auto& [name, value] : allOptions(*this)) {
        const std::string valueString = valueText(value);
        if (!valueString.empty()) out += " -" + name + "=" + shellQuoted(valueString);
    }
    return out;
}

std::string Target::json() const
{
    return exported(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> Target::explain() const
{
    const TargetKind* row = findTargetKind(kind);
    std::vector<std::string> lines;
    lines.push_back(kind + ": " + std::string(row ? row->meaning : "unknown kind"));
    if (!tag.empty())
        lines.push_back("tag " + tag + ": a known device; expands to the options below");
    if (row && row->state != KindState::Generates)
        lines.push_back(std::string(kindStateText(row->state)) + ": " + std::string(row->why));
    if (!keys.empty())
        lines.push_back("keys " + join(keys, ", ") + ": families of kernels to try, in this order");
    for (const auto& [name, value] : allOptions(*this)) {
        const TargetOption* option = row ? findTargetOption(*row, name) : nullptr;
        std::string line = "-" + name + "=" + valueText(value) + ": ";
        line += optionMeaning(*this, name, option);
        if (option && option->defaultText == valueText(value) && !option->defaultText.empty())
            line += " (default)";
        if (const std::string_view why = noEffectOf(*this, name); !why.empty())
            line += "; no effect here: " + std::string(why);
        lines.push_back(std::move(line));
    }
    if (mtriple.find("apple") != std::string::npos)
        lines.push_back("libraries for " + mtriple + ": " + std::string(kNoAppleLibraries));
    if (kind == "llvm" && mtriple.empty()) lines.push_back("no -mtriple: code for this computer");
    if (kind == "llvm" && mcpu.empty())
        lines.push_back("no -mcpu: code that every processor of the architecture runs");
    if (host)
        for (const std::string& line : host->explain()) lines.push_back("host: " + line);
    return lines;
}

const TargetValue* Target::find(std::string_view name) const
{
    const auto it = attributes.find(std::string(name));
    return it == attributes.end() ? nullptr : &it->second;
}

int64_t Target::intOption(std::string_view name, int64_t fallback) const
{
    const TargetValue* value = find(name);
    const int64_t* number = value ? std::get_if<int64_t>(value) : nullptr;
    return number ? *number : fallback;
}

std::string Target::stringOption(std::string_view name) const
{
    const TargetValue* value = find(name);
    const std::string* text = value ? std::get_if<std::string>(value) : nullptr;
    return text ? *text : std::string();
}

bool Target::isCpu() const { return kind == "llvm" || kind == "c" || kind == "hexagon"; }

bool Target::hasDsp() const
{
    return isMProfile(*this, {"m4", "m7", "m33", "m35p", "m55", "m85"}) &&
           mcpu.find("+nodsp") == std::string::npos;
}

bool Target::hasMve() const
{
    return isMProfile(*this, {"m55", "m85"}) && hasDsp() &&
           mcpu.find("+nomve") == std::string::npos;
}

bool operator==(const Target& a, const Target& b)
{
    const bool sameHost = a.host && b.host ? *a.host == *b.host : a.host == b.host;
    return sameHost && a.kind == b.kind && a.tag == b.tag && a.keys == b.keys &&
           allOptions(a) == allOptions(b);
}

} // namespace tenon::core
