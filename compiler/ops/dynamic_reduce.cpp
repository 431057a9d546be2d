// SPDX-License-Identifier: Apache-2.0
// dynamic_reduce: a reduction over axes that are known when it runs.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const size_t rank = data.shape.size();
    const auto sizes = sizesAttr(op);
    if (!sizes || sizes->size() != 2 * rank)
        return opError(op, DiagnosticCode::BadAttribute,
                       "needs in sizes the result's shape and the steps of each axis of " +
                           data.text());
    const std::string how = stringAttr(op, "combiner");
    if ((how == "all" || how == "any") != data.dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       "cannot combine " + data.text() + " by " + how);
    return Types{
        {data.dtype, Shape(sizes->begin(), sizes->begin() + static_cast<std::ptrdiff_t>(rank))}};
}

te::Combiner combinerOf(const std::string& how)
{
    if (how == "all") return te::Combiner::All;
    if (how == "any") return te::Combiner::Any;
    if (how == "max") return te::Combiner::Max;
    if (how == "min") return te::Combiner::Min;
    return how == "prod" ? te::Combiner::Product : te::Combiner::Sum;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Exprs sizes = extents(*sizesAttr(op));
    const auto rank = static_cast<std::ptrdiff_t>(in[0]->shape().size());
    return te::Tensors{te::reduce(
        "dynamic_reduce", Exprs(sizes.begin(), sizes.begin() + rank),
        Exprs(sizes.begin() + rank, sizes.end()), combinerOf(stringAttr(op, "combiner")),
        [&](const Exprs& i, const Exprs& k) {
            // Of the two, one walks along the axis and the other has a single step.
            Exprs source;
            for (size_t d = 0; d < i.size(); ++d)
                source.push_back(minimum(i[d] + k[d], in[0]->shape()[d] - tir::Expr(1)));
            return te::at(in[0], source);
        },
        "reduce")};
}

Cost cost(const OpView& op) { return {elements(op.operands[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {
    {"combiner", "sum|prod|min|max|all|any", "how elements are combined"},
    {"sizes", "string[]",
     "the result's shape, 1 where an axis is reduced, then the steps of each axis, 1 where it is "
     "kept"}};

} // namespace

extern constinit const OpDef dynamicReduceOp = {
    .name = "dynamic_reduce",
    .doc = "y[i..] = combination over k.. < steps of data[i + k..]",
    .family = Family::Reduction,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Reduction,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%x: Tensor[(2, 8), float32] => "
               "dynamic_reduce(%x, combiner=\"sum\", sizes=s[\"2\", \"1\", \"1\", \"8\"])",
};

} // namespace tenon::compiler
