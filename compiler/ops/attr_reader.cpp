// SPDX-License-Identifier: Apache-2.0
// Reads and checks operator attributes against their specs.
#include "compiler/ops/attr_reader.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>

namespace tenon::compiler {
namespace {

const AttrSpec& specOf(const OpView& op, std::string_view name)
{
    const OpDef* def = findOp(op.op);
    CHECK(def) << op.op;
    for (const AttrSpec& spec : def->attrs)
        if (spec.name == name) return spec;
    CHECK(false) << op.op << " declares no attribute " << name;
    return def->attrs[0];
}

template <class T>
T numberIn(std::string_view text)
{
    T value{};
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    CHECK(ec == std::errc()) << "default " << text;
    return value;
}

template <class T>
std::vector<T> listIn(std::string_view text)
{
    std::vector<T> out;
    CHECK(text.size() >= 2 && text.front() == '[' && text.back() == ']') << "default " << text;
    const std::string_view inner = text.substr(1, text.size() - 2);
    if (trimmed(inner).empty()) return out;
    for (const std::string& part : split(inner, ',')) out.push_back(numberIn<T>(trimmed(part)));
    return out;
}

template <class T>
const T* stored(const OpView& op, std::string_view name)
{
    const AttrValue* value = op.attrs.find(name);
    if (!value) return nullptr;
    const T* typed = std::get_if<T>(value);
    CHECK(typed) << op.op << " attribute " << name << " has another type";
    return typed;
}

/// "int[2]" -> 2; -1 when any length will do.
int64_t lengthIn(std::string_view type)
{
    const size_t open = type.find('[');
    if (open == std::string_view::npos || type[open + 1] == ']') return -1;
    return numberIn<int64_t>(type.substr(open + 1, type.size() - open - 2));
}

bool hasType(const AttrValue& value, std::string_view type)
{
    const int64_t length = lengthIn(type);
    const auto fits = [&](size_t size) {
        return length < 0 || size == static_cast<size_t>(length);
    };
    const std::string_view element = type.substr(0, type.find('['));
    if (type.find('[') == std::string_view::npos) {
        if (type == "int") return std::holds_alternative<int64_t>(value);
        if (type == "float")
            return std::holds_alternative<double>(value) || std::holds_alternative<int64_t>(value);
        if (type == "dtype") return std::holds_alternative<DataType>(value);
        const std::string* text = std::get_if<std::string>(&value);
        if (!text || type == "string") return text != nullptr;
        const std::vector<std::string> choices = split(type, '|');
        return std::find(choices.begin(), choices.end(), *text) != choices.end();
    }
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value))
        return fits(ints->size()) && (element == "int" || ints->empty());
    if (const auto* floats = std::get_if<std::vector<double>>(&value))
        return element == "float" && fits(floats->size());
    const auto* strings = std::get_if<std::vector<std::string>>(&value);
    return strings && element == "string" && fits(strings->size());
}

} // namespace

int64_t intAttr(const OpView& op, std::string_view name)
{
    const int64_t* value = stored<int64_t>(op, name);
    return value ? *value : numberIn<int64_t>(specOf(op, name).fallback);
}

double floatAttr(const OpView& op, std::string_view name)
{
    if (op.attrs.has(name)) return op.attrs.number(name, 0);
    return numberIn<double>(specOf(op, name).fallback);
}

bool flagAttr(const OpView& op, std::string_view name) { return intAttr(op, name) != 0; }

std::string stringAttr(const OpView& op, std::string_view name)
{
    const std::string* value = stored<std::string>(op, name);
    if (value) return *value;
    const std::string_view text = specOf(op, name).fallback;
    CHECK(text.size() >= 2 && text.front() == '"') << op.op << " default of " << name;
    return std::string(text.substr(1, text.size() - 2));
}

DataType dtypeAttr(const OpView& op, std::string_view name)
{
    const DataType* value = stored<DataType>(op, name);
    if (value) return *value;
    const auto fallback = parseDataType(specOf(op, name).fallback);
    CHECK(fallback) << op.op << " default of " << name;
    return *fallback;
}

std::vector<int64_t> intsAttr(const OpView& op, std::string_view name)
{
    const auto* value = stored<std::vector<int64_t>>(op, name);
    return value ? *value : listIn<int64_t>(specOf(op, name).fallback);
}

std::vector<double> floatsAttr(const OpView& op, std::string_view name)
{
    const AttrValue* value = op.attrs.find(name);
    if (value && std::holds_alternative<std::vector<double>>(*value))
        return std::get<std::vector<double>>(*value);
    return value ? std::vector<double>() : listIn<double>(specOf(op, name).fallback);
}

Status checkAttrs(const OpDef& def, const Attrs& attrs)
{
    for (const auto& [name, value] : attrs.entries()) {
        const auto spec = std::find_if(def.attrs.begin(), def.attrs.end(), [&](const AttrSpec& s) {
            return s.name == name || s.name == "*"; // the last: its infer() checks the others
        });
        if (spec == def.attrs.end()) {
            std::vector<std::string> known;
            for (const AttrSpec& s : def.attrs) known.emplace_back(s.name);
            std::string hint = known.empty() ? "it has none" : "known are " + join(known, ", ");
            return opError(def.name, DiagnosticCode::BadAttribute,
                           "has no attribute " + quoted(name) + "; " + hint);
        }
        if (spec->name != "*" && !hasType(value, spec->type))
            return opError(def.name, DiagnosticCode::BadAttribute,
                           "attribute " + quoted(name) + " is " + attrText(value) +
                               "; it must be " + std::string(spec->type));
    }
    for (const AttrSpec& spec : def.attrs)
        if (spec.fallback.empty() && !attrs.has(spec.name))
            return opError(def.name, DiagnosticCode::BadAttribute,
                           "needs the attribute " + quoted(spec.name) + " (" +
                               std::string(spec.type) + ")");
    return kDone;
}

Status checkOperands(const OpDef& def, std::span<const TensorType> operands)
{
    size_t least = 0;
    bool isVariadic = false;
    for (const OperandSpec& spec : def.operands) {
        least += spec.arity != OperandSpec::Optional;
        isVariadic = isVariadic || spec.arity == OperandSpec::Variadic;
    }
    const size_t most = isVariadic ? operands.size() : def.operands.size();
    if (operands.size() < least || operands.size() > most) {
        std::vector<std::string> names;
        for (const OperandSpec& spec : def.operands) names.emplace_back(spec.name);
        return opError(def.name, DiagnosticCode::BadOperandCount,
                       "takes (" + join(names, ", ") + (isVariadic ? ", ..." : "") + ") but got " +
                           std::to_string(operands.size()) + " operands");
    }
    for (size_t i = 0; i < operands.size() && i < def.operands.size(); ++i)
        if (def.operands[i].arity == OperandSpec::Required && operands[i].dtype == kHandle)
            return opError(def.name, DiagnosticCode::BadOperandCount,
                           "needs the operand " + quoted(def.operands[i].name));
    return kDone;
}

Diagnostic opError(std::string_view op, DiagnosticCode code, const std::string& message)
{
    return makeError(code, quoted(op) + " " + message);
}

Diagnostic opError(const OpView& op, DiagnosticCode code, const std::string& message)
{
    return opError(op.op, code, message);
}

} // namespace tenon::compiler
