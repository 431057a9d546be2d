// SPDX-License-Identifier: Apache-2.0
// Tokenizer of the loop IR's text.
#include "core/ir/tir/lex.h"

#include <cctype>

namespace tenon::tir {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer
{
public:
    explicit Lexer(std::string_view text)
        : m_text(text)
    {
    }

    std::vector<Token> run()
    {
        while (m_at < m_text.size() && !m_bad) {
            if (m_lineStart && m_brackets == 0 && !indentation()) continue;
            next();
        }
        if (!m_lineStart && !m_bad) add(TokenKind::Newline, "");
        while (m_indents.size() > 1 && !m_bad) {
            m_indents.pop_back();
            add(TokenKind::Dedent, "");
        }
        add(TokenKind::End, "");
        return std::move(m_tokens);
    }

private:
    std::string_view m_text;
    size_t m_at = 0;
    size_t m_lineBegin = 0;
    int m_line = 1;
    int m_brackets = 0;
    bool m_lineStart = true;
    bool m_bad = false;
    std::vector<size_t> m_indents{0};
    std::vector<Token> m_tokens;

    char peek(size_t ahead = 0) const
    {
        return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0';
    }

    void add(TokenKind kind, std::string text, size_t begin = std::string_view::npos)
    {
        const size_t column = (begin == std::string_view::npos ? m_at : begin) - m_lineBegin + 1;
        m_tokens.push_back({kind, std::move(text), m_line, static_cast<int>(column)});
    }

    void bad(std::string why)
    {
        add(TokenKind::Bad, std::move(why));
        m_bad = true;
    }

    void newLine()
    {
        ++m_at;
        ++m_line;
        m_lineBegin = m_at;
    }

    /// Measures the indentation of a line; false when the line holds nothing.
    bool indentation()
    {
        size_t width = 0;
        while (peek(width) == ' ') ++width;
        m_at += width;
        if (peek() == '\r') ++m_at;
        if (peek() == '#')
            while (m_at < m_text.size() && peek() != '\n') ++m_at;
        if (m_at >= m_text.size()) return false;
        if (peek() == '\n') {
            newLine();
            return false;
        }
        m_lineStart = false;
        if (width > m_indents.back()) {
            m_indents.push_back(width);
            add(TokenKind::Indent, "");
        }
        while (width < m_indents.back()) {
            m_indents.pop_back();
            add(TokenKind::Dedent, "");
        }
        if (width != m_indents.back()) bad("indentation matches no outer level");
        return true;
    }

    void next()
    {
        const char c = peek();
        const size_t begin = m_at;
        if (c == '\n') {
            if (m_brackets == 0) {
                add(TokenKind::Newline, "");
                m_lineStart = true;
            }
            return newLine();
        }
        if (c == ' ' || c == '\t' || c == '\r') {
            ++m_at;
            return;
        }
        if (c == '#') {
            while (m_at < m_text.size() && peek() != '\n') ++m_at;
            return;
        }
        if (isDigit(c)) return number();
        if (c == '"') return string();
        if (isWord(c)) {
            while (isWord(peek())) ++m_at;
            return add(TokenKind::Name, std::string(m_text.substr(begin, m_at - begin)), begin);
        }
        symbol();
    }

    void number()
    {
        const size_t begin = m_at;
        while (isDigit(peek())) ++m_at;
        if (peek() == '.' && isDigit(peek(1))) {
            ++m_at;
            while (isDigit(peek())) ++m_at;
        }
        const size_t sign = peek(1) == '-' || peek(1) == '+' ? 2 : 1;
        if (peek() == 'e' && isDigit(peek(sign))) {
            m_at += sign;
            while (isDigit(peek())) ++m_at;
        }
        add(TokenKind::Number, std::string(m_text.substr(begin, m_at - begin)), begin);
    }

    void string()
    {
        const size_t begin = m_at++;
        std::string value;
        while (peek() != '"') {
            if (peek() == '\0' || peek() == '\n') return bad("string does not end");
            if (peek() == '\\') {
                ++m_at;
                value += peek() == 'n' ? '\n' : peek();
            } else {
                value += peek();
            }
            ++m_at;
        }
        ++m_at;
        add(TokenKind::String, std::move(value), begin);
    }

    void symbol()
    {
        static constexpr std::string_view kDouble[] = {"//", "==", "!=", "<=", ">="};
        static constexpr std::string_view kSingle = "()[]{},:=@.+-*/%<>";
        const size_t begin = m_at;
        for (const std::string_view two : kDouble) {
            if (m_text.substr(m_at, 2) != two) continue;
            m_at += 2;
            return add(TokenKind::Symbol, std::string(two), begin);
        }
        const char c = peek();
        if (kSingle.find(c) == std::string_view::npos)
            return bad(std::string("unexpected character `") + c + "`");
        if (c == '(' || c == '[' || c == '{') ++m_brackets;
        if ((c == ')' || c == ']' || c == '}') && m_brackets > 0) --m_brackets;
        ++m_at;
        add(TokenKind::Symbol, std::string(1, c), begin);
    }
};

} // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

} // namespace tenon::tir
