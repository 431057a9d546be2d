// SPDX-License-Identifier: Apache-2.0
// Reading definitions: heads, bodies, and that everything they name is declared.
#include "compiler/ops/defined/functions.h"
#include "compiler/ops/defined/term_parser.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::TokenKind;

class DefinitionParser : public TermParser
{
public:
    explicit DefinitionParser(std::string_view text)
        : TermParser(tir::tokenize(text))
        , m_lines(split(std::string(text), '\n'))
    {
    }

    Result<std::vector<Definition>> run()
    {
        std::vector<Definition> out;
        while (!failed() && peek().kind != TokenKind::End) {
            if (acceptKind(TokenKind::Newline)) continue;
            out.push_back(definition());
            for (size_t i = 0; i + 1 < out.size(); ++i)
                if (out[i].name == out.back().name)
                    fail("operator " + quoted(out[i].name) +
                         " is declared twice, the second time above this");
        }
        if (failed()) return error();
        if (out.empty()) return makeError(DiagnosticCode::BadText, "no operator is declared");
        return out;
    }

private:
    Definition definition()
    {
        m_definition = {};
        m_known.clear();
        m_dims.clear();
        m_variables.clear();
        m_assigned.clear();
        const int first = m_lastLine = peek().line;
        expect("operator");
        m_definition.name = dottedName();
        expect("(");
        while (!failed() && !at(")")) {
            parameter();
            if (!accept(",")) break;
        }
        expect(")");
        expect("-");
        expect(">");
        expect("(");
        do {
            m_definition.results.push_back(tensor(declared("result")));
        } while (!failed() && accept(","));
        expect(")");
        expect(":");
        if (!acceptKind(TokenKind::Newline)) fail("expected a new line");
        if (!acceptKind(TokenKind::Indent)) fail("expected an indented body");
        while (!failed() && !acceptKind(TokenKind::Dedent)) line();
        checkComplete();
        for (int i = first; i <= m_lastLine && i <= static_cast<int>(m_lines.size()); ++i)
            m_definition.text += m_lines[static_cast<size_t>(i - 1)] + "\n";
        return std::move(m_definition);
    }

    std::string dottedName()
    {
        std::string out = name();
        while (accept(".")) out += "." + name();
        return out;
    }

    /// A name that nothing else has.
    std::string declared(const std::string& what)
    {
        std::string out = peek().text;
        if (findDefinedFunction(out) || findDefinedCombiner(out) || out == "clamp" ||
            out == "operator" || out == "definition" || parseDataType(out))
            fail("a " + what + " cannot be called " + quoted(out) + ", which has a meaning");
        if (!m_known.insert(out).second) fail(quoted(out) + " is declared twice");
        name();
        return out;
    }

    void parameter()
    {
        std::string called = declared("parameter");
        if (at(":") && peek(2).text != "[") {
            expect(":");
            return attr(std::move(called));
        }
        if (!m_definition.attrs.empty()) fail("tensors come before attributes");
        DeclaredTensor operand = tensor(std::move(called));
        for (const Term& dim : operand.shape) {
            if (dim.kind == Term::Kind::Name || dim.kind == Term::Kind::Pack) {
                if (m_known.contains(dim.text) && !m_dims.contains(dim.text))
                    fail("dimension " + quoted(dim.text) + " has another thing's name");
                m_dims.insert(dim.text);
                m_known.insert(dim.text);
            } else if (dim.kind != Term::Kind::Number) {
                fail("a dimension of an operand is a name, a number or a pack such as `S...`");
            }
        }
        if (std::count_if(operand.shape.begin(), operand.shape.end(),
                          [](const Term& dim) { return dim.kind == Term::Kind::Pack; }) > 1)
            fail("an operand has one pack of dimensions at most");
        m_definition.operands.push_back(std::move(operand));
    }

    void attr(std::string called)
    {
        DeclaredAttr out{std::move(called), name(), {}};
        if (out.type != "int" && out.type != "float" && out.type != "ints")
            return fail("an attribute is int, float or ints, and a tensor has its shape in "
                        "brackets");
        if (accept("=")) out.fallback = literal(out.type);
        m_definition.attrs.push_back(std::move(out));
    }

    AttrValue literal(const std::string& type)
    {
        if (type == "int") return integerLiteral();
        if (type == "float") {
            const bool isNegative = accept("-");
            if (peek().kind != TokenKind::Number) fail("expected a number");
            const double value = numberOf(take().text);
            return isNegative ? -value : value;
        }
        std::vector<int64_t> out;
        expect("[");
        while (!failed() && !at("]")) {
            out.push_back(integerLiteral());
            if (!accept(",")) break;
        }
        expect("]");
        return out;
    }

    static double numberOf(const std::string& digits)
    {
        return std::strtod(digits.c_str(), nullptr);
    }

    /// Behind its name: ": T[N, S...]".
    DeclaredTensor tensor(std::string called)
    {
        DeclaredTensor out{std::move(called), {}, {}};
        expect(":");
        out.dtype = name();
        if (!parseDataType(out.dtype)) m_variables.insert(out.dtype);
        expect("[");
        while (!failed() && !at("]")) {
            out.shape.push_back(expression());
            if (!accept(",")) break;
        }
        expect("]");
        return out;
    }

    void line()
    {
        if (acceptKind(TokenKind::Newline)) return;
        if (peek(1).text == "[") {
            assignment();
        } else if (accept("require")) {
            m_definition.requirements.push_back(expression());
            checkNames(m_definition.requirements.back(), {}, false);
        } else if (peek(1).text == ":" && peek(3).text == "[") {
            m_definition.parts.push_back(tensor(declared("tensor")));
        } else if (peek(1).text == ":") {
            typeVariable();
        } else {
            fail("expected `name[axes] = value`, `name: type[shape]`, `T: types` or `require`");
        }
        m_lastLine = peek().line;
        if (!acceptKind(TokenKind::Newline) && peek().kind != TokenKind::Dedent &&
            peek().kind != TokenKind::End)
            fail("expected the end of the line");
    }

    void typeVariable()
    {
        TypeVariable out{name(), {}};
        expect(":");
        do {
            const auto dtype = parseDataType(peek().text);
            if (!dtype || dtype->lanes != 1 || *dtype == kHandle)
                return fail("expected a data type");
            take();
            out.choices.push_back(*dtype);
        } while (!failed() && accept(","));
        m_definition.types.push_back(std::move(out));
    }

    void assignment()
    {
        Assignment out{name(), {}, {}};
        const DeclaredTensor* target = m_definition.findTarget(out.target);
        if (!target) return fail(quoted(out.target) + " is no result and no declared tensor");
        if (!m_assigned.insert(out.target).second)
            return fail(quoted(out.target) + " is assigned twice");
        expect("[");
        std::set<std::string> axes;
        while (!failed() && !at("]")) {
            Term axis = here(Term::Kind::Name, name());
            if (accept(".")) {
                expect(".");
                expect(".");
                axis.kind = Term::Kind::Pack;
            }
            if (m_known.contains(axis.text) || !axes.insert(axis.text).second)
                fail("axis " + quoted(axis.text) + " has the name of something else");
            out.axes.push_back(std::move(axis));
            if (!accept(",")) break;
        }
        expect("]");
        checkAxes(out, *target);
        expect("=");
        out.value = expression();
        m_assigned.erase(out.target); // it is not read by its own value
        checkNames(out.value, axes, true);
        m_assigned.insert(out.target);
        m_definition.assignments.push_back(std::move(out));
    }

    /// One axis for each dimension, and a pack for a pack.
    void checkAxes(const Assignment& assignment, const DeclaredTensor& target)
    {
        const auto isPack = [](const Term& term) { return term.kind == Term::Kind::Pack; };
        bool fits = assignment.axes.size() == target.shape.size();
        for (size_t i = 0; fits && i < target.shape.size(); ++i)
            fits = isPack(assignment.axes[i]) == isPack(target.shape[i]);
        if (!fits)
            fail("the axes of " + quoted(target.name) +
                 " are not those of its shape: one name for each dimension, `s...` for a pack");
    }

    bool isReadable(const std::string& called) const
    {
        if (const DeclaredAttr* attr = m_definition.findAttr(called)) return attr->type == "ints";
        if (!m_definition.findTensor(called)) return false;
        return m_assigned.contains(called) || !m_definition.findTarget(called);
    }

    /// Everything that an expression names is declared.
    void checkNames(const Term& term, const std::set<std::string>& axes, bool mayRead)
    {
        if (failed()) return;
        std::set<std::string> inner = axes;
        for (const Term::Range& range : term.ranges) {
            checkNames(range.extent[0], axes, false);
            if (m_known.contains(range.name) || !inner.insert(range.name).second)
                failAt(term, "axis " + quoted(range.name) + " has the name of something else");
        }
        const bool isName = term.kind == Term::Kind::Name || term.kind == Term::Kind::Pack;
        if (isName && !axes.contains(term.text) && !m_dims.contains(term.text) &&
            !m_definition.findAttr(term.text))
            failAt(term, quoted(term.text) + " is no axis, dimension or attribute" +
                             (m_definition.findTensor(term.text) ? "; give its indices in brackets"
                                                                 : ""));
        if (term.kind == Term::Kind::Read && !isReadable(term.text))
            failAt(term, quoted(term.text) +
                             " cannot be read here: no operand, and nothing that was "
                             "assigned before");
        if (term.kind == Term::Kind::Read && !mayRead && m_definition.findTensor(term.text))
            failAt(term, "the elements of " + quoted(term.text) + " are not known here");
        for (const Term& arg : term.args) checkNames(arg, inner, mayRead);
    }

    void checkComplete()
    {
        if (failed()) return;
        for (const auto* list : {&m_definition.results, &m_definition.parts})
            for (const DeclaredTensor& tensor : *list) {
                if (!m_assigned.contains(tensor.name))
                    return failAt(m_lastLine, 1,
                                  quoted(tensor.name) + " of operator " +
                                      quoted(m_definition.name) + " is never assigned");
                for (const Term& dim : tensor.shape) checkNames(dim, {}, false);
            }
        for (const auto* list :
             {&m_definition.operands, &m_definition.results, &m_definition.parts})
            for (const DeclaredTensor& tensor : *list) {
                const bool isVariable =
                    std::any_of(m_definition.types.begin(), m_definition.types.end(),
                                [&](const TypeVariable& v) { return v.name == tensor.dtype; });
                if (!isVariable && !parseDataType(tensor.dtype))
                    return failAt(m_lastLine, 1,
                                  quoted(tensor.dtype) + " of " + quoted(tensor.name) +
                                      " is no data type; say what it may be, as in `" +
                                      tensor.dtype + ": float16, float32`");
            }
    }

    std::vector<std::string> m_lines;
    Definition m_definition;
    std::set<std::string> m_dims;
    std::set<std::string> m_assigned;
    int m_lastLine = 0;
};

} // namespace

Result<std::vector<Definition>> parseDefinitions(std::string_view text)
{
    return DefinitionParser(text).run();
}

} // namespace tenon::compiler
