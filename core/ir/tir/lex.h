// SPDX-License-Identifier: Apache-2.0
// Tokens of the loop IR's text, with Python's indentation rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tir {

enum class TokenKind : uint8_t
{
    Name,
    Number, ///< `text` holds the digits; a float when it has a point, an exponent or is inf/nan
    String, ///< `text` without the quotes, escapes resolved
    Symbol,
    Newline,
    Indent,
    Dedent,
    Bad, ///< `text` says why
    End
};

struct Token
{
    TokenKind kind;
    std::string text;
    int line = 1;
    int column = 1;
};

/// Ends in End; a Bad token ends the list early (followed by End).
std::vector<Token> tokenize(std::string_view text);

} // namespace tenon::tir
