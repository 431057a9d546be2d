// SPDX-License-Identifier: Apache-2.0
// nn.attention: softmax(scale * Q K^T + mask) V for each head. Operands are read where they are: a
// list says which axis each dimension of theirs stands for. Rows are divided by their sums last.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

using tir::Expr;

enum Axis : uint8_t
{
    kBatch,
    kHead,
    kPosition,
    kElement
};

struct Sizes
{
    Dim batch;
    int64_t heads, queries, keys, depth, width;
    int64_t shared; ///< query heads that share a head of keys and values
};

/// How an operand is read: the axis of each of its dimensions (-1: fixed), and where it begins.
struct View
{
    std::vector<int64_t> axes, begin;
};

View viewOf(const OpView& op, size_t operand)
{
    constexpr std::string_view kAxes[] = {"q_axes", "k_axes", "v_axes"};
    constexpr std::string_view kBegin[] = {"q_begin", "k_begin", "v_begin"};
    View view{intsAttr(op, kAxes[operand]), intsAttr(op, kBegin[operand])};
    view.begin.resize(view.axes.size(), 0);
    return view;
}

/// The size of the dimension of the queries that counts the batch; 1 without.
Dim batchOfQueries(const OpView& op)
{
    const std::vector<int64_t> axes = viewOf(op, 0).axes;
    const Shape& shape = op.operands[0].shape;
    for (size_t d = 0; d < std::min(axes.size(), shape.size()); ++d)
        if (axes[d] == kBatch) return shape[d];
    return 1;
}

Sizes sizesOf(const OpView& op)
{
    const std::vector<int64_t> s = intsAttr(op, "extents");
    return {s[0] == 0 ? batchOfQueries(op) : Dim(s[0]),
            s[1],
            s[2],
            s[3],
            s[4],
            s[5],
            intAttr(op, "shared")};
}

/// True when `axes` names the four axes once each; where `mayFix`, beside fixed dimensions.
bool namesEachAxis(const std::vector<int64_t>& axes, bool mayFix)
{
    std::vector<int64_t> named = axes;
    if (mayFix) std::erase(named, -1);
    std::sort(named.begin(), named.end());
    return named == std::vector<int64_t>{kBatch, kHead, kPosition, kElement};
}

/// True when `size` indices from `begin` on exist; all of a dimension that is not a number.
bool isInside(int64_t begin, const Dim& size, const Dim& dim)
{
    if (!size.isConst() || !dim.isConst()) return begin == 0 && size == dim;
    return begin >= 0 && begin + size.value() <= dim.value();
}

Status checkView(const OpView& op, size_t operand, const Shape& sizes)
{
    const View view = viewOf(op, operand);
    const TensorType& type = op.operands[operand];
    bool fits = type.shape.size() == view.axes.size() && view.begin.size() == view.axes.size() &&
                namesEachAxis(view.axes, true);
    for (size_t d = 0; fits && d < view.axes.size(); ++d) {
        const Dim size = view.axes[d] < 0 ? Dim(1) : sizes[static_cast<size_t>(view.axes[d])];
        fits = isInside(view.begin[d], size, type.shape[d]);
    }
    if (fits) return kDone;
    return opError(op, DiagnosticCode::ShapeMismatch,
                   "cannot read operand " + std::to_string(operand) + ", " + type.text() +
                       ", by its list of axes");
}

Result<Types> infer(const OpView& op)
{
    const TensorType& query = op.operands[0];
    if (!query.dtype.isFloat())
        return opError(op, DiagnosticCode::UnsupportedDtype, "takes floats");
    for (size_t i = 1; i < op.operands.size(); ++i)
        if (const Status ok = needSameDtype(op, 0, i); op.isPresent(i) && !ok) return ok.error();
    const std::vector<int64_t> given = intsAttr(op, "extents");
    for (size_t d = 0; d < given.size(); ++d)
        if (given[d] < (d == kBatch ? 0 : 1))
            return opError(op, DiagnosticCode::BadAttribute, "`extents` must be positive");
    const Sizes s = sizesOf(op);
    if (s.shared < 1 || s.heads % s.shared != 0)
        return opError(op, DiagnosticCode::BadAttribute, "`shared` must divide the heads");
    const Shape wanted[] = {{s.batch, s.heads, s.queries, s.depth},
                            {s.batch, s.heads / s.shared, s.keys, s.depth},
                            {s.batch, s.heads / s.shared, s.keys, s.width}};
    for (size_t i = 0; i < 3; ++i)
        if (const Status ok = checkView(op, i, wanted[i]); !ok) return ok.error();
    const Shape scores{s.batch, s.heads, s.queries, s.keys};
    if (op.isPresent(3)) {
        const auto all = broadcastShapes(op, op.operands[3].shape, scores);
        if (!all) return all.error();
        if (*all != scores)
            return opError(op, DiagnosticCode::ShapeMismatch,
                           "the mask " + op.operands[3].text() + " is larger than the scores");
    }
    const std::vector<int64_t> order = intsAttr(op, "out_axes");
    if (!namesEachAxis(order, false))
        return opError(op, DiagnosticCode::BadAttribute, "`out_axes` must be an order of 0 to 3");
    const Shape out{s.batch, s.heads, s.queries, s.width};
    Shape ordered;
    for (const int64_t axis : order) ordered.push_back(out[static_cast<size_t>(axis)]);
    return Types{{query.dtype, std::move(ordered)}};
}

/// Element of an operand at its batch, head, position and element.
Expr element(const OpView& op, const te::Tensors& in, size_t operand, const Exprs& i)
{
    const View view = viewOf(op, operand);
    const int64_t shared = operand == 0 ? 1 : sizesOf(op).shared;
    const auto along = [&](int64_t axis) {
        const Expr index = i[static_cast<size_t>(axis)];
        return axis == kHead && shared > 1 ? floorDiv(index, Expr(shared)) : index;
    };
    Exprs at;
    for (size_t d = 0; d < view.axes.size(); ++d)
        at.push_back(view.axes[d] < 0 ? Expr(view.begin[d])
                                      : along(view.axes[d]) + Expr(view.begin[d]));
    return te::at(in[operand], at);
}

Expr minusInfinity(DataType dtype)
{
    return tir::floatImm(-std::numeric_limits<double>::infinity(), dtype);
}

/// Scores of each query and key, scaled and masked.
te::TensorRef scoresOf(const OpView& op, const te::Tensors& in)
{
    const Sizes s = sizesOf(op);
    // Rows of keys side by side, unless they lie so already or too few queries read them: a step of
    // a decoder would move each key twice to multiply it once (2,048 keys of 64: 0.27 of the time).
    constexpr int64_t kFewQueries = 2;
    te::TensorRef columns;
    if (viewOf(op, 1).axes.back() != kPosition && s.queries > kFewQueries)
        columns = te::compute(
            "attention_keys", extents({s.batch, s.heads, s.depth, s.keys}),
            [&](const Exprs& i) {
                return element(op, in, 1, {i[0], i[1], i[3], i[2]});
            },
            "injective");
    const Exprs shape = extents({s.batch, s.heads, s.queries, s.keys});
    const te::TensorRef products = te::reduce(
        "attention_products", shape, {Expr(s.depth)}, te::Combiner::Sum,
        [&](const Exprs& i, const Exprs& k) {
            return element(op, in, 0, {i[0], i[1], i[2], k[0]}) *
                   (columns ? te::at(columns, {i[0], i[1], k[0], i[3]})
                            : element(op, in, 1, {i[0], i[1], i[3], k[0]}));
        },
        "attention");
    const double scale = floatAttr(op, "scale");
    return te::compute(
        "attention_scores", shape,
        [&](const Exprs& i) {
            Expr score = te::at(products, i);
            score = score * tir::floatImm(scale, score->dtype);
            if (!op.isPresent(3)) return score;
            return score + te::at(in[3], broadcastIndices(in[3]->shape(), i, shape));
        },
        "elemwise");
}

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    const Sizes s = sizesOf(op);
    const te::TensorRef scores = scoresOf(op, in);
    const Exprs rows = extents({s.batch, s.heads, s.queries});
    const auto along = [&](const std::string& name, const te::TensorRef& tensor,
                           te::Combiner combiner) {
        return te::reduce(
            name, rows, {Expr(s.keys)}, combiner,
            [&](const Exprs& i, const Exprs& k) {
                return te::at(tensor, {i[0], i[1], i[2], k[0]});
            },
            "attention");
    };
    const bool emptyIsZero = stringAttr(op, "empty_rows") == "zero";
    const te::TensorRef top = along("attention_max", scores, te::Combiner::Max);
    const te::TensorRef powers = te::compute(
        "attention_exp", scores->shape(),
        [&](const Exprs& i) {
            Expr most = te::at(top, {i[0], i[1], i[2]});
            if (emptyIsZero)
                most = tir::select(equal(most, minusInfinity(most->dtype)),
                                   tir::zeroOf(most->dtype), most);
            return tir::call(tir::Intrinsic::ExpNonPositive, te::at(scores, i) - most);
        },
        "elemwise");
    const te::TensorRef sum = along("attention_sum", powers, te::Combiner::Sum);
    const te::TensorRef mixed =
        te::reduce("attention_mixed", extents({s.batch, s.heads, s.queries, s.width}),
                   {Expr(s.keys)}, te::Combiner::Sum,
                   [&](const Exprs& i, const Exprs& k) {
                       return te::at(powers, {i[0], i[1], i[2], k[0]}) *
                              element(op, in, 2, {i[0], i[1], k[0], i[3]});
                   },
                   "attention", {{"out_axes", intsAttr(op, "out_axes")}});
    const std::vector<int64_t> order = intsAttr(op, "out_axes");
    const auto result = [&](const Exprs& i) {
        Exprs at(4);
        for (size_t d = 0; d < 4; ++d) at[static_cast<size_t>(order[d])] = i[d];
        Expr total = te::at(sum, {at[0], at[1], at[2]});
        if (emptyIsZero)
            total = tir::select(equal(total, tir::zeroOf(total->dtype)), tir::oneOf(total->dtype),
                                total);
        return te::at(mixed, at) * (tir::oneOf(total->dtype) / total);
    };
    return te::Tensors{te::compute("attention", extents(op.results[0].shape), result, "elemwise")};
}

Cost cost(const OpView& op)
{
    const Sizes s = sizesOf(op);
    const double scores = static_cast<double>(s.batch.constant().value_or(1) * s.heads) *
                          static_cast<double>(s.queries * s.keys);
    return {scores * static_cast<double>(2 * s.depth + 2 * s.width + 4), bytesMoved(op)};
}

constexpr OperandSpec kOperands[] = {{"q", "queries"},
                                     {"k", "keys"},
                                     {"v", "values"},
                                     {"mask", "added to the scores", OperandSpec::Optional}};
constexpr AttrSpec kAttrs[] = {
    {"extents", "int[6]",
     "batch (0: that of q), heads, queries, keys, elements of a key, elements of a value"},
    {"scale", "float", "factor of the scores", "1"},
    {"q_axes", "int[]", "of each dimension: 0 batch, 1 head, 2 position, 3 element, -1 fixed",
     "[0, 1, 2, 3]"},
    {"k_axes", "int[]", "as q_axes", "[0, 1, 2, 3]"},
    {"v_axes", "int[]", "as q_axes", "[0, 1, 2, 3]"},
    {"q_begin", "int[]", "first index of each dimension; empty: 0", "[]"},
    {"k_begin", "int[]", "as q_begin", "[]"},
    {"v_begin", "int[]", "as q_begin", "[]"},
    {"shared", "int", "query heads that share a head of keys and values", "1"},
    {"out_axes", "int[4]", "order of the result's dimensions", "[0, 1, 2, 3]"},
    {"empty_rows", "nan|zero", "result where every score is -infinity", "\"nan\""}};

} // namespace

extern constinit const OpDef attentionOp = {
    .name = "nn.attention",
    .doc = "y[b, h, m, e] = sum over n of p[n] * v[b, h, n, e] / sum over n of p[n], with p[n] = "
           "exp(s[n] - max s), s[n] = scale * (q[b, h, m] . k[b, h, n]) + mask[b, h, m, n]",
    .family = Family::Dense,
    .operands = kOperands,
    .attrs = kAttrs,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .method = {.kind = Method::Attention},
    .infer = infer,
    .lower = lower,
    .cost = cost,
    .example = "%q: Tensor[(1, 2, 5, 4), float32], %k: Tensor[(1, 2, 7, 4), float32], "
               "%v: Tensor[(1, 2, 7, 6), float32], %m: Tensor[(5, 7), float32] "
               "=> nn.attention(%q, %k, %v, %m, extents=[1, 2, 5, 7, 4, 6], scale=0.5f)",
};

} // namespace tenon::compiler
