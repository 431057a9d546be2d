// SPDX-License-Identifier: Apache-2.0
// user.elementwise, user.injective, user.reduction: operators that a file declares. A node carries
// its definition, so that a module means the same wherever it goes.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/defined/meaning.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

Result<Definition> definitionOf(const OpView& op)
{
    auto definitions = parseDefinitions(stringAttr(op, kDefinitionAttr));
    if (!definitions) return definitions.error();
    if (definitions->size() != 1)
        return opError(op, DiagnosticCode::BadAttribute, "needs one definition");
    return std::move(definitions->front());
}

Result<Types> infer(const OpView& op)
{
    const auto definition = definitionOf(op);
    if (!definition) return definition.error();
    if (userOperatorName(definition->kind()) != op.op)
        return opError(op, DiagnosticCode::BadAttribute,
                       "has the definition of a " +
                           std::string(userOperatorName(definition->kind())));
    return definedTypes(*definition, op);
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto definition = definitionOf(op);
    if (!definition) return definition.error();
    const auto bindings = bindDefinition(*definition, op);
    if (!bindings) return bindings.error();
    return declareDefined(*definition, *bindings, in);
}

constexpr OperandSpec kOperands[] = {
    {"x", "as the definition declares them", OperandSpec::Variadic}};
constexpr AttrSpec kAttrs[] = {
    {kDefinitionAttr, "string", "the text of the definition, see resources/manual/extend.md"},
    {kOperatorAttr, "string", "its name, with its domain"},
    {"*", "any", "the attributes that the definition declares", "\"\""}};

constexpr OpDef defined(DefinedClass kind, std::string_view doc, Family family, Pattern pattern,
                        std::string_view example)
{
    return {.name = userOperatorName(kind),
            .doc = doc,
            .family = family,
            .operands = kOperands,
            .attrs = kAttrs,
            .pattern = pattern,
            .infer = infer,
            .lower = lower,
            .example = example};
}

} // namespace

extern constinit const OpDef userElementwiseOp =
    defined(DefinedClass::Elementwise, "each element of the result by the same one of the operands",
            Family::Elementwise, Pattern::Elementwise,
            "%x: Tensor[(2, 8), float32] => user.elementwise(%x, alpha=2f, definition=\"operator "
            "my.Swish(x: "
            "T[S...], alpha: float = 1.0) -> (y: T[S...]):\\n    T: float16, float32\\n    y[s...] "
            "= x[s...] "
            "/ (1 + exp(-alpha * x[s...]))\\n\", operator=\"my.Swish\")");

extern constinit const OpDef userInjectiveOp = defined(
    DefinedClass::Injective, "each element of the result by some elements of the operands",
    Family::Movement, Pattern::Injective,
    "%x: Tensor[(2, 8), float32] => user.injective(%x, definition=\"operator my.Shift(x: "
    "float32[N, C]) -> (y: float32[N, C]):\\n    y[n, c] = x[n, c - 1] if c > 0 else 0\\n\", "
    "operator=\"my.Shift\")");

extern constinit const OpDef userReductionOp = defined(
    DefinedClass::Reduction, "sums, products, least and greatest values over axes",
    Family::Reduction, Pattern::OutEwiseFusable,
    "%x: Tensor[(2, 8), float32] => user.reduction(%x, definition=\"operator my.Norm(x: "
    "float32[S..., "
    "K]) -> (y: float32[S..., K]):\\n    y[s..., k] = x[s..., k] / sqrt(sum(j < K, x[s..., j] * "
    "x[s..., j]) + 0.001)\\n\", operator=\"my.Norm\")");

} // namespace tenon::compiler
