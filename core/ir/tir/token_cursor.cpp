// SPDX-License-Identifier: Apache-2.0
// Tokens, literals and attributes of text.
#include "core/ir/tir/token_cursor.h"

#include "core/base/text.h"
#include "core/ir/tir/text_common.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace tenon::tir {
namespace {

bool isInteger(const std::string& digits)
{
    return digits.find_first_of(".e") == std::string::npos;
}

} // namespace

double numberOfText(std::string_view digits)
{
    if (digits == "inf") return std::numeric_limits<double>::infinity();
    if (digits == "-inf") return -std::numeric_limits<double>::infinity();
    if (digits == "nan") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

TokenCursor::TokenCursor(std::vector<Token> tokens)
    : m_tokens(std::move(tokens))
{
    for (const Token& token : m_tokens) {
        if (token.kind != TokenKind::Bad) continue;
        m_error =
            makeError(DiagnosticCode::BadText, token.text,
                      {.detail = std::to_string(token.line) + ":" + std::to_string(token.column)});
        m_at = m_tokens.size() - 1;
    }
}

const Token& TokenCursor::peek(size_t ahead) const
{
    return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)];
}

Token TokenCursor::take()
{
    const Token token = peek();
    if (m_at + 1 < m_tokens.size()) ++m_at;
    return token;
}

bool TokenCursor::at(std::string_view symbolOrWord) const
{
    const Token& token = peek();
    return (token.kind == TokenKind::Symbol || token.kind == TokenKind::Name) &&
           token.text == symbolOrWord;
}

bool TokenCursor::accept(std::string_view symbolOrWord)
{
    if (!at(symbolOrWord)) return false;
    take();
    return true;
}

bool TokenCursor::acceptKind(TokenKind kind)
{
    if (peek().kind != kind) return false;
    take();
    return true;
}

void TokenCursor::expect(std::string_view symbolOrWord)
{
    if (!accept(symbolOrWord)) fail("expected " + quoted(symbolOrWord));
}

void TokenCursor::fail(const std::string& message)
{
    if (m_error) return;
    const Token& token = peek();
    static constexpr const char* kKinds[] = {
        "", "", "", "", "end of line", "indentation", "end of block", "", "end of text"};
    std::string seen = kKinds[static_cast<size_t>(token.kind)];
    if (seen.empty()) seen = quoted(token.text);
    failAt(token.line, token.column, message + ", found " + seen);
}

void TokenCursor::failAt(int line, int column, const std::string& message)
{
    if (m_error) return;
    m_error = makeError(DiagnosticCode::BadText, message,
                        {.detail = std::to_string(line) + ":" + std::to_string(column)});
    m_at = m_tokens.size() - 1;
}

std::string TokenCursor::name()
{
    if (peek().kind == TokenKind::Name) return take().text;
    fail("expected a name");
    return {};
}

std::string TokenCursor::stringLiteral()
{
    if (peek().kind == TokenKind::String) return take().text;
    fail("expected a string");
    return {};
}

int64_t TokenCursor::integerLiteral()
{
    const bool negative = accept("-");
    if (peek().kind != TokenKind::Number || !isInteger(peek().text)) {
        fail("expected an integer");
        return 0;
    }
    const std::string digits = (negative ? "-" : "") + peek().text;
    int64_t value = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
        fail("integer does not fit 64 bits");
    take();
    return value;
}

DataType TokenCursor::dtypeLiteral()
{
    const Token token = peek();
    const Result<DataType> dtype = parseDataType(stringLiteral());
    if (dtype) return *dtype;
    fail("unknown data type before this");
    return kFloat32;
}

double TokenCursor::attrNumber(const std::string& digits)
{
    if (digits == "inff" || digits == "nanf") return numberOfText(digits.substr(0, 3));
    expect("f");
    return numberOfText(digits);
}

AttrValue TokenCursor::attrValue()
{
    if (peek().kind == TokenKind::String) return stringLiteral();
    if (accept("T")) {
        expect(".");
        const Result<DataType> dtype = parseDataType(name());
        if (!dtype) fail("unknown data type before this");
        return dtype ? *dtype : kFloat32;
    }
    const bool floats = at("f") && peek(1).text == "[";
    const bool strings = at("s") && peek(1).text == "[";
    if (floats || strings || at("[")) {
        if (floats || strings) take();
        expect("[");
        std::vector<int64_t> integers;
        std::vector<double> numbers;
        std::vector<std::string> texts;
        while (!failed() && !at("]")) {
            const AttrValue element = attrValue();
            if (const auto* i = std::get_if<int64_t>(&element)) integers.push_back(*i);
            if (const auto* d = std::get_if<double>(&element)) numbers.push_back(*d);
            if (const auto* s = std::get_if<std::string>(&element)) texts.push_back(*s);
            if (!accept(",")) break;
        }
        expect("]");
        if (floats) return numbers;
        if (strings) return texts;
        return integers;
    }
    const bool negative = at("-");
    const Token& digits = peek(negative ? 1 : 0);
    const Token& suffix = peek(negative ? 2 : 1);
    if (digits.kind == TokenKind::Number && isInteger(digits.text) && suffix.text != "f")
        return integerLiteral();
    if (digits.kind != TokenKind::Number && digits.text != "inff" && digits.text != "nanf") {
        fail("expected an attribute value");
        return int64_t{0};
    }
    if (negative) take();
    const double value = attrNumber(take().text);
    return negative ? -value : value;
}

Attrs TokenCursor::dict()
{
    Attrs attrs;
    expect("{");
    while (!failed() && !at("}")) {
        std::string key = stringLiteral();
        expect(":");
        attrs.set(std::move(key), attrValue());
        if (!accept(",")) break;
    }
    expect("}");
    return attrs;
}

} // namespace tenon::tir
