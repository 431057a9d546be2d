// SPDX-License-Identifier: Apache-2.0
// Sizes as polynomials of dimensions, and the proof that a declaration stays inside its operands.
#include "compiler/ops/defined/meaning.h"

#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "core/base/text.h"
#include "core/ir/tir/access_check.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Evaluates sizes: numbers, dimensions and integer attributes under + - * // %, min and max.
class Sizes
{
public:
    Sizes(const Definition& definition, const DefinedBindings& bindings)
        : m_definition(definition)
        , m_bindings(bindings)
    {
    }

    Result<Dim> of(const Term& term) const
    {
        switch (term.kind) {
        case Term::Kind::Number:
            if (term.text.find_first_of(".e") != std::string::npos) break;
            return Dim(std::strtoll(term.text.c_str(), nullptr, 10));
        case Term::Kind::Name: return named(term);
        case Term::Kind::Read: return element(term);
        case Term::Kind::Operator:
        case Term::Kind::Call: return operation(term);
        default: break;
        }
        return bad(term, "is no size");
    }

private:
    Diagnostic bad(const Term& term, const std::string& what) const
    {
        return makeError(DiagnosticCode::BadText,
                         quoted(m_definition.name) + ": " + quoted(term.text) + " " + what,
                         {.detail = std::to_string(term.line) + ":" + std::to_string(term.column)});
    }

    Result<Dim> named(const Term& term) const
    {
        if (const auto dim = m_bindings.dims.find(term.text); dim != m_bindings.dims.end())
            return dim->second;
        const auto attr = m_bindings.attrs.find(term.text);
        if (attr != m_bindings.attrs.end())
            if (const auto* value = std::get_if<int64_t>(&attr->second)) return Dim(*value);
        return bad(term, "is no size");
    }

    Result<Dim> element(const Term& term) const
    {
        const auto attr = m_bindings.attrs.find(term.text);
        if (attr == m_bindings.attrs.end() || term.args.size() != 1) return bad(term, "is no size");
        const auto at = of(term.args[0]);
        if (!at) return at;
        const auto& list = std::get<std::vector<int64_t>>(attr->second);
        const int64_t index = at->constant().value_or(-1);
        if (index < 0 || index >= static_cast<int64_t>(list.size()))
            return bad(term, "has " + std::to_string(list.size()) + " elements, none of them " +
                                 at->text());
        return Dim(list[static_cast<size_t>(index)]);
    }

    Result<Dim> operation(const Term& term) const
    {
        std::vector<Dim> args;
        for (const Term& arg : term.args) {
            auto dim = of(arg);
            if (!dim) return dim;
            args.push_back(std::move(*dim));
        }
        if (args.size() == 1 && term.text == "-") return Dim(0) - args[0];
        if (args.size() != 2) return bad(term, "is no size");
        const auto a = args[0].constant(), b = args[1].constant();
        if (a && b) return constantOf(term, *a, *b);
        if (term.text == "+") return args[0] + args[1];
        if (term.text == "-") return args[0] - args[1];
        if (term.text == "*") return args[0] * args[1];
        if (term.text == "//" && b.value_or(1) != 0) return floorDiv(args[0], args[1]);
        return bad(term, "needs sizes that are known");
    }

    Result<Dim> constantOf(const Term& term, int64_t a, int64_t b) const
    {
        int64_t out = 0;
        const std::string& op = term.text;
        bool isTooLarge = false;
        if (op == "+")
            isTooLarge = __builtin_add_overflow(a, b, &out);
        else if (op == "-")
            isTooLarge = __builtin_sub_overflow(a, b, &out);
        else if (op == "*")
            isTooLarge = __builtin_mul_overflow(a, b, &out);
        else if (op == "min" || op == "max")
            out = op == "min" ? std::min(a, b) : std::max(a, b);
        else if ((op == "//" || op == "%") && b > 0)
            out = op == "//" ? (a - ((a % b + b) % b)) / b : (a % b + b) % b;
        else
            return bad(term,
                       "of " + std::to_string(a) + " and " + std::to_string(b) + " is no size");
        if (isTooLarge) return bad(term, "does not fit 64 bits");
        return Dim(out);
    }

    const Definition& m_definition;
    const DefinedBindings& m_bindings;
};

Result<Shape> shapeOf(const Definition& definition, const DefinedBindings& bindings,
                      const DeclaredTensor& tensor)
{
    const Sizes sizes(definition, bindings);
    Shape shape;
    for (const Term& term : tensor.shape) {
        if (term.kind == Term::Kind::Pack) {
            const auto pack = bindings.packs.find(term.text);
            if (pack == bindings.packs.end())
                return makeError(DiagnosticCode::BadText,
                                 quoted(term.text + "...") + " is no pack of an operand");
            shape.insert(shape.end(), pack->second.begin(), pack->second.end());
            continue;
        }
        auto dim = sizes.of(term);
        if (!dim) return dim.error();
        if (dim->constant().value_or(0) < 0)
            return opError(definition.name, DiagnosticCode::ShapeMismatch,
                           "gives " + quoted(tensor.name) + " a size of " + dim->text());
        shape.push_back(std::move(*dim));
    }
    return shape;
}

bool areConstant(std::span<const TensorType> types)
{
    return std::all_of(types.begin(), types.end(), [](const TensorType& type) {
        return constantShape(type.shape).has_value();
    });
}

/// Declares the node over placeholders and proves its accesses.
Status proveInside(const Definition& definition, const DefinedBindings& bindings, const OpView& op)
{
    te::Tensors in;
    for (size_t i = 0; i < op.operands.size(); ++i)
        in.push_back(te::placeholder(definition.operands[i].name, extents(op.operands[i].shape),
                                     op.operands[i].dtype));
    const auto out = declareDefined(definition, bindings, in);
    if (!out) return out.error();
    const auto function = te::createPrimFunc("defined", in, *out);
    if (!function) return function.error();
    const Status inside = tir::checkAccesses(*function);
    if (inside) return kDone;
    return opError(definition.name, DiagnosticCode::BadText,
                   "is not proven to stay inside its operands: " + inside.error().message +
                       "; guard it with `value if condition else other`, min, max or clamp");
}

} // namespace

namespace {

Result<DataType> dtypeOf(const DefinedBindings& bindings, const DeclaredTensor& tensor)
{
    if (const auto fixed = parseDataType(tensor.dtype)) return *fixed;
    const auto bound = bindings.types.find(tensor.dtype);
    if (bound != bindings.types.end()) return bound->second;
    return makeError(DiagnosticCode::BadText, "no operand tells what " + quoted(tensor.dtype) +
                                                  " of " + quoted(tensor.name) + " is");
}

} // namespace

Result<TensorType> definedType(const Definition& definition, const DefinedBindings& bindings,
                               const DeclaredTensor& tensor)
{
    const auto dtype = dtypeOf(bindings, tensor);
    if (!dtype) return dtype.error();
    auto shape = shapeOf(definition, bindings, tensor);
    if (!shape) return shape.error();
    return TensorType{*dtype, std::move(*shape)};
}

Result<Types> definedTypes(const Definition& definition, const OpView& op)
{
    const auto bindings = bindDefinition(definition, op);
    if (!bindings) return bindings.error();
    Types types;
    for (const DeclaredTensor& result : definition.results) {
        auto type = definedType(definition, *bindings, result);
        if (!type) return type.error();
        types.push_back(std::move(*type));
    }
    const bool isKnown = areConstant(op.operands) && areConstant(types);
    if (isKnown)
        for (const Term& requirement : definition.requirements)
            if (Status holds = checkRequirement(definition, *bindings, requirement); !holds)
                return holds.error();
    if (isKnown && definition.kind() != DefinedClass::Elementwise)
        if (Status inside = proveInside(definition, *bindings, op); !inside) return inside.error();
    return types;
}

} // namespace tenon::compiler
