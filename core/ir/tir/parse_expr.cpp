// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR's text.
#include "core/ir/tir/parse_expr.h"

#include "core/base/text.h"
#include "core/ir/tir/text_common.h"

#include <optional>
#include <utility>

namespace tenon::tir {
namespace {

/// No folding: the text's tree is kept as written.
Expr makeExpr(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

bool compares(ExprKind kind) { return kind >= ExprKind::Equal && kind <= ExprKind::GreaterEqual; }

std::optional<Intrinsic> intrinsicNamed(std::string_view name)
{
#define INTRINSIC(enumerator, text, arity)                                                         \
    if (name == (text)) return Intrinsic::enumerator;
#include "core/ir/tir/intrinsics.def"
#undef INTRINSIC
    return std::nullopt;
}

} // namespace

std::vector<Expr> ExprParser::list(std::string_view close)
{
    std::vector<Expr> out;
    while (!failed() && !at(close)) {
        out.push_back(expr());
        if (!accept(",")) break;
    }
    expect(close);
    return out;
}

std::vector<Expr> ExprParser::tuple()
{
    expect("(");
    return list(")");
}

Expr ExprParser::operation(ExprKind kind, Expr a, Expr b)
{
    if (failed()) return 0;
    if (a->dtype != b->dtype) {
        fail("operands before this are " + a->dtype.text() + " and " + b->dtype.text());
        return 0;
    }
    const DataType dtype = compares(kind) ? kBool.withLanes(a->dtype.lanes) : a->dtype;
    return makeExpr({.kind = kind, .dtype = dtype, .args = {std::move(a), std::move(b)}});
}

Expr ExprParser::expr() { return orExpr(); }

Expr ExprParser::orExpr()
{
    Expr left = andExpr();
    while (accept("or")) left = operation(ExprKind::Or, left, andExpr());
    return left;
}

Expr ExprParser::andExpr()
{
    Expr left = notExpr();
    while (accept("and")) left = operation(ExprKind::And, left, notExpr());
    return left;
}

Expr ExprParser::notExpr()
{
    if (!accept("not")) return comparison();
    Expr value = notExpr();
    const DataType dtype = value->dtype;
    return makeExpr({.kind = ExprKind::Not, .dtype = dtype, .args = {std::move(value)}});
}

Expr ExprParser::comparison()
{
    static constexpr std::pair<std::string_view, ExprKind> kComparisons[] = {
        {"==", ExprKind::Equal},     {"!=", ExprKind::NotEqual}, {"<", ExprKind::Less},
        {"<=", ExprKind::LessEqual}, {">", ExprKind::Greater},   {">=", ExprKind::GreaterEqual}};
    Expr left = sum();
    for (const auto& [symbol, kind] : kComparisons)
        if (accept(symbol)) return operation(kind, left, sum());
    return left;
}

Expr ExprParser::sum()
{
    Expr left = product();
    while (at("+") || at("-")) {
        const ExprKind kind = take().text == "+" ? ExprKind::Add : ExprKind::Sub;
        left = operation(kind, left, product());
    }
    return left;
}

Expr ExprParser::product()
{
    static constexpr std::pair<std::string_view, ExprKind> kProducts[] = {
        {"*", ExprKind::Mul},
        {"//", ExprKind::FloorDiv},
        {"/", ExprKind::Div},
        {"%", ExprKind::FloorMod}};
    Expr left = atom();
    for (bool found = true; found && !failed();) {
        found = false;
        for (const auto& [symbol, kind] : kProducts) {
            if (!accept(symbol)) continue;
            left = operation(kind, left, atom());
            found = true;
        }
    }
    return left;
}

Expr ExprParser::atom()
{
    if (accept("(")) {
        Expr inner = expr();
        expect(")");
        return inner;
    }
    if (peek().kind == TokenKind::Number || at("-")) return intImm(integerLiteral());
    if (at("T") && peek(1).text == ".") return call();
    if (peek().kind == TokenKind::Name) return named();
    fail("expected an expression");
    return 0;
}

Expr ExprParser::named()
{
    const auto found = m_scope.find(peek().text);
    if (found == m_scope.end()) {
        fail("unknown name");
        return 0;
    }
    take();
    if (const Var* var = std::get_if<Var>(&found->second)) return *var;
    const Buffer buffer = std::get<Buffer>(found->second);
    expect("[");
    std::vector<Expr> indices = list("]");
    if (failed()) return 0;
    return load(buffer, std::move(indices));
}

Expr ExprParser::literalOf(DataType dtype)
{
    if (dtype.isBool()) {
        const bool value = at("True");
        if (!accept("True")) expect("False");
        return intImm(value, dtype);
    }
    if (!dtype.isFloat()) return intImm(integerLiteral(), dtype);
    if (peek().kind == TokenKind::String) return floatImm(numberOfText(take().text), dtype);
    const bool negative = accept("-");
    if (peek().kind != TokenKind::Number) fail("expected a number");
    const double value = numberOfText(take().text);
    return floatImm(negative ? -value : value, dtype);
}

Expr ExprParser::call()
{
    expect("T");
    expect(".");
    const std::string callee = name();
    expect("(");
    Expr out = callOf(callee);
    expect(")");
    return failed() ? Expr(0) : out;
}

Expr ExprParser::callOf(const std::string& callee)
{
    if (callee == "Cast") {
        const DataType dtype = dtypeLiteral();
        expect(",");
        return makeExpr({.kind = ExprKind::Cast, .dtype = dtype, .args = {expr()}});
    }
    if (callee == "Ramp" || callee == "Broadcast") {
        std::vector<Expr> args{expr()};
        expect(",");
        if (callee == "Ramp") {
            args.push_back(expr());
            expect(",");
        }
        const auto lanes = static_cast<int>(integerLiteral());
        return callee == "Ramp" ? ramp(args[0], args[1], lanes) : broadcast(args[0], lanes);
    }
    static constexpr std::pair<std::string_view, ExprKind> kBinary[] = {
        {"truncmod", ExprKind::Mod}, {"min", ExprKind::Min}, {"max", ExprKind::Max}};
    for (const auto& [text, kind] : kBinary) {
        if (callee != text) continue;
        Expr a = expr();
        expect(",");
        return operation(kind, a, expr());
    }
    if (callee == "Select") {
        Expr condition = expr();
        expect(",");
        Expr then = expr();
        expect(",");
        Expr otherwise = expr();
        if (!failed() && then->dtype != otherwise->dtype) fail("sides of Select differ in type");
        const DataType dtype = then->dtype;
        return makeExpr(
            {.kind = ExprKind::Select, .dtype = dtype, .args = {condition, then, otherwise}});
    }
    if (const auto intrinsic = intrinsicNamed(callee)) return intrinsicCall(*intrinsic);
    if (const Result<DataType> dtype = parseDataType(callee)) return literalOf(*dtype);
    fail("unknown function " + quoted("T." + callee));
    return 0;
}

Expr ExprParser::intrinsicCall(Intrinsic intrinsic)
{
    std::optional<DataType> dtype;
    if (peek().kind == TokenKind::String) {
        dtype = dtypeLiteral();
        accept(",");
    }
    std::vector<Expr> args;
    while (!failed() && !at(")")) {
        args.push_back(expr());
        if (!accept(",")) break;
    }
    const int arity = intrinsicArity(intrinsic);
    if (!failed() && arity >= 0 && args.size() != static_cast<size_t>(arity))
        fail(quoted(intrinsicText(intrinsic)) + " takes " + std::to_string(arity) + " arguments");
    if (failed()) return 0;
    const DataType result = dtype ? *dtype : intrinsicResult(intrinsic, args);
    return tir::call(intrinsic, result, std::move(args));
}

} // namespace tenon::tir
