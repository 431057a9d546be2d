// SPDX-License-Identifier: Apache-2.0
// gather and gather_nd: single elements, or slices at tuples of indices.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/chosen_axes.h"
#include "compiler/ops/shapes.h"

namespace tenon::compiler {
namespace {

Status needIndices(const OpView& op, size_t operand)
{
    const DataType dtype = op.operands[operand].dtype;
    if (dtype.isInt() && !dtype.isBool()) return kDone;
    return opError(op, DiagnosticCode::DtypeMismatch,
                   "expects integer indices but they are " + dtype.text());
}

Result<Types> inferElements(const OpView& op)
{
    if (const Status ok = needIndices(op, 1); !ok) return ok.error();
    const Shape& data = op.operands[0].shape;
    const Shape& indices = op.operands[1].shape;
    if (const Status ok = needRank(op, 1, data.size()); !ok) return ok.error();
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.size());
    if (!axis) return axis.error();
    for (size_t i = 0; i < data.size(); ++i)
        if (i != static_cast<size_t>(*axis) && data[i].isConst() && indices[i].isConst() &&
            indices[i].value() > data[i].value())
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "has indices " + op.operands[1].text() + " that reach outside " +
                               op.operands[0].text());
    if (const Status ok = needChoices(op); !ok) return ok.error();
    return Types{{op.operands[0].dtype, indices}};
}

Result<te::Tensors> lowerElements(const OpView& op, const te::Tensors& in)
{
    const Exprs& shape = in[0]->shape();
    const auto axis = static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), shape.size()));
    return te::Tensors{te::compute(
        "gather", extents(op.results[0].shape),
        [&](const Exprs& i) {
            Exprs source = i;
            source[axis] = safeIndex(te::at(in[1], i), shape[axis]);
            return te::at(in[0], source);
        },
        "injective")};
}

Result<Types> inferTuples(const OpView& op)
{
    if (const Status ok = needIndices(op, 1); !ok) return ok.error();
    const Shape& data = op.operands[0].shape;
    const Shape& indices = op.operands[1].shape;
    const int64_t batch = intAttr(op, "batch_dims");
    if (indices.empty() || !indices.back().isConst())
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "needs a constant number of indices per tuple but they are " +
                           op.operands[1].text());
    const int64_t depth = indices.back().value();
    if (batch < 0 || batch >= static_cast<int64_t>(std::min(data.size(), indices.size())) ||
        depth < 1 || batch + depth > static_cast<int64_t>(data.size()))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot take " + op.operands[1].text() + " from " + op.operands[0].text() +
                           " with " + std::to_string(batch) + " batch dimensions");
    if (const Status ok = needChoices(op); !ok) return ok.error();
    Shape out(indices.begin(), indices.end() - 1);
    out.insert(out.end(), data.begin() + batch + depth, data.end());
    return Types{{op.operands[0].dtype, out}};
}

Result<te::Tensors> lowerTuples(const OpView& op, const te::Tensors& in)
{
    const Exprs& shape = in[0]->shape();
    const auto batch = static_cast<size_t>(intAttr(op, "batch_dims"));
    const size_t outer = in[1]->shape().size() - 1;
    const int64_t depth = in[1]->shape().back()->integer;
    return te::Tensors{te::compute(
        "gather_nd", extents(op.results[0].shape),
        [&](const Exprs& i) {
            const auto tail = i.begin() + static_cast<std::ptrdiff_t>(outer);
            Exprs tuple(i.begin(), tail);
            Exprs source(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batch));
            tuple.emplace_back(0);
            for (int64_t d = 0; d < depth; ++d) {
                tuple.back() = tir::Expr(d);
                source.push_back(safeIndex(te::at(in[1], tuple), shape[source.size()]));
            }
            source.insert(source.end(), tail, i.end());
            return te::at(in[0], source);
        },
        "injective")};
}

Cost cost(const OpView& op)
{
    return {0, 2 * elements(op.results[0]) * static_cast<double>(op.results[0].dtype.bytes())};
}

constexpr OperandSpec kOperands[] = {{"data", "rank 1 or more"},
                                     {"indices", "integers of the rank of data"}};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the dimension the indices count along"}};
constexpr OperandSpec kTupleOperands[] = {
    {"data", "rank 1 or more"}, {"indices", "integers; a tuple of indices along the last axis"}};
constexpr AttrSpec kTupleAttrs[] = {
    {"batch_dims", "int", "leading dimensions that data and indices share", "0"}};

} // namespace

extern constinit const OpDef gatherOp = {
    .name = "gather",
    .doc = "y[.., j, ..] = data[.., indices[.., j, ..], ..]; negative indices count from the end, "
           "others outside take the nearest valid one",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .readsPart = true,
    .takesSymbols = true,
    .infer = inferElements,
    .lower = lowerElements,
    .cost = cost,
    .example = "%x: Tensor[(4, 8), float32], %i: Tensor[(4, 3), int64] => gather(%x, %i, axis=1)",
};

extern constinit const OpDef gatherNdOp = {
    .name = "gather_nd",
    .doc = "y[b.., j.., ..] = data[b.., indices[b.., j.., 0], indices[b.., j.., 1], .., ..]; "
           "indices outside as for gather",
    .family = Family::Movement,
    .operands = kTupleOperands,
    .attrs = kTupleAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Injective,
    .readsPart = true,
    .takesSymbols = true,
    .infer = inferTuples,
    .lower = lowerTuples,
    .cost = cost,
    .example = "%x: Tensor[(4, 8, 2), float32], %i: Tensor[(5, 2), int64] => gather_nd(%x, %i)",
};

} // namespace tenon::compiler
