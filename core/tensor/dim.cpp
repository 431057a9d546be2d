// SPDX-License-Identifier: Apache-2.0
// Polynomial dimensions.
#include "core/tensor/dim.h"

#include "core/base/text.h"

#include <algorithm>
#include <charconv>

namespace tenon::core {

Dim::Dim(int64_t value)
    : m_constant(value)
{
}

Dim Dim::symbol(std::string name)
{
    Dim d;
    d.m_terms[{std::move(name)}] = 1;
    return d;
}

int64_t Dim::value() const
{
    CHECK(isConst()) << "dimension " << text() << " is symbolic";
    return m_constant;
}

std::optional<int64_t> Dim::constant() const
{
    if (!isConst()) return std::nullopt;
    return m_constant;
}

std::string Dim::text() const
{
    if (isConst()) return std::to_string(m_constant);
    std::string out;
    for (const auto& [names, coefficient] : m_terms) {
        const int64_t magnitude = coefficient < 0 ? -coefficient : coefficient;
        if (out.empty())
            out += coefficient < 0 ? "-" : "";
        else
            out += coefficient < 0 ? " - " : " + ";
        if (magnitude != 1) out += std::to_string(magnitude) + "*";
        out += join(names, "*");
    }
    if (m_constant > 0) out += " + " + std::to_string(m_constant);
    if (m_constant < 0) out += " - " + std::to_string(-m_constant);
    return out;
}

std::vector<std::string> Dim::symbols() const
{
    std::vector<std::string> names;
    for (const auto& [term, coefficient] : m_terms)
        names.insert(names.end(), term.begin(), term.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Dim Dim::bind(const std::map<std::string, int64_t>& values) const
{
    Dim out(m_constant);
    for (const auto& [names, coefficient] : m_terms) {
        Dim product(coefficient);
        for (const std::string& name : names) {
            const auto found = values.find(name);
            product = product * (found != values.end() ? Dim(found->second) : Dim::symbol(name));
        }
        out = out + product;
    }
    return out;
}

Dim operator+(const Dim& a, const Dim& b)
{
    Dim out = a;
    out.m_constant += b.m_constant;
    for (const auto& [term, coefficient] : b.m_terms)
        if ((out.m_terms[term] += coefficient) == 0) out.m_terms.erase(term);
    return out;
}

Dim operator*(const Dim& a, const Dim& b)
{
    Dim out(a.m_constant * b.m_constant);
    const auto addTerm = [&](const Dim::Term& x, const Dim::Term& y, int64_t coefficient) {
        if (coefficient == 0) return;
        Dim::Term term = x;
        term.insert(term.end(), y.begin(), y.end());
        std::sort(term.begin(), term.end());
        if ((out.m_terms[term] += coefficient) == 0) out.m_terms.erase(term);
    };
    for (const auto& [x, cx] : a.m_terms) {
        addTerm(x, {}, cx * b.m_constant);
        for (const auto& [y, cy] : b.m_terms) addTerm(x, y, cx * cy);
    }
    for (const auto& [y, cy] : b.m_terms) addTerm({}, y, cy * a.m_constant);
    return out;
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

std::string shapeText(const Shape& shape)
{
    std::vector<std::string> parts;
    for (const Dim& d : shape) parts.push_back(d.text());
    return "(" + join(parts, ", ") + (shape.size() == 1 ? ",)" : ")");
}

Shape makeShape(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }

std::optional<std::vector<int64_t>> constantShape(const Shape& shape)
{
    std::vector<int64_t> out;
    for (const Dim& d : shape) {
        if (!d.isConst()) return std::nullopt;
        out.push_back(d.value());
    }
    return out;
}

int64_t elementCount(const std::vector<int64_t>& dims)
{
    int64_t count = 1;
    for (const int64_t d : dims)
        CHECK(!__builtin_mul_overflow(count, d, &count)) << "shape overflows 64 bits";
    return count;
}

namespace {

/// Parts between the `*` that stand outside parentheses.
std::vector<std::string_view> factorsOf(std::string_view text)
{
    std::vector<std::string_view> out;
    size_t depth = 0, start = 0;
    for (size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == '*' && depth == 0)) {
            out.push_back(trimmed(text.substr(start, i - start)));
            start = i + 1;
            continue;
        }
        depth += text[i] == '(';
        depth -= text[i] == ')' && depth > 0;
    }
    return out;
}

/// "(seq - 1)", but neither "(seq - 1) // 2" nor the symbols "(seq // 2)" and "(a min b)".
bool isSumInParentheses(std::string_view text)
{
    if (!text.starts_with("(") || !text.ends_with(")")) return false;
    const std::string_view inside = text.substr(1, text.size() - 2);
    constexpr int kDeepest = 64; // each is a recursion of the reader
    int depth = 0;
    for (size_t i = 0; i < inside.size(); ++i) {
        depth += inside[i] == '(';
        depth -= inside[i] == ')';
        if (depth < 0 || depth > kDeepest) return false;
        const std::string_view rest = inside.substr(i);
        if (depth == 0 &&
            (rest.starts_with(" // ") || rest.starts_with(" min ") || rest.starts_with(" max ")))
            return false;
    }
    return true;
}

Result<Dim> parseFactor(std::string_view text)
{
    int64_t number = 0;
    const auto [stop, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (ec == std::errc() && stop == text.data() + text.size()) return Dim(number);
    if (isSumInParentheses(text)) return parseDim(text.substr(1, text.size() - 2));
    return Dim::symbol(std::string(text));
}

} // namespace

Result<Dim> parseDim(std::string_view text)
{
    const auto bad = [&] {
        return makeError(DiagnosticCode::BadText, quoted(text) + " is not a dimension");
    };
    Dim sum(0);
    std::string_view rest = trimmed(text);
    int64_t sign = 1;
    if (rest.empty()) return bad();
    if (rest.starts_with("-")) {
        sign = -1;
        rest = trimmed(rest.substr(1));
    }
    while (true) {
        size_t depth = 0, end = 0;
        for (; end < rest.size(); ++end) {
            if (rest[end] == '(') ++depth;
            if (rest[end] == ')') depth -= depth > 0;
            if (depth == 0 && end > 0 && (rest[end] == '+' || rest[end] == '-') &&
                rest[end - 1] == ' ')
                break;
        }
        Dim product(sign);
        for (const std::string_view factor : factorsOf(trimmed(rest.substr(0, end)))) {
            if (factor.empty()) return bad();
            const Result<Dim> read = parseFactor(factor);
            if (!read) return bad();
            product = product * *read;
        }
        sum = sum + product;
        if (end >= rest.size()) return sum;
        sign = rest[end] == '-' ? -1 : 1;
        rest = trimmed(rest.substr(end + 1));
        if (rest.empty()) return bad();
    }
}

} // namespace tenon::core
