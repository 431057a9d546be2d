// SPDX-License-Identifier: Apache-2.0
// Reductions along axes: all, any, max, mean, min, prod and sum share one body.
#include "compiler/ops/reduce_axes.h"
#include "compiler/ops/symbols.h"

namespace tenon::compiler {
namespace {

using tir::Expr;

Result<Types> infer(const OpView& op)
{
    const TensorType& data = op.operands[0];
    const bool isLogic = op.op == "all" || op.op == "any";
    if (isLogic != data.dtype.isBool())
        return opError(op, DiagnosticCode::UnsupportedDtype,
                       isLogic ? "takes bool" : "does not take bool; insert a cast");
    const auto axes = readReduceAxes(op, true);
    if (!axes) return axes.error();
    return Types{{data.dtype, axes->resultShape(data.shape)}};
}

te::Combiner combinerOf(std::string_view op)
{
    if (op == "all") return te::Combiner::All;
    if (op == "any") return te::Combiner::Any;
    if (op == "max") return te::Combiner::Max;
    if (op == "min") return te::Combiner::Min;
    return op == "prod" ? te::Combiner::Product : te::Combiner::Sum;
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const auto axes = readReduceAxes(op, true);
    if (!axes) return axes.error();
    const size_t rank = in[0]->shape().size();
    const Exprs shape = extents(op.results[0].shape);
    const Exprs over = axes->reduced(in[0]->shape());
    const bool isMean = op.op == "mean";
    const te::TensorRef out = te::reduce(
        isMean ? "sum" : std::string(op.op), shape, over, combinerOf(op.op),
        [&](const Exprs& i, const Exprs& k) { return te::at(in[0], axes->join(rank, i, k)); },
        "reduce", {{"axis", axes->axes}});
    if (!isMean) return te::Tensors{out};
    const DataType dtype = in[0]->dtype();
    const Expr divisor = tir::cast(dtype, productOf(over));
    return te::Tensors{te::compute(
        "mean", shape, [&](const Exprs& i) { return te::at(out, i) / divisor; }, "elemwise")};
}

Cost cost(const OpView& op) { return {elements(op.operands[0]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int[]", "the axes reduced; empty: all", "[]"},
                               {"keepdims", "int", "1: reduced axes stay as 1", "0"},
                               {"exclude", "int", "1: `axis` names the axes that are kept", "0"}};

constexpr OpDef reduction(std::string_view name, std::string_view doc, Accuracy accuracy,
                          BlockedForm form, std::string_view example)
{
    return {.name = name,
            .doc = doc,
            .family = Family::Reduction,
            .operands = kOperands,
            .attrs = kAttrs,
            .accuracy = accuracy,
            .pattern = Pattern::Reduction,
            .blockedForm = form,
            .takesSymbols = true,
            .infer = infer,
            .lower = lower,
            .cost = cost,
            .example = example};
}

} // namespace

extern constinit const OpDef allOp =
    reduction("all", "y = every value along `axis` holds", Accuracy::Exact, BlockedForm::None,
              "%x: Tensor[(2, 3), bool] => all(%x, axis=[1])");
extern constinit const OpDef anyOp =
    reduction("any", "y = some value along `axis` holds", Accuracy::Exact, BlockedForm::None,
              "%x: Tensor[(2, 3), bool] => any(%x, axis=[0])");
extern constinit const OpDef maxOp =
    reduction("max", "y = largest value along `axis`", Accuracy::Exact, BlockedForm::ByReduction,
              "%x: Tensor[(2, 3, 4), float32] => max(%x, axis=[1], keepdims=1)");
extern constinit const OpDef meanOp =
    reduction("mean", "y = sum along `axis` / number of values", Accuracy::Rounding,
              BlockedForm::ByReduction, "%x: Tensor[(2, 3, 4), float32] => mean(%x, axis=[1, 2])");
extern constinit const OpDef minOp =
    reduction("min", "y = smallest value along `axis`", Accuracy::Exact, BlockedForm::ByReduction,
              "%x: Tensor[(2, 3, 4), float32] => min(%x)");
extern constinit const OpDef prodOp =
    reduction("prod", "y = product along `axis`", Accuracy::Rounding, BlockedForm::ByReduction,
              "%x: Tensor[(2, 3), float32] => prod(%x, axis=[-1])");
extern constinit const OpDef sumOp =
    reduction("sum", "y = sum along `axis`", Accuracy::Rounding, BlockedForm::ByReduction,
              "%x: Tensor[(2, 3, 4), float32] => sum(%x, axis=[1], exclude=1)");

} // namespace tenon::compiler
