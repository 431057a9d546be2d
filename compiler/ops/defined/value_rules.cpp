// SPDX-License-Identifier: Apache-2.0
// Numbers adapt to the tensors they meet; tensors of different types do not mix unasked.
#include "compiler/ops/defined/value_rules.h"

#include "compiler/ops/conversion.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;

Diagnostic ValueRules::badValue(const Term& term, const std::string& what) const
{
    return makeError(DiagnosticCode::BadText,
                     "operator " + quoted(m_definition.name) + ": " + quoted(term.text) + " " +
                         what,
                     {.detail = std::to_string(term.line) + ":" + std::to_string(term.column)});
}

ValueRules::Value ValueRules::fail(const Term& term, const std::string& what)
{
    if (!m_error) m_error = badValue(term, what);
    return {Expr(0), true};
}

ValueRules::Value ValueRules::as(DataType dtype, Value value, const Term& term)
{
    const DataType from = value.expr->dtype;
    if (m_error || from == dtype) return {value.expr};
    if (!value.adapts)
        return fail(term, "is " + from.text() + " where " + dtype.text() +
                              " is needed; convert it, as in " + dtype.text() + "(...)");
    if (dtype.isBool() || from.isBool()) return fail(term, "is no condition");
    if (from.isFloat() && dtype.isInt()) return fail(term, "is no " + dtype.text());
    if (value.expr->kind == ExprKind::FloatImm) return {tir::floatImm(value.expr->number, dtype)};
    if (value.expr->kind != ExprKind::IntImm) return {tir::cast(dtype, value.expr)};
    const int64_t integer = value.expr->integer;
    if (dtype.isFloat()) return {tir::floatImm(static_cast<double>(integer), dtype)};
    const bool fits = dtype.bits == 64 ? dtype.isSigned() || integer >= 0
                                       : integer >= tir::lowestOf(dtype)->integer &&
                                             integer <= tir::highestOf(dtype)->integer;
    if (!fits) return fail(term, std::to_string(integer) + " does not fit " + dtype.text());
    return {tir::intImm(integer, dtype)};
}

void ValueRules::unify(Value& a, Value& b, const Term& term)
{
    if (a.expr->dtype == b.expr->dtype) {
        a.adapts = b.adapts = a.adapts && b.adapts;
        return;
    }
    if (a.adapts && b.adapts) {
        a = {as(kFloat64, a, term).expr, true};
        b = {as(kFloat64, b, term).expr, true};
    } else if (a.adapts) {
        a = as(b.expr->dtype, a, term);
    } else {
        b = as(a.expr->dtype, b, term);
    }
}

void ValueRules::unifyAll(std::vector<Value>& values, const Term& term)
{
    for (size_t i = 1; i < values.size(); ++i) unify(values[0], values[i], term);
    for (size_t i = 1; i < values.size(); ++i) unify(values[0], values[i], term);
}

ValueRules::Value ValueRules::conversion(DataType dtype, const Value& value, const Term& term)
{
    if (dtype.lanes != 1 || dtype == kHandle) return fail(term, "is no type of elements");
    if (value.adapts && !(value.expr->dtype.isFloat() && dtype.isInt()) && !dtype.isBool())
        return as(dtype, value, term);
    return {value.expr->dtype == dtype ? value.expr : converted(dtype, value.expr)};
}

ValueRules::Value ValueRules::operation(const Term& term, std::vector<Value> values)
{
    if (m_error) return {Expr(0), true};
    const std::string& op = term.text;
    if (op == "not" || op == "and" || op == "or") return logic(term, values);
    if (values.size() == 1) { // the sign
        const DataType dtype = values[0].expr->dtype;
        if (dtype.isBool()) return fail(term, "has no sign");
        return {tir::zeroOf(dtype) - values[0].expr, values[0].adapts};
    }
    unify(values[0], values[1], term);
    if (m_error) return {Expr(0), true};
    const Expr& a = values[0].expr;
    const Expr& b = values[1].expr;
    if (op == "==") return {equal(a, b)};
    if (op == "!=") return {notEqual(a, b)};
    if (a->dtype.isBool()) return fail(term, "takes numbers, not conditions");
    if (op == "<") return {a < b};
    if (op == "<=") return {a <= b};
    if (op == ">") return {a > b};
    if (op == ">=") return {a >= b};
    if (op == "/" || op == "//" || op == "%") return division(term, values[0], values[1]);
    const Expr out = op == "+" ? a + b : op == "-" ? a - b : a * b;
    return {out, values[0].adapts};
}

ValueRules::Value ValueRules::division(const Term& term, Value a, Value b)
{
    const bool adapts = a.adapts;
    if (b.expr->kind == ExprKind::IntImm && b.expr->integer == 0)
        return fail(term, "divides by zero");
    if (term.text == "/") {
        if (adapts) {
            a = {as(kFloat64, a, term).expr, true};
            b = {as(kFloat64, b, term).expr, true};
        }
        if (!a.expr->dtype.isFloat())
            return fail(term, "of integers is written // or, of floats, float32(a) / float32(b)");
        return {a.expr / b.expr, adapts};
    }
    if (a.expr->dtype.isFloat()) return fail(term, "is for integers");
    return {term.text == "//" ? floorDiv(a.expr, b.expr) : floorMod(a.expr, b.expr), adapts};
}

ValueRules::Value ValueRules::logic(const Term& term, const std::vector<Value>& values)
{
    for (const Value& value : values)
        if (!value.expr->dtype.isBool())
            return fail(term, "takes conditions, not " + value.expr->dtype.text());
    if (term.text == "not") return {!values[0].expr};
    return {term.text == "and" ? values[0].expr && values[1].expr
                               : values[0].expr || values[1].expr};
}

bool ValueRules::hasCount(const Term& term, size_t count)
{
    if (term.args.size() == count) return true;
    fail(term,
         "takes " + std::to_string(count) + " arguments, not " + std::to_string(term.args.size()));
    return false;
}

ValueRules::Value ValueRules::call(const Term& term, std::vector<Value> values)
{
    if (m_error) return {Expr(0), true};
    const auto bound = m_bindings.types.find(term.text);
    const auto fixed = parseDataType(term.text);
    if (fixed || bound != m_bindings.types.end()) {
        if (!hasCount(term, 1)) return {Expr(0), true};
        return conversion(fixed ? *fixed : bound->second, values[0], term);
    }
    const DefinedFunction* function = findDefinedFunction(term.text);
    const size_t count = function ? static_cast<size_t>(intrinsicArity(function->intrinsic))
                                  : (term.text == "clamp" ? 3 : 2);
    if (!hasCount(term, count)) return {Expr(0), true};
    unifyAll(values, term);
    if (m_error) return {Expr(0), true};
    const bool adapts = values[0].adapts;
    if (!function) {
        if (term.text == "clamp")
            return {minimum(maximum(values[0].expr, values[1].expr), values[2].expr), adapts};
        return {term.text == "min" ? minimum(values[0].expr, values[1].expr)
                                   : maximum(values[0].expr, values[1].expr),
                adapts};
    }
    return intrinsic(term, *function, std::move(values));
}

ValueRules::Value ValueRules::intrinsic(const Term& term, const DefinedFunction& function,
                                        std::vector<Value> values)
{
    const bool adapts = values[0].adapts;
    if (function.onlyFloats && adapts)
        for (Value& value : values) value = as(kFloat64, value, term);
    const DataType dtype = values[0].expr->dtype;
    if (m_error || (function.onlyFloats && !dtype.isFloat()))
        return fail(term, "is a function of floats, not of " + dtype.text());
    Exprs args;
    for (const Value& value : values) args.push_back(value.expr);
    const bool isTest =
        function.intrinsic == tir::Intrinsic::IsNan || function.intrinsic == tir::Intrinsic::IsInf;
    return {tir::call(function.intrinsic, isTest ? kBool : dtype, std::move(args)),
            adapts && !isTest};
}

} // namespace tenon::compiler
