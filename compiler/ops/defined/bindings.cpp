// SPDX-License-Identifier: Apache-2.0
// Matching a node's operands and attributes with what a definition declares.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/defined/meaning.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

std::string choicesText(const std::vector<DataType>& choices)
{
    std::vector<std::string> names;
    for (const DataType choice : choices) names.push_back(choice.text());
    return join(names, ", ");
}

class Binder
{
public:
    Binder(const Definition& definition, const OpView& op)
        : m_definition(definition)
        , m_op(op)
    {
    }

    Result<DefinedBindings> run()
    {
        const size_t wanted = m_definition.operands.size();
        if (m_op.operands.size() != wanted)
            return opError(m_definition.name, DiagnosticCode::BadOperandCount,
                           "takes " + std::to_string(wanted) + " operands but got " +
                               std::to_string(m_op.operands.size()));
        for (size_t i = 0; i < wanted; ++i)
            if (Status bound = bindOperand(m_definition.operands[i], m_op.operands[i]); !bound)
                return bound.error();
        for (const DeclaredAttr& attr : m_definition.attrs)
            if (Status bound = bindAttr(attr); !bound) return bound.error();
        if (Status known = checkKnown(); !known) return known.error();
        return std::move(m_out);
    }

private:
    Status checkKnown() const
    {
        for (const auto& [name, value] : m_op.attrs.entries())
            if (!m_out.attrs.contains(name) && name != kDefinitionAttr && name != kOperatorAttr)
                return opError(m_definition.name, DiagnosticCode::BadAttribute,
                               "declares no attribute " + quoted(name));
        return kDone;
    }

    Diagnostic mismatch(const DeclaredTensor& operand, DiagnosticCode code,
                        const std::string& what) const
    {
        return opError(m_definition.name, code, "operand " + quoted(operand.name) + " " + what);
    }

    Status bindType(const DeclaredTensor& operand, DataType dtype)
    {
        const auto isNot = [&](const std::string& wanted) {
            return mismatch(operand, DiagnosticCode::UnsupportedDtype,
                            "is " + dtype.text() + "; it must be " + wanted);
        };
        if (const auto fixed = parseDataType(operand.dtype))
            return dtype == *fixed ? kDone : Status(isNot(fixed->text()));
        const auto variable =
            std::find_if(m_definition.types.begin(), m_definition.types.end(),
                         [&](const TypeVariable& v) { return v.name == operand.dtype; });
        const std::vector<DataType>& choices = variable->choices;
        if (std::find(choices.begin(), choices.end(), dtype) == choices.end())
            return isNot(choicesText(choices));
        const auto [bound, isNew] = m_out.types.emplace(operand.dtype, dtype);
        return isNew || bound->second == dtype ? kDone : Status(isNot(bound->second.text()));
    }

    Status bindDim(const DeclaredTensor& operand, const Term& term, const Dim& dim)
    {
        const auto isNot = [&](const Dim& wanted) {
            return mismatch(operand, DiagnosticCode::ShapeMismatch,
                            "has the size " + dim.text() + " where `" + term.text + "` is " +
                                wanted.text());
        };
        if (term.kind == Term::Kind::Number) {
            const Dim wanted(std::strtoll(term.text.c_str(), nullptr, 10));
            return dim == wanted ? kDone : Status(isNot(wanted));
        }
        const auto [bound, isNew] = m_out.dims.emplace(term.text, dim);
        return isNew || bound->second == dim ? kDone : Status(isNot(bound->second));
    }

    Status bindPack(const DeclaredTensor& operand, const Term& term, Shape shape)
    {
        const auto [bound, isNew] = m_out.packs.emplace(term.text, shape);
        if (isNew || bound->second == shape) return kDone;
        return mismatch(operand, DiagnosticCode::ShapeMismatch,
                        "has the sizes " + shapeText(shape) + " where `" + term.text + "...` is " +
                            shapeText(bound->second));
    }

    Status bindOperand(const DeclaredTensor& operand, const TensorType& type)
    {
        if (type.dtype == kHandle)
            return mismatch(operand, DiagnosticCode::BadOperandCount, "is missing");
        if (Status bound = bindType(operand, type.dtype); !bound) return bound;
        const auto pack =
            std::find_if(operand.shape.begin(), operand.shape.end(),
                         [](const Term& term) { return term.kind == Term::Kind::Pack; });
        const bool hasPack = pack != operand.shape.end();
        const size_t single = operand.shape.size() - (hasPack ? 1 : 0);
        if (type.shape.size() < single || (!hasPack && type.shape.size() > single))
            return mismatch(operand, DiagnosticCode::ShapeMismatch,
                            "has the shape " + shapeText(type.shape) + "; it must have " +
                                (hasPack ? "at least " : "") + std::to_string(single) +
                                " dimensions");
        const size_t packed = type.shape.size() - single;
        size_t at = 0;
        for (const Term& term : operand.shape) {
            const size_t taken = term.kind == Term::Kind::Pack ? packed : 1;
            const auto first = type.shape.begin() + static_cast<std::ptrdiff_t>(at);
            const Status bound =
                term.kind == Term::Kind::Pack
                    ? bindPack(operand, term, {first, first + static_cast<std::ptrdiff_t>(taken)})
                    : bindDim(operand, term, *first);
            if (!bound) return bound;
            at += taken;
        }
        return kDone;
    }

    Status bindAttr(const DeclaredAttr& attr)
    {
        const AttrValue* given = m_op.attrs.find(attr.name);
        if (!given && !attr.fallback)
            return opError(m_definition.name, DiagnosticCode::BadAttribute,
                           "needs the attribute " + quoted(attr.name) + " (" + attr.type + ")");
        const AttrValue value = given ? *given : *attr.fallback;
        const bool fits = attr.type == "ints"
                              ? std::holds_alternative<std::vector<int64_t>>(value)
                              : std::holds_alternative<int64_t>(value) ||
                                    (attr.type == "float" && std::holds_alternative<double>(value));
        if (!fits)
            return opError(m_definition.name, DiagnosticCode::BadAttribute,
                           "attribute " + quoted(attr.name) + " is " + attrText(value) +
                               "; it must be " + attr.type);
        m_out.attrs.emplace(attr.name, value);
        return kDone;
    }

    const Definition& m_definition;
    const OpView& m_op;
    DefinedBindings m_out;
};

} // namespace

Result<DefinedBindings> bindDefinition(const Definition& definition, const OpView& op)
{
    return Binder(definition, op).run();
}

} // namespace tenon::compiler
