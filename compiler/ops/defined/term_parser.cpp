// SPDX-License-Identifier: Apache-2.0
// Expressions of definitions, by descending precedence.
#include "compiler/ops/defined/term_parser.h"

#include "compiler/ops/defined/functions.h"
#include "core/base/text.h"
#include "core/tensor/dtype.h"

namespace tenon::compiler {
namespace {

using tir::TokenKind;

constexpr int kDeepest = 200;         ///< of nested brackets: each level is a call of the parser
constexpr int kMostOperations = 2000; ///< of a value: each may be a level of its tree

Term operation(std::string symbol, std::vector<Term> args)
{
    Term out{.kind = Term::Kind::Operator, .text = std::move(symbol)};
    out.line = args[0].line;
    out.column = args[0].column;
    out.args = std::move(args);
    return out;
}

} // namespace

void TermParser::failAt(const Term& term, const std::string& message)
{
    failAt(term.line, term.column, message);
}

Term TermParser::here(Term::Kind kind, std::string text) const
{
    return {.kind = kind, .text = std::move(text), .line = peek().line, .column = peek().column};
}

Term TermParser::expression()
{
    if (m_depth == 0) m_operations = 0;
    if (++m_depth > kDeepest) fail("brackets are nested too deeply");
    Term value = disjunction();
    if (accept("if")) {
        Term choice = here(Term::Kind::Choice, "if");
        Term condition = disjunction();
        expect("else");
        Term other = expression();
        choice.args = {std::move(condition), std::move(value), std::move(other)};
        value = std::move(choice);
    }
    --m_depth;
    return value;
}

Term TermParser::leftToRight(std::initializer_list<const char*> symbols, Level next)
{
    Term left = (this->*next)();
    for (bool found = true; found && !failed();) {
        found = false;
        for (const char* symbol : symbols) {
            if (found || !accept(symbol)) continue;
            if (++m_operations > kMostOperations) fail("the expression is too long");
            Term right = (this->*next)();
            left = operation(symbol, {std::move(left), std::move(right)});
            found = true;
        }
    }
    return left;
}

Term TermParser::negation()
{
    if (!accept("not")) return comparison();
    return operation("not", {comparison()});
}

Term TermParser::comparison()
{
    Term left = sum();
    for (const char* symbol : {"==", "!=", "<=", ">=", "<", ">"})
        if (accept(symbol)) return operation(symbol, {std::move(left), sum()});
    return left;
}

Term TermParser::factor()
{
    if (++m_depth > kDeepest) fail("signs are nested too deeply");
    Term out = accept("-") ? operation("-", {factor()}) : atom();
    --m_depth;
    return out;
}

Term TermParser::atom()
{
    if (accept("(")) {
        Term inner = expression();
        expect(")");
        return inner;
    }
    if (peek().kind == TokenKind::Number) {
        Term out = here(Term::Kind::Number, peek().text);
        take();
        return out;
    }
    Term out = here(Term::Kind::Name, name());
    if (accept(".")) {
        expect(".");
        expect(".");
        out.kind = Term::Kind::Pack;
    } else if (accept("[")) {
        out.kind = Term::Kind::Read;
        arguments(out, "]");
    } else if (accept("(")) {
        call(out);
    }
    return out;
}

void TermParser::arguments(Term& out, const char* close)
{
    while (!failed() && !at(close)) {
        out.args.push_back(expression());
        if (!accept(",")) break;
    }
    expect(close);
}

bool TermParser::atRange() const
{
    return peek().kind == TokenKind::Name && peek(1).text == "<" && !m_known.contains(peek().text);
}

/// Behind the bracket: "a, b)".
void TermParser::call(Term& out)
{
    if (findDefinedCombiner(out.text) && atRange()) return reduction(out);
    const bool isKnown = findDefinedFunction(out.text) || out.text == "min" || out.text == "max" ||
                         out.text == "clamp" || parseDataType(out.text) ||
                         m_variables.contains(out.text);
    if (!isKnown) return failAt(out, quoted(out.text) + " is no function");
    out.kind = Term::Kind::Call;
    arguments(out, ")");
}

/// Behind the bracket: "k < K, r < R, value)".
void TermParser::reduction(Term& out)
{
    out.kind = Term::Kind::Reduction;
    while (!failed() && atRange()) {
        Term::Range range{name(), {}};
        expect("<");
        range.extent.push_back(sum());
        out.ranges.push_back(std::move(range));
        expect(",");
    }
    out.args.push_back(expression());
    expect(")");
}

} // namespace tenon::compiler
