// SPDX-License-Identifier: Apache-2.0
// scatter_elements and scatter_nd: a copy of a tensor with some of its elements updated in order.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/chosen_axes.h"
#include "compiler/ops/shapes.h"

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

Status needOperands(const OpView& op)
{
    const DataType index = op.operands[1].dtype;
    if (!index.isInt() || index.isBool())
        return opError(op, DiagnosticCode::DtypeMismatch,
                       "expects integer indices but they are " + index.text());
    if (const Status ok = needSameDtype(op, 0, 2); !ok) return ok;
    if (op.operands[0].dtype.isBool() && stringAttr(op, "reduction") != "update")
        return opError(op, DiagnosticCode::UnsupportedDtype, "cannot reduce bool; insert a cast");
    return kDone;
}

Expr combined(const std::string& reduction, const Expr& old, const Expr& update)
{
    if (reduction == "add") return old + update;
    if (reduction == "mul") return old * update;
    if (reduction == "min") return minimum(old, update);
    if (reduction == "max") return maximum(old, update);
    return update;
}

/// Loops over all positions of `shape`, outermost first, around what `body` makes of them.
Stmt overAll(const Exprs& shape, const std::string& stem,
             const std::function<Stmt(const Exprs&)>& body)
{
    std::vector<tir::Loop> loops;
    Exprs indices;
    for (size_t i = 0; i < shape.size(); ++i) {
        loops.push_back({.var = tir::makeVar(stem + std::to_string(i)), .extent = shape[i]});
        indices.emplace_back(loops.back().var);
    }
    Stmt out = body(indices);
    for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) out = forLoop(*loop, out);
    return out;
}

/// data copied, then every update stored where `target` says.
te::Tensors scattered(const OpView& op, const te::Tensors& in,
                      const std::function<Exprs(const Buffer& indices, const Exprs&)>& target)
{
    const std::string reduction = stringAttr(op, "reduction");
    const auto statement = [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
        const Stmt copy = overAll(
            from[0]->shape, "i", [&](const Exprs& i) { return store(to[0], i, load(from[0], i)); });
        const Stmt update = overAll(from[2]->shape, "u", [&](const Exprs& u) {
            const Exprs at = target(from[1], u);
            return store(to[0], at, combined(reduction, load(to[0], at), load(from[2], u)));
        });
        return tir::seq({copy, update});
    };
    return te::external("scatter", in, {{in[0]->shape(), in[0]->dtype()}}, statement);
}

Result<Types> inferElements(const OpView& op)
{
    if (const Status ok = needOperands(op); !ok) return ok.error();
    const Shape& data = op.operands[0].shape;
    if (const Status ok = needRank(op, 1, data.size()); !ok) return ok.error();
    const Shape& indices = op.operands[1].shape;
    const Shape& updates = op.operands[2].shape;
    if (!std::equal(indices.begin(), indices.end(), updates.begin(), updates.end(),
                    [](const Dim& a, const Dim& b) { return agreedDim(a, b).has_value(); }))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "has indices " + op.operands[1].text() + " but updates " +
                           op.operands[2].text());
    const auto axis = normalAxis(op, intAttr(op, "axis"), data.size());
    if (!axis) return axis.error();
    for (size_t i = 0; i < data.size(); ++i) {
        const Dim& dim = op.operands[1].shape[i];
        if (i != static_cast<size_t>(*axis) && dim.isConst() && data[i].isConst() &&
            dim.value() > data[i].value())
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "has updates " + op.operands[2].text() + " that reach outside " +
                               op.operands[0].text());
    }
    if (const Status ok = needChoices(op); !ok) return ok.error();
    return Types{op.operands[0]};
}

Result<te::Tensors> lowerElements(const OpView& op, const te::Tensors& in)
{
    const Exprs& shape = in[0]->shape();
    const auto axis = static_cast<size_t>(*normalAxis(op, intAttr(op, "axis"), shape.size()));
    return scattered(op, in, [&](const Buffer& indices, const Exprs& u) {
        Exprs at = u;
        at[axis] = safeIndex(load(indices, u), shape[axis]);
        return at;
    });
}

Result<Types> inferTuples(const OpView& op)
{
    if (const Status ok = needOperands(op); !ok) return ok.error();
    const Shape& data = op.operands[0].shape;
    const Shape& indices = op.operands[1].shape;
    const bool hasDepth = !indices.empty() && indices.back().isConst();
    const int64_t depth = hasDepth ? indices.back().value() : 0;
    if (depth < 1 || depth > static_cast<int64_t>(data.size()))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "cannot index " + op.operands[0].text() + " by " + op.operands[1].text());
    Shape updates(indices.begin(), indices.end() - 1);
    updates.insert(updates.end(), data.begin() + depth, data.end());
    const Shape& given = op.operands[2].shape;
    if (!std::equal(updates.begin(), updates.end(), given.begin(), given.end(),
                    [](const Dim& a, const Dim& b) { return agreedDim(a, b).has_value(); }))
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "expects updates of the shape " + shapeText(updates) + " but they are " +
                           op.operands[2].text());
    if (const Status ok = needChoices(op); !ok) return ok.error();
    return Types{op.operands[0]};
}

Result<te::Tensors> lowerTuples(const OpView& op, const te::Tensors& in)
{
    const Exprs& shape = in[0]->shape();
    const auto outer = static_cast<std::ptrdiff_t>(in[1]->shape().size() - 1);
    const int64_t depth = in[1]->shape().back()->integer;
    return scattered(op, in, [&](const Buffer& indices, const Exprs& u) {
        Exprs tuple(u.begin(), u.begin() + outer);
        Exprs at;
        tuple.emplace_back(0);
        for (int64_t d = 0; d < depth; ++d) {
            tuple.back() = Expr(d);
            at.push_back(safeIndex(load(indices, tuple), shape[at.size()]));
        }
        at.insert(at.end(), u.begin() + outer, u.end());
        return at;
    });
}

Cost cost(const OpView& op) { return {elements(op.operands[2]), bytesMoved(op)}; }

constexpr OperandSpec kOperands[] = {{"data", "any shape"},
                                     {"indices", "integers of the rank of data"},
                                     {"updates", "as many as indices"}};
constexpr OperandSpec kTupleOperands[] = {
    {"data", "any shape"},
    {"indices", "integers; a tuple of indices along the last axis"},
    {"updates", "an element or slice of data per tuple"}};
constexpr AttrSpec kReduction = {"reduction", "update|add|mul|min|max",
                                 "how an update meets what is there", "\"update\""};
constexpr AttrSpec kAttrs[] = {{"axis", "int", "the dimension the indices count along"},
                               kReduction};
constexpr AttrSpec kTupleAttrs[] = {kReduction};

} // namespace

extern constinit const OpDef scatterElementsOp = {
    .name = "scatter_elements",
    .doc = "y = data; for each u in row-major order: y[.., indices[u], ..] = "
           "reduction(y[..], updates[u])",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = inferElements,
    .lower = lowerElements,
    .cost = cost,
    .example = "%x: Tensor[(4, 8), float32], %i: Tensor[(4, 3), int64], "
               "%u: Tensor[(4, 3), float32] => scatter_elements(%x, %i, %u, axis=1)",
};

extern constinit const OpDef scatterNdOp = {
    .name = "scatter_nd",
    .doc = "y = data; for each tuple j: y[indices[j, 0], indices[j, 1], .., ..] = "
           "reduction(y[..], updates[j, ..])",
    .family = Family::Movement,
    .operands = kTupleOperands,
    .attrs = kTupleAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = inferTuples,
    .lower = lowerTuples,
    .cost = cost,
    .example = "%x: Tensor[(4, 8), float32], %i: Tensor[(3, 1), int64], "
               "%u: Tensor[(3, 8), float32] => scatter_nd(%x, %i, %u, reduction=\"add\")",
};

} // namespace tenon::compiler
