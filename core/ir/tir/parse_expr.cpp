// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR's text.
#include "core/ir/tir/parse_expr.h"

#include "core/base/text.h"
#include "core/ir/tir/text_common.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tenon::tir {
namespace {

/// No folding: the text's tree is kept as written.
Expr makeExpr(ExprNode node) { return Expr(std::make_shared<const ExprNode>(std::move(node))); }

bool compares(ExprKind kind) { return kind >= ExprKind::Equal && kind <= ExprKind::GreaterEqual; }

double numberOf(const std::string& digits)
{
    if (digits == "inf") return std::numeric_limits<double>::infinity();
    if (digits == "-inf") return -std::numeric_limits<double>::infinity();
    if (digits == "nan") return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

bool isInteger(const std::string& digits)
{
    return digits.find_first_of(".e") == std::string::npos;
}

std::optional<Intrinsic> intrinsicNamed(std::string_view name)
{
#define INTRINSIC(enumerator, text, arity)                                                         \
    if (name == (text)) return Intrinsic::enumerator;
#include "core/ir/tir/intrinsics.def"
#undef INTRINSIC
    return std::nullopt;
}

} // namespace

ExprParser::ExprParser(std::vector<Token> tokens)
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

const Token& ExprParser::peek(size_t ahead) const
{
    return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)];
}

Token ExprParser::take()
{
    const Token token = peek();
    if (m_at + 1 < m_tokens.size()) ++m_at;
    return token;
}

bool ExprParser::at(std::string_view symbolOrWord) const
{
    const Token& token = peek();
    return (token.kind == TokenKind::Symbol || token.kind == TokenKind::Name) &&
           token.text == symbolOrWord;
}

bool ExprParser::accept(std::string_view symbolOrWord)
{
    if (!at(symbolOrWord)) return false;
    take();
    return true;
}

bool ExprParser::acceptKind(TokenKind kind)
{
    if (peek().kind != kind) return false;
    take();
    return true;
}

void ExprParser::expect(std::string_view symbolOrWord)
{
    if (!accept(symbolOrWord)) fail("expected " + quoted(symbolOrWord));
}

void ExprParser::fail(const std::string& message)
{
    if (m_error) return;
    const Token& token = peek();
    static constexpr const char* kKinds[] = {
        "", "", "", "", "end of line", "indentation", "end of block", "", "end of text"};
    std::string seen = kKinds[static_cast<size_t>(token.kind)];
    if (seen.empty()) seen = quoted(token.text);
    m_error =
        makeError(DiagnosticCode::BadText, message + ", found " + seen,
                  {.detail = std::to_string(token.line) + ":" + std::to_string(token.column)});
    m_at = m_tokens.size() - 1;
}

std::string ExprParser::name()
{
    if (peek().kind == TokenKind::Name) return take().text;
    fail("expected a name");
    return {};
}

std::string ExprParser::stringLiteral()
{
    if (peek().kind == TokenKind::String) return take().text;
    fail("expected a string");
    return {};
}

int64_t ExprParser::integerLiteral()
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

DataType ExprParser::dtypeLiteral()
{
    const Token token = peek();
    const Result<DataType> dtype = parseDataType(stringLiteral());
    if (dtype) return *dtype;
    fail("unknown data type before this");
    return kFloat32;
}

double ExprParser::attrNumber(const std::string& digits)
{
    if (digits == "inff" || digits == "nanf") return numberOf(digits.substr(0, 3));
    expect("f");
    return numberOf(digits);
}

AttrValue ExprParser::attrValue()
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

Attrs ExprParser::dict()
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
    if (peek().kind == TokenKind::String) return floatImm(numberOf(take().text), dtype);
    const bool negative = accept("-");
    if (peek().kind != TokenKind::Number) fail("expected a number");
    const double value = numberOf(take().text);
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
