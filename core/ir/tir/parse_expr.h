// SPDX-License-Identifier: Apache-2.0
// Parser of the loop IR's expressions; the statement parser builds on it.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/lex.h"
#include "core/ir/tir/stmt.h"

#include <map>
#include <optional>
#include <string>
#include <variant>

namespace tenon::tir {

/// Recursive descent over tokens. The first error is kept and moves to the end of the text, so
/// every loop ends; results made after an error are placeholders.
class ExprParser
{
public:
    explicit ExprParser(std::vector<Token> tokens);

    bool failed() const { return m_error.has_value(); }
    const Diagnostic& error() const { return *m_error; }

protected:
    using Named = std::variant<Var, Buffer>;
    std::map<std::string, Named> m_scope;

    const Token& peek(size_t ahead = 0) const;
    Token take();
    bool at(std::string_view symbolOrWord) const;
    bool accept(std::string_view symbolOrWord);
    bool acceptKind(TokenKind kind);
    void expect(std::string_view symbolOrWord);
    void fail(const std::string& message);

    std::string name();
    std::string stringLiteral();
    int64_t integerLiteral();
    DataType dtypeLiteral(); ///< "float32" as a string
    Attrs dict();
    std::vector<Expr> tuple();
    std::vector<Expr> list(std::string_view close);
    Expr expr();
    AttrValue attrValue();

private:
    std::vector<Token> m_tokens;
    size_t m_at = 0;
    std::optional<Diagnostic> m_error;

    Expr orExpr();
    Expr andExpr();
    Expr notExpr();
    Expr comparison();
    Expr sum();
    Expr product();
    Expr atom();
    Expr named();
    Expr call();
    Expr literalOf(DataType dtype);
    Expr callOf(const std::string& callee);
    Expr intrinsicCall(Intrinsic intrinsic);
    Expr operation(ExprKind kind, Expr a, Expr b);
    double attrNumber(const std::string& digits);
};

} // namespace tenon::tir
