// SPDX-License-Identifier: Apache-2.0
// What kind of operator a definition declares.
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
        if (term.kind == Term::Kind::Read) {
            const bool isAttr = std::any_of(attrs.begin(), attrs.end(), [&](const auto& attr) {
                return attr.name == term.text;
            });
            return !isAttr && !isLonePack(term.args, axes[0].text);
        }
        return false;
    };
    return anyTerm(assignments[0].value, isElsewhere) ? DefinedClass::Injective
                                                      : DefinedClass::Elementwise;
}

} // namespace tenon::compiler
