// SPDX-License-Identifier: Apache-2.0
// What kind of operator a definition declares, and what it declares by name.
#include "compiler/ops/defined/definition.h"

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

bool anyTerm(const Term& term, const std::function<bool(const Term&)>& has)
{
    return has(term) || std::any_of(term.args.begin(), term.args.end(),
                                    [&](const Term& arg) { return anyTerm(arg, has); });
}

bool isLonePack(const std::vector<Term>& terms, const std::string& name)
{
    return terms.size() == 1 && terms[0].kind == Term::Kind::Pack && terms[0].text == name;
}

template <typename Declared>
const Declared* named(const std::vector<Declared>& list, std::string_view name)
{
    const auto found = std::find_if(
        list.begin(), list.end(), [&](const Declared& declared) { return declared.name == name; });
    return found == list.end() ? nullptr : &*found;
}

} // namespace

DefinedClass Definition::kind() const
{
    const bool reduces =
        std::any_of(assignments.begin(), assignments.end(), [](const Assignment& assignment) {
            return anyTerm(assignment.value,
                           [](const Term& t) { return t.kind == Term::Kind::Reduction; });
        });
    if (reduces || assignments.size() > 1) return DefinedClass::Reduction;
    const std::vector<Term>& shape = results[0].shape;
    const std::vector<Term>& axes = assignments[0].axes;
    const bool isLone = shape.size() == 1 && shape[0].kind == Term::Kind::Pack &&
                        axes.size() == 1 && axes[0].kind == Term::Kind::Pack;
    if (!isLone || !requirements.empty() || operands.empty()) return DefinedClass::Injective;
    for (const DeclaredTensor& operand : operands)
        if (!isLonePack(operand.shape, shape[0].text)) return DefinedClass::Injective;
    const auto isElsewhere = [&](const Term& term) {
        return term.kind == Term::Kind::Read && !findAttr(term.text) &&
               !isLonePack(term.args, axes[0].text);
    };
    return anyTerm(assignments[0].value, isElsewhere) ? DefinedClass::Injective
                                                      : DefinedClass::Elementwise;
}

const DeclaredTensor* Definition::findTarget(std::string_view called) const
{
    const DeclaredTensor* result = named(results, called);
    return result ? result : named(parts, called);
}

const DeclaredTensor* Definition::findTensor(std::string_view called) const
{
    const DeclaredTensor* operand = named(operands, called);
    return operand ? operand : findTarget(called);
}

const DeclaredAttr* Definition::findAttr(std::string_view called) const
{
    return named(attrs, called);
}

} // namespace tenon::compiler
