// SPDX-License-Identifier: Apache-2.0
// Parser of the loop IR's expressions; the statement parser builds on it.
#pragma once

#include "core/ir/tir/stmt.h"
#include "core/ir/tir/token_cursor.h"

#include <map>
#include <string>
#include <variant>

namespace tenon::tir {

/// Recursive descent over tokens.
class ExprParser : public TokenCursor
{
protected:
    using TokenCursor::TokenCursor;
    using Named = std::variant<Var, Buffer>;
    std::map<std::string, Named> m_scope;

    std::vector<Expr> tuple();
    std::vector<Expr> list(std::string_view close);
    Expr expr();

private:
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
};

} // namespace tenon::tir
