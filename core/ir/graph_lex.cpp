// SPDX-License-Identifier: Apache-2.0
// Tokens, attribute values and types of graph text.
#include "core/ir/graph_lex.h"

#include "core/base/text.h"

#include <charconv>
#include <cmath>

namespace tenon::core {
namespace {

bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

} // namespace

void GraphLexer::fail(std::string message)
{
    if (m_error) return;
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < m_at && i < m_text.size(); ++i) {
        column = m_text[i] == '\n' ? 1 : column + 1;
        line += m_text[i] == '\n';
    }
    Location location;
    location.detail = std::to_string(line) + ":" + std::to_string(column);
    m_error =
        makeError(DiagnosticCode::BadText, std::move(message) + " at " + location.detail, location);
}

void GraphLexer::skipBlanks()
{
    while (m_at < m_text.size()) {
        if (std::isspace(static_cast<unsigned char>(m_text[m_at]))) {
            ++m_at;
        } else if (m_text.substr(m_at).starts_with("//")) {
            m_at = std::min(m_text.find('\n', m_at), m_text.size());
        } else if (m_text.substr(m_at).starts_with("/*")) {
            const size_t end = m_text.find("*/", m_at);
            m_at = end == std::string_view::npos ? m_text.size() : end + 2;
        } else {
            return;
        }
    }
}

bool GraphLexer::atEnd() { return peek() == 0; }

char GraphLexer::peek()
{
    skipBlanks();
    return ok() && m_at < m_text.size() ? m_text[m_at] : '\0';
}

size_t GraphLexer::position()
{
    skipBlanks();
    return m_at;
}

bool GraphLexer::accept(std::string_view token)
{
    skipBlanks();
    if (!ok() || !m_text.substr(m_at).starts_with(token)) return false;
    const bool isWord = isWordCharacter(token.back());
    if (isWord && m_at + token.size() < m_text.size() &&
        isWordCharacter(m_text[m_at + token.size()]))
        return false;
    m_at += token.size();
    return true;
}

void GraphLexer::expect(std::string_view token)
{
    if (accept(token)) return;
    const std::string seen(m_text.substr(std::min(m_at, m_text.size()), 12));
    fail("expected " + quoted(token) + " before " +
         (seen.empty() ? "the end" : quoted(seen.substr(0, seen.find('\n')))));
}

std::string GraphLexer::word()
{
    if (peek() == '"') return quotedString();
    size_t end = m_at;
    while (end < m_text.size() && (isWordCharacter(m_text[end]) || m_text[end] == '.')) ++end;
    if (end == m_at) fail("expected a name");
    const std::string name(m_text.substr(m_at, end - m_at));
    m_at = end;
    return name;
}

std::string GraphLexer::valueName()
{
    expect("%");
    if (!ok()) return {};
    if (peek() == '"') return quotedString();
    size_t end = m_at;
    while (end < m_text.size() && isWordCharacter(m_text[end])) ++end;
    if (end == m_at) fail("expected a value name behind `%`");
    const std::string name(m_text.substr(m_at, end - m_at));
    m_at = end;
    return name;
}

std::string GraphLexer::quotedString()
{
    expect("\"");
    std::string out;
    while (ok()) {
        if (m_at >= m_text.size()) {
            fail("the text ends inside a string");
            break;
        }
        const char c = m_text[m_at++];
        if (c == '"') break;
        if (c == '\\' && m_at < m_text.size()) {
            const char escaped = m_text[m_at++];
            out += escaped == 'n' ? '\n' : escaped;
        } else {
            out += c;
        }
    }
    return out;
}

std::string GraphLexer::numberToken()
{
    skipBlanks();
    size_t end = m_at;
    if (end < m_text.size() && m_text[end] == '-') ++end;
    const std::string_view rest = m_text.substr(std::min(end, m_text.size()));
    if (rest.starts_with("nan") || rest.starts_with("inf")) {
        end += 3;
    } else {
        while (end < m_text.size() &&
               (std::isdigit(static_cast<unsigned char>(m_text[end])) || m_text[end] == '.' ||
                m_text[end] == 'e' ||
                ((m_text[end] == '+' || m_text[end] == '-') && m_text[end - 1] == 'e')))
            ++end;
    }
    if (end == m_at) fail("expected a number");
    const std::string token(m_text.substr(m_at, end - m_at));
    m_at = end;
    return token;
}

int64_t GraphLexer::integer()
{
    const std::string token = numberToken();
    int64_t value = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), value);
    if (ok() && (status != std::errc() || end != token.data() + token.size()))
        fail(quoted(token) + " is not a 64-bit integer");
    return value;
}

AttrValue GraphLexer::attrValue()
{
    const auto number = [this]() -> AttrValue {
        const size_t start = position();
        const std::string token = numberToken();
        if (!accept("f")) {
            rewind(start);
            return integer();
        }
        double value = 0;
        const auto [end, status] =
            std::from_chars(token.data(), token.data() + token.size(), value);
        if (status != std::errc() || end != token.data() + token.size())
            fail(quoted(token) + " is not a number");
        return value;
    };
    const auto list = [this](auto values, auto read) -> AttrValue {
        expect("[");
        while (ok() && !accept("]")) {
            if (!values.empty()) expect(",");
            if (ok()) values.push_back(read());
        }
        return values;
    };
    const size_t start = position();
    if (peek() == '"') return quotedString();
    if (accept("T.")) return dtype();
    if (peek() == '[') return list(std::vector<int64_t>(), [this] { return integer(); });
    if (accept("s[")) {
        rewind(start + 1);
        return list(std::vector<std::string>(), [this] { return quotedString(); });
    }
    if (accept("f[")) {
        rewind(start + 1);
        return list(std::vector<double>(), [&] {
            const AttrValue value = number();
            if (const double* real = std::get_if<double>(&value)) return *real;
            return static_cast<double>(std::get<int64_t>(value));
        });
    }
    return number();
}

DataType GraphLexer::dtype()
{
    const std::string name = word();
    if (!ok()) return {};
    const Result<DataType> parsed = parseDataType(name);
    if (!parsed) fail(parsed.error().message);
    return parsed ? *parsed : DataType();
}

TensorType GraphLexer::tensorType()
{
    TensorType type;
    expect("Tensor[(");
    size_t start = m_at;
    for (int depth = 0; ok() && m_at < m_text.size(); ++m_at) {
        const char c = m_text[m_at];
        if (depth == 0 && (c == ',' || c == ')')) {
            const std::string_view dimText = trimmed(m_text.substr(start, m_at - start));
            if (!dimText.empty()) {
                const Result<Dim> dim = parseDim(dimText);
                if (!dim) fail(dim.error().message);
                if (dim && dim->isConst() && dim->value() < 0)
                    fail("dimension " + dim->text() + " is negative");
                if (dim) type.shape.push_back(*dim);
            }
            start = m_at + 1;
            if (c == ')') break;
        }
        depth += (c == '(') - (c == ')');
    }
    expect(")");
    expect(",");
    type.dtype = dtype();
    expect("]");
    return type;
}

std::string_view GraphLexer::rawUntilLine(std::string_view line)
{
    const std::string ending = "\n" + std::string(line) + "\n";
    const size_t end = m_text.find(ending, m_at);
    if (end == std::string_view::npos) {
        fail("no closing line " + quoted(line));
        return {};
    }
    const std::string_view raw = m_text.substr(m_at, end + 1 - m_at);
    m_at = end + ending.size();
    return raw;
}

} // namespace tenon::core
