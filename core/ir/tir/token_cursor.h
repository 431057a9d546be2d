// SPDX-License-Identifier: Apache-2.0
// Cursor over tokens: what parsers of text in the manner of Python begin with.
#pragma once

#include "core/base/result.h"
#include "core/ir/attr.h"
#include "core/ir/tir/lex.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenon::tir {

using namespace core;

/// The first error is kept and moves to the end of the text, so that every loop ends; results made
/// after an error are placeholders.
class TokenCursor
{
public:
    explicit TokenCursor(std::vector<Token> tokens);

    bool failed() const { return m_error.has_value(); }
    const Diagnostic& error() const { return *m_error; }

protected:
    const Token& peek(size_t ahead = 0) const;
    Token take();
    bool at(std::string_view symbolOrWord) const;
    bool accept(std::string_view symbolOrWord);
    bool acceptKind(TokenKind kind);
    void expect(std::string_view symbolOrWord);
    void fail(const std::string& message); ///< and what was found instead
    void failAt(int line, int column, const std::string& message);

    std::string name();
    std::string stringLiteral();
    int64_t integerLiteral();
    DataType dtypeLiteral(); ///< "float32" as a string
    Attrs dict();
    AttrValue attrValue();

private:
    double attrNumber(const std::string& digits);

    std::vector<Token> m_tokens;
    size_t m_at = 0;
    std::optional<Diagnostic> m_error;
};

} // namespace tenon::tir
