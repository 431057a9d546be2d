// SPDX-License-Identifier: Apache-2.0
// Attribute lists.
#include "core/ir/attr.h"

#include "core/base/text.h"

#include <algorithm>

namespace tenon::core {
namespace {

bool nameLess(const std::pair<std::string, AttrValue>& entry, std::string_view name)
{
    return entry.first < name;
}

template <class T>
T read(const Attrs& attrs, std::string_view name, T fallback)
{
    const AttrValue* value = attrs.find(name);
    if (!value) return fallback;
    const T* typed = std::get_if<T>(value);
    CHECK(typed) << "attribute " << name << " has another type: " << attrText(*value);
    return *typed;
}

std::string quotedText(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out + "\"";
}

std::string numberText(double value)
{
    std::string text = exact(value);
    return text + "f";
}

template <class T, class F>
std::string listText(const std::vector<T>& values, F elementText)
{
    std::vector<std::string> parts;
    for (const T& v : values) parts.push_back(elementText(v));
    return "[" + join(parts, ", ") + "]";
}

} // namespace

Attrs::Attrs(std::initializer_list<std::pair<std::string, AttrValue>> entries)
{
    for (const auto& [name, value] : entries) set(name, value);
}

const Attrs::Entries& Attrs::entries() const
{
    static const Entries kNone;
    return m_entries ? *m_entries : kNone;
}

Attrs::Entries& Attrs::owned()
{
    if (!m_entries)
        m_entries = std::make_shared<Entries>();
    else if (m_entries.use_count() > 1)
        m_entries = std::make_shared<Entries>(*m_entries);
    return *m_entries;
}

const AttrValue* Attrs::find(std::string_view name) const
{
    const Entries& list = entries();
    const auto at = std::lower_bound(list.begin(), list.end(), name, nameLess);
    return at != list.end() && at->first == name ? &at->second : nullptr;
}

Attrs& Attrs::set(std::string name, AttrValue value)
{
    Entries& list = owned();
    const auto at = std::lower_bound(list.begin(), list.end(), name, nameLess);
    if (at != list.end() && at->first == name)
        at->second = std::move(value);
    else
        list.emplace(at, std::move(name), std::move(value));
    return *this;
}

void Attrs::erase(std::string_view name)
{
    if (!has(name)) return;
    std::erase_if(owned(), [&](const auto& entry) { return entry.first == name; });
    if (m_entries->empty()) m_entries = nullptr;
}

int64_t Attrs::integer(std::string_view name, int64_t fallback) const
{
    return read(*this, name, fallback);
}

double Attrs::number(std::string_view name, double fallback) const
{
    const AttrValue* value = find(name);
    if (value && std::holds_alternative<int64_t>(*value))
        return static_cast<double>(std::get<int64_t>(*value));
    return read(*this, name, fallback);
}

std::string Attrs::string(std::string_view name, std::string_view fallback) const
{
    return read(*this, name, std::string(fallback));
}

DataType Attrs::dtype(std::string_view name, DataType fallback) const
{
    return read(*this, name, fallback);
}

std::vector<int64_t> Attrs::integers(std::string_view name, std::vector<int64_t> fallback) const
{
    return read(*this, name, std::move(fallback));
}

std::vector<double> Attrs::numbers(std::string_view name, std::vector<double> fallback) const
{
    return read(*this, name, std::move(fallback));
}

std::vector<std::string> Attrs::strings(std::string_view name,
                                        std::vector<std::string> fallback) const
{
    return read(*this, name, std::move(fallback));
}

std::string attrText(const AttrValue& value)
{
    struct Visitor
    {
        std::string operator()(int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return numberText(v); }
        std::string operator()(const std::string& v) const { return quotedText(v); }
        std::string operator()(DataType v) const { return "T." + v.text(); }
        std::string operator()(const std::vector<int64_t>& v) const
        {
            return listText(v, [](int64_t x) { return std::to_string(x); });
        }
        std::string operator()(const std::vector<double>& v) const
        {
            return "f" + listText(v, numberText);
        }
        std::string operator()(const std::vector<std::string>& v) const
        {
            return "s" + listText(v, quotedText);
        }
    };
    return std::visit(Visitor{}, value);
}

} // namespace tenon::core
