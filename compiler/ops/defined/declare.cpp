// SPDX-License-Identifier: Apache-2.0
// From a definition's assignments to compute declarations: one tensor for each, and one for each
// sum inside a larger value.
#include "compiler/ops/defined/value_rules.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <cerrno>
#include <unordered_set>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Var;

struct Axis
{
    Var var;
    Expr extent;
};

class Declarer : ValueRules
{
public:
    Declarer(const Definition& definition, const DefinedBindings& bindings)
        : ValueRules(definition, bindings)
    {
    }

    Result<te::Tensors> run(const te::Tensors& in)
    {
        for (size_t i = 0; i < in.size(); ++i) {
            m_tensors[m_definition.operands[i].name] = in[i];
            notePack(m_definition.operands[i], in[i]->shape());
        }
        for (const Assignment& assignment : m_definition.assignments) assign(assignment);
        if (m_error) return *m_error;
        te::Tensors out;
        for (const DeclaredTensor& result : m_definition.results)
            out.push_back(m_tensors.at(result.name));
        return out;
    }

    /// A condition on sizes and attributes; nothing where they are not known.
    Result<bool> holds(const Term& term)
    {
        const Value value = evaluate(term);
        if (m_error) return *m_error;
        if (!value.expr->dtype.isBool()) return badValue(term, "is no condition");
        if (value.expr->kind != ExprKind::IntImm) return badValue(term, "is not known");
        return value.expr->integer != 0;
    }

private:
    /// Extents of a pack as the operand has them: symbols, where a value needs no numbers.
    void notePack(const DeclaredTensor& operand, const Exprs& shape)
    {
        for (size_t i = 0; i < operand.shape.size(); ++i) {
            const Term& term = operand.shape[i];
            if (term.kind != Term::Kind::Pack) continue;
            const auto first = shape.begin() + static_cast<std::ptrdiff_t>(i);
            const auto count = static_cast<std::ptrdiff_t>(m_bindings.packs.at(term.text).size());
            m_packs.try_emplace(term.text, first, first + count);
        }
    }

    void assign(const Assignment& assignment)
    {
        if (m_error) return;
        const DeclaredTensor& target = *m_definition.findTarget(assignment.target);
        const auto type = definedType(m_definition, m_bindings, target);
        if (!type) {
            m_error = type.error();
            return;
        }
        m_scope.clear();
        m_axes.clear();
        m_target = assignment.target;
        Exprs shape;
        size_t at = 0;
        for (size_t i = 0; i < target.shape.size(); ++i) {
            const Exprs axisExtents = extentsOf(target.shape[i], type->shape, at);
            at += axisExtents.size();
            addAxes(assignment.axes[i].text, axisExtents);
            shape.insert(shape.end(), axisExtents.begin(), axisExtents.end());
        }
        const Value value = as(type->dtype, evaluate(assignment.value), assignment.value);
        if (m_error) return;
        m_tensors[assignment.target] = tensorOf(assignment.target, shape, value.expr);
    }

    /// Of one term of a shape: a pack's as its operand has them, else the next of the type's.
    Exprs extentsOf(const Term& term, const Shape& shape, size_t at) const
    {
        if (term.kind == Term::Kind::Pack) return m_packs.at(term.text);
        return extents({shape[at]});
    }

    void addAxes(const std::string& name, const Exprs& axisExtents)
    {
        Exprs& vars = m_scope[name];
        vars.clear();
        for (size_t i = 0; i < axisExtents.size(); ++i) {
            const Var var = tir::makeVar(axisExtents.size() == 1 ? name : name + std::to_string(i));
            m_axes.push_back({var, axisExtents[i]});
            vars.emplace_back(var);
        }
    }

    /// The tensor of a value over the axes in scope; a value that is a whole sum is the sum.
    te::TensorRef tensorOf(const std::string& name, const Exprs& shape, const Expr& value)
    {
        if (value->kind == ExprKind::Load && !m_sums.empty() &&
            value->buffer == m_sums.back()->buffer && value->args.size() == m_axes.size()) {
            bool isWhole = true;
            for (size_t i = 0; i < m_axes.size(); ++i)
                isWhole = isWhole && value->args[i]->kind == ExprKind::VarRef &&
                          value->args[i]->var == m_axes[i].var;
            if (isWhole) return m_sums.back();
        }
        const std::vector<Axis> axes = m_axes;
        return te::compute(name, shape,
                           [&](const Exprs& i) {
                               tir::VarMap map;
                               for (size_t a = 0; a < axes.size(); ++a)
                                   map.emplace(axes[a].var.get(), i[a]);
                               return substitute(value, map);
                           },
                           m_definition.kind() == DefinedClass::Elementwise ? "elemwise"
                                                                            : "injective",
                           {{"axis_names", namesOf(axes)}});
    }

    static std::vector<std::string> namesOf(const std::vector<Axis>& axes)
    {
        std::vector<std::string> names;
        for (const Axis& axis : axes) names.push_back(axis.var->name);
        return names;
    }

    Value evaluate(const Term& term)
    {
        if (m_error) return {Expr(0), true};
        switch (term.kind) {
        case Term::Kind::Number: return number(term);
        case Term::Kind::Name: return named(term);
        case Term::Kind::Pack: return fail(term, "... stands for several axes; only indices may");
        case Term::Kind::Read: return read(term);
        case Term::Kind::Call: return call(term, valuesOf(term));
        case Term::Kind::Operator: return operation(term, valuesOf(term));
        case Term::Kind::Choice: return choice(term);
        case Term::Kind::Reduction: return reduction(term);
        }
        return {};
    }

    static Value ofAttr(const AttrValue& value)
    {
        if (const auto* integer = std::get_if<int64_t>(&value)) return {Expr(*integer), true};
        return {tir::floatImm(std::get<double>(value), kFloat64), true};
    }

    Value number(const Term& term)
    {
        if (term.text.find_first_of(".e") != std::string::npos)
            return {tir::floatImm(std::strtod(term.text.c_str(), nullptr), kFloat64), true};
        errno = 0;
        const int64_t value = std::strtoll(term.text.c_str(), nullptr, 10);
        if (errno != 0) return fail(term, "does not fit 64 bits");
        return {Expr(value), true};
    }

    Value named(const Term& term)
    {
        if (const auto axis = m_scope.find(term.text); axis != m_scope.end())
            return axis->second.size() == 1 ? Value{axis->second[0]}
                                            : fail(term, "stands for several axes");
        if (const auto attr = m_bindings.attrs.find(term.text); attr != m_bindings.attrs.end()) {
            if (std::holds_alternative<std::vector<int64_t>>(attr->second))
                return fail(term, "is a list; give an index in brackets");
            return ofAttr(attr->second);
        }
        if (const auto dim = m_bindings.dims.find(term.text); dim != m_bindings.dims.end())
            if (const auto size = dim->second.constant()) return {Expr(*size), true};
        return fail(term, "is not known here");
    }

    Exprs indicesOf(const Term& term)
    {
        Exprs indices;
        for (const Term& arg : term.args) {
            if (arg.kind == Term::Kind::Pack) {
                const auto axes = m_scope.find(arg.text);
                if (axes == m_scope.end()) {
                    fail(arg, "is no axis");
                    return {};
                }
                indices.insert(indices.end(), axes->second.begin(), axes->second.end());
                continue;
            }
            const Value index = evaluate(arg);
            if (m_error) return {};
            if (!index.expr->dtype.isInt() || index.expr->dtype.isBool()) {
                fail(arg, "is " + index.expr->dtype.text() + "; an index is an integer");
                return {};
            }
            indices.push_back(index.expr->dtype == kInt64 ? index.expr
                                                          : tir::cast(kInt64, index.expr));
        }
        return indices;
    }

    Value read(const Term& term)
    {
        const Exprs indices = indicesOf(term);
        if (m_error) return {Expr(0), true};
        if (const auto attr = m_bindings.attrs.find(term.text); attr != m_bindings.attrs.end()) {
            const auto& list = std::get<std::vector<int64_t>>(attr->second);
            const bool isOne = indices.size() == 1 && indices[0]->kind == ExprKind::IntImm &&
                               indices[0]->integer >= 0 &&
                               indices[0]->integer < static_cast<int64_t>(list.size());
            if (!isOne)
                return fail(term, "is a list of " + std::to_string(list.size()) +
                                      "; its index must be a number inside");
            return {Expr(list[static_cast<size_t>(indices[0]->integer)]), true};
        }
        const te::TensorRef& tensor = m_tensors.at(term.text);
        if (indices.size() != tensor->shape().size())
            return fail(term, "has " + std::to_string(tensor->shape().size()) +
                                  " dimensions and is read with " + std::to_string(indices.size()) +
                                  " indices");
        return {te::at(tensor, indices)};
    }

    std::vector<Value> valuesOf(const Term& term)
    {
        std::vector<Value> values;
        for (const Term& arg : term.args) values.push_back(evaluate(arg));
        return values;
    }

    Value choice(const Term& term)
    {
        const Value condition = evaluate(term.args[0]);
        Value then = evaluate(term.args[1]), other = evaluate(term.args[2]);
        if (m_error) return {Expr(0), true};
        if (!condition.expr->dtype.isBool())
            return fail(term, "needs a condition, not " + condition.expr->dtype.text());
        unify(then, other, term);
        if (m_error) return {Expr(0), true};
        if (condition.expr->kind == ExprKind::IntImm)
            return condition.expr->integer != 0 ? then : other;
        return {tir::call(tir::Intrinsic::IfThenElse, then.expr->dtype,
                          {condition.expr, then.expr, other.expr}),
                then.adapts};
    }

    /// A tensor of its own over those axes in scope that its value depends on.
    Value reduction(const Term& term)
    {
        const size_t outer = m_axes.size();
        for (const Term::Range& range : term.ranges) {
            const Value extent = evaluate(range.extent[0]);
            if (m_error) return {Expr(0), true};
            if (extent.expr->kind != ExprKind::IntImm || extent.expr->integer < 0)
                return fail(range.extent[0], "is no number of steps");
            addAxes(range.name, {extent.expr});
        }
        const Value value = evaluate(term.args[0]);
        const std::vector<Axis> reduced(m_axes.begin() + static_cast<std::ptrdiff_t>(outer),
                                        m_axes.end());
        m_axes.resize(outer);
        for (const Term::Range& range : term.ranges) m_scope.erase(range.name);
        if (m_error) return {Expr(0), true};
        if (value.adapts)
            return fail(term, "adds numbers without a type; say which, as in float32(1)");
        const te::Combiner combiner = findDefinedCombiner(term.text)->combiner;
        const bool isLogic = combiner == te::Combiner::All || combiner == te::Combiner::Any;
        if (isLogic != value.expr->dtype.isBool())
            return fail(term, isLogic ? "takes conditions" : "takes numbers");
        std::unordered_set<const tir::VarNode*> read;
        tir::visitExprs(value.expr, [&](const Expr& expr) {
            if (expr->kind == ExprKind::VarRef) read.insert(expr->var.get());
            return true;
        });
        std::vector<Axis> kept;
        for (const Axis& axis : m_axes)
            if (read.contains(axis.var.get())) kept.push_back(axis);
        m_sums.push_back(sumOver(kept, reduced, combiner, value.expr));
        Exprs at;
        for (const Axis& axis : kept) at.emplace_back(axis.var);
        return {te::at(m_sums.back(), at)};
    }

    te::TensorRef sumOver(const std::vector<Axis>& kept, const std::vector<Axis>& reduced,
                          te::Combiner combiner, const Expr& value) const
    {
        Exprs shape, over;
        std::vector<Axis> all = kept;
        all.insert(all.end(), reduced.begin(), reduced.end());
        for (const Axis& axis : kept) shape.push_back(axis.extent);
        for (const Axis& axis : reduced) over.push_back(axis.extent);
        return te::reduce(m_target, shape, over, combiner,
                          [&](const Exprs& i, const Exprs& k) {
                              tir::VarMap map;
                              for (size_t a = 0; a < kept.size(); ++a)
                                  map.emplace(kept[a].var.get(), i[a]);
                              for (size_t a = 0; a < reduced.size(); ++a)
                                  map.emplace(reduced[a].var.get(), k[a]);
                              return substitute(value, map);
                          },
                          "reduce", {{"axis_names", namesOf(all)}});
    }

    std::map<std::string, te::TensorRef> m_tensors;
    std::map<std::string, Exprs> m_packs; ///< extents
    std::map<std::string, Exprs> m_scope; ///< axes by name
    std::vector<Axis> m_axes;             ///< the same in order, from outside to inside
    te::Tensors m_sums;                   ///< read by what was declared last
    std::string m_target;
};

} // namespace

Result<te::Tensors> declareDefined(const Definition& definition, const DefinedBindings& bindings,
                                   const te::Tensors& in)
{
    return Declarer(definition, bindings).run(in);
}

Status checkRequirement(const Definition& definition, const DefinedBindings& bindings,
                        const Term& requirement)
{
    const auto holds = Declarer(definition, bindings).holds(requirement);
    if (!holds) return holds.error();
    if (*holds) return kDone;
    const std::vector<std::string> lines = split(definition.text, '\n');
    std::string sizes;
    for (const auto& [name, dim] : bindings.dims) sizes += ", " + name + " = " + dim.text();
    const auto line = static_cast<size_t>(std::max(requirement.line, 1)) - 1;
    const std::string words = line < lines.size() ? std::string(trimmed(lines[line])) : "";
    return makeError(DiagnosticCode::BadAttribute,
                     "operator " + quoted(definition.name) + ": " + quoted(words) +
                         " does not hold" + (sizes.empty() ? "" : ", where" + sizes.substr(1)));
}

} // namespace tenon::compiler
