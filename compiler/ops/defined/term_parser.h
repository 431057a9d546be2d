// SPDX-License-Identifier: Apache-2.0
// Reading the expressions of definitions.
#pragma once

#include "compiler/ops/defined/definition.h"
#include "core/ir/tir/token_cursor.h"

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Recursive descent over the tokens of the loop IR's text.
class TermParser : public tir::TokenCursor
{
protected:
    using TokenCursor::TokenCursor;

    /// VALUE if CONDITION else OTHER, or what binds more tightly.
    Term expression();
    Term here(Term::Kind kind, std::string text) const;
    using TokenCursor::failAt;
    void failAt(const Term& term, const std::string& message);

    std::set<std::string> m_known;     ///< parameters, results, parts and dimensions
    std::set<std::string> m_variables; ///< of types, as far as they were seen

private:
    using Level = Term (TermParser::*)();
    Term leftToRight(std::initializer_list<const char*> symbols, Level next);
    Term disjunction() { return leftToRight({"or"}, &TermParser::conjunction); }
    Term conjunction() { return leftToRight({"and"}, &TermParser::negation); }
    Term negation();
    Term comparison();
    Term sum() { return leftToRight({"+", "-"}, &TermParser::product); }
    Term product() { return leftToRight({"*", "//", "/", "%"}, &TermParser::factor); }
    Term factor();
    Term atom();
    void arguments(Term& out, const char* close);
    bool atRange() const; ///< "k < K", where k is no name yet
    void call(Term& out);
    void reduction(Term& out);

    int m_depth = 0;
    int m_operations = 0; ///< of the whole expression
};

} // namespace tenon::compiler
