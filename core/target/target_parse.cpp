// SPDX-License-Identifier: Apache-2.0
// Reads targets: tags, JSON objects and the raw form `kind -key=value ...`.
#include "core/base/text.h"
#include "core/target/target.h"
#include "core/target/target_kind.h"
#include "core/target/target_tag.h"
#include "core/target/target_values.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace tenon::core {
namespace {

using Json = nlohmann::json;

constexpr int kMaxHostDepth = 4;

/// Options as read, typed but not yet laid out; JSON and raw form meet here.
struct Fields
{
    std::string kind;
    std::map<std::string, TargetValue> options;
    std::shared_ptr<const Target> host;
};

Result<Fields> readRaw(std::string_view text, int depth);
Result<Fields> readJson(const Json& object, int depth);
Result<Target> parseAny(std::string_view text, int depth);

std::string quotedList(std::vector<std::string> names)
{
    for (std::string& name : names) name = core::quoted(name);
    return join(names, ", ");
}

Diagnostic unknownKind(const std::string& name)
{
    std::vector<std::string> names;
    for (const TargetKind& kind : allTargetKinds()) names.emplace_back(kind.name);
    Diagnostic error =
        makeError(DiagnosticCode::BadTarget,
                  "target kind " + core::quoted(name) + " is not defined; nearest are " +
                      quotedList(nearestNames(name, names, 3)),
                  {.detail = "kind"});
    error.notes.push_back(
        {Severity::Note, DiagnosticCode::BadTarget, "kinds are " + quotedList(names), {}, {}});
    if (name.find('/') != std::string::npos)
        error.notes.push_back(
            {Severity::Note,
             DiagnosticCode::BadTarget,
             "nearest tags are " + quotedList(nearestNames(name, targetTagNames(), 3)),
             {},
             {}});
    return error;
}

Diagnostic unknownOption(const TargetKind& kind, const std::string& key)
{
    const std::vector<std::string> names = targetOptionNames(kind);
    Diagnostic error =
        targetError(key, "not known for kind " + core::quoted(kind.name) + "; nearest are " +
                             quotedList(nearestNames(key, names, 3)));
    error.notes.push_back(
        {Severity::Note, DiagnosticCode::BadTarget, "candidates are " + quotedList(names), {}, {}});
    return error;
}

/// Splits at spaces; single quotes group, a backslash takes the next character as it is.
Result<std::vector<std::string>> tokens(std::string_view text)
{
    std::vector<std::string> out;
    std::string current;
    bool started = false;
    bool inQuotes = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ' && !inQuotes) {
            if (started) out.push_back(std::exchange(current, {}));
            started = false;
            continue;
        }
        started = true;
        if (c == '\'') {
            inQuotes = !inQuotes;
        } else if (c == '\\' && i + 1 < text.size()) {
            current += text[++i];
        } else {
            current += c;
        }
    }
    if (inQuotes)
        return makeError(DiagnosticCode::BadTarget,
                         "the target ends inside a quote; close it with '");
    if (started) out.push_back(std::move(current));
    return out;
}

bool hasControlCharacter(std::string_view text)
{
    return std::any_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
}

Result<TargetValue> typedFromText(const TargetOption& option, const std::string& text)
{
    const std::string key(option.name);
    if (hasControlCharacter(text)) return targetError(key, "has a control character in its value");
    if (option.type == OptionType::StringList) {
        TargetList list;
        for (const std::string& part : split(text, ','))
            if (const auto item = trimmed(part); !item.empty()) list.emplace_back(item);
        if (list.empty()) return targetError(key, "the list is empty");
        return TargetValue(std::move(list));
    }
    if (option.type == OptionType::String) {
        const std::string value(trimmed(text));
        if (value.empty()) return targetError(key, "the value is empty");
        return TargetValue(value);
    }
    if (text == "true") return TargetValue(int64_t{1});
    if (text == "false") return TargetValue(int64_t{0});
    int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc() || end.ptr != text.data() + text.size())
        return targetError(key, core::quoted(text) + " is not a number");
    if (option.type == OptionType::Boolean && number != 0 && number != 1)
        return targetError(key, core::quoted(text) + " is not a truth value; write 0 or 1");
    return TargetValue(number);
}

Result<TargetValue> typedFromJson(const TargetOption& option, const Json& value)
{
    const std::string key(option.name);
    const bool isFlag = option.type == OptionType::Boolean;
    if (isFlag && value.is_boolean()) return TargetValue(int64_t{value.get<bool>() ? 1 : 0});
    if ((isFlag || option.type == OptionType::Integer) && value.is_number_integer())
        return typedFromText(option, value.dump());
    if (option.type == OptionType::String && value.is_string())
        return typedFromText(option, value.get<std::string>());
    if (option.type == OptionType::StringList && value.is_array()) {
        TargetList list;
        for (const Json& item : value) {
            if (!item.is_string()) return targetError(key, "every item must be a text");
            list.push_back(item.get<std::string>());
        }
        return typedFromText(option, join(list, ","));
    }
    static constexpr const char* kWanted[] = {"a number", "a truth value", "a text",
                                              "a list of texts", "a target"};
    return targetError(key, "expected " + std::string(kWanted[static_cast<size_t>(option.type)]) +
                                " but found a JSON " + value.type_name());
}

Status setOption(Fields& fields, const TargetKind& kind, const std::string& key,
                 const std::string& text, int depth)
{
    const TargetOption* option = findTargetOption(kind, key);
    if (!option) return unknownOption(kind, key);
    if (fields.options.contains(key) || (key == "host" && fields.host))
        return targetError(key, "appears more than once");
    if (option->type == OptionType::Target) {
        Result<Target> host = parseAny(text, depth + 1);
        if (!host) return targetError(key, host.error().message);
        fields.host = std::make_shared<const Target>(std::move(*host));
        return kDone;
    }
    Result<TargetValue> value = typedFromText(*option, text);
    if (!value) return value.error();
    fields.options[key] = std::move(*value);
    return kDone;
}

Result<Fields> readRaw(std::string_view text, int depth)
{
    const Result<std::vector<std::string>> words = tokens(text);
    if (!words) return words.error();
    if (words->empty())
        return makeError(DiagnosticCode::BadTarget, "the target is empty; write for example `llvm`",
                         {.detail = "kind"});
    Fields fields{.kind = words->front()};
    const TargetKind* kind = findTargetKind(fields.kind);
    if (!kind) return unknownKind(fields.kind);

    for (size_t i = 1; i < words->size(); ++i) {
        const std::string& word = (*words)[i];
        const size_t start = word.find_first_not_of('-');
        if (start == 0) return targetError(word, "an option must start with '-'");
        if (start == std::string::npos) return targetError(word, "a dash without a name");
        const size_t equals = word.find('=', start);
        std::string key = word.substr(start, equals - start);
        std::string value = "1";
        if (equals != std::string::npos) {
            value = word.substr(equals + 1);
            if (key.empty()) return targetError(word, "the name before '=' is empty");
            if (value.empty()) return targetError(key, "the value after '=' is empty");
        } else if (i + 1 < words->size() && !(*words)[i + 1].starts_with('-')) {
            value = (*words)[++i];
        }
        const Status status = setOption(fields, *kind, key, value, depth);
        if (!status) return status.error();
    }
    return fields;
}

Result<std::shared_ptr<const Target>> readJsonHost(const Json& value, int depth)
{
    if (value.is_string()) {
        Result<Target> host = parseAny(value.get<std::string>(), depth + 1);
        if (!host) return targetError("host", host.error().message);
        return std::make_shared<const Target>(std::move(*host));
    }
    if (!value.is_object()) return targetError("host", "expected a target string or an object");
    Result<Target> host = parseAny(value.dump(), depth + 1);
    if (!host) return targetError("host", host.error().message);
    return std::make_shared<const Target>(std::move(*host));
}

Result<Fields> tagFields(const TargetTag& tag, int depth)
{
    Result<Fields> fields = readRaw(tag.text, depth);
    if (!fields) return fields.error();
    fields->options["tag"] = tag.name;
    if (tag.hostText.empty()) return fields;
    Result<Target> host = parseAny(tag.hostText, depth + 1);
    if (!host) return host.error();
    fields->host = std::make_shared<const Target>(std::move(*host));
    return fields;
}

Result<Fields> readJsonBase(const Json& object, int depth)
{
    if (object.contains("tag") && object["tag"].is_string() && object["tag"] != "") {
        const std::string name = object["tag"].get<std::string>();
        if (const auto tag = findTargetTag(name)) return tagFields(*tag, depth);
        if (!object.contains("kind"))
            return targetError("tag", "no tag " + core::quoted(name) + "; nearest are " +
                                          quotedList(nearestNames(name, targetTagNames(), 3)));
    }
    if (!object.contains("kind") || !object["kind"].is_string())
        return targetError("kind", "missing; a JSON target needs a `kind` or a `tag`");
    return Fields{.kind = object["kind"].get<std::string>()};
}

Result<Fields> readJson(const Json& object, int depth)
{
    Result<Fields> fields = readJsonBase(object, depth);
    if (!fields) return fields.error();
    if (object.contains("kind") && object["kind"] != fields->kind)
        return targetError("kind", "the tag is of kind " + core::quoted(fields->kind));
    const TargetKind* kind = findTargetKind(fields->kind);
    if (!kind) return unknownKind(fields->kind);
    for (const auto& [key, value] : object.items()) {
        if (key == "kind") continue;
        if (key == "features") return targetError(key, "is derived; leave it out");
        if (key == "host") {
            Result<std::shared_ptr<const Target>> host = readJsonHost(value, depth);
            if (!host) return host.error();
            fields->host = *host;
            continue;
        }
        const TargetOption* option = findTargetOption(*kind, key);
        if (!option) return unknownOption(*kind, key);
        if (value == "" || value == Json::array()) continue; // as exported: not given
        Result<TargetValue> typed = typedFromJson(*option, value);
        if (!typed) return typed.error();
        fields->options[key] = std::move(*typed);
    }
    return fields;
}

template <class T>
T takeOption(Fields& fields, const std::string& name)
{
    const auto it = fields.options.find(name);
    if (it == fields.options.end()) return T();
    T value = std::get<T>(std::move(it->second));
    fields.options.erase(it);
    return value;
}

bool isArm(const Target& target)
{
    if (target.mcpu.starts_with("cortex-m")) return true;
    return target.mtriple.starts_with("aarch64") || target.mtriple.starts_with("arm");
}

std::vector<std::string> orderedKeys(const Target& target, const TargetKind& kind,
                                     const TargetList& given)
{
    std::vector<std::string> wanted = given;
    if (!target.device.empty()) wanted.push_back(target.device);
    if (given.empty()) {
        const bool armDefaults = (target.kind == "llvm" || target.kind == "c") && isArm(target);
        for (const std::string& key : split(armDefaults ? "arm_cpu,cpu" : kind.defaultKeys, ','))
            if (!key.empty()) wanted.push_back(key);
    }
    std::vector<std::string> keys;
    for (std::string& key : wanted)
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
    return keys;
}

Result<Target> assembled(Fields fields)
{
    const TargetKind& kind = *findTargetKind(fields.kind);
    for (const TargetOption& option : kind.options) {
        if (option.defaultText.empty() || fields.options.contains(std::string(option.name)))
            continue;
        Result<TargetValue> value = typedFromText(option, std::string(option.defaultText));
        if (!value) return value.error();
        fields.options[std::string(option.name)] = std::move(*value);
    }
    Target target{.kind = fields.kind};
    const TargetList keys = takeOption<TargetList>(fields, "keys");
    target.tag = takeOption<std::string>(fields, "tag");
    target.device = takeOption<std::string>(fields, "device");
    target.mcpu = takeOption<std::string>(fields, "mcpu");
    target.mtriple = takeOption<std::string>(fields, "mtriple");
    target.mattr = takeOption<TargetList>(fields, "mattr");
    target.attributes = std::move(fields.options);
    target.host = std::move(fields.host);
    if (const auto libs = target.attributes.find("libs"); libs != target.attributes.end())
        for (std::string& lib : std::get<TargetList>(libs->second))
            if (lib == "mkldnn") lib = "dnnl"; // the library was renamed
    if (target.mtriple == "default") target.mtriple.clear();
    target.keys = orderedKeys(target, kind, keys);
    const Status status = checkTargetValues(target);
    if (!status) return status.error();
    return target;
}

Result<Fields> readAny(std::string_view text, int depth)
{
    if (const auto tag = findTargetTag(text)) return tagFields(*tag, depth);
    if (!text.starts_with('{')) return readRaw(text, depth);
    const Json object = Json::parse(text, nullptr, false);
    if (object.is_discarded() || !object.is_object())
        return makeError(DiagnosticCode::BadTarget,
                         "the target starts with `{` but is no JSON object");
    return readJson(object, depth);
}

Result<Target> parseAny(std::string_view text, int depth)
{
    if (depth > kMaxHostDepth)
        return makeError(DiagnosticCode::BadTarget, "hosts are nested too deeply",
                         {.detail = "host"});
    Result<Fields> fields = readAny(trimmed(text), depth);
    if (!fields) return fields.error();
    return assembled(std::move(*fields));
}

} // namespace

Result<Target> parseTarget(std::string_view text) { return parseAny(text, 0); }

} // namespace tenon::core
