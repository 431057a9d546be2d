// SPDX-License-Identifier: Apache-2.0
// Gemm and MatMul.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/ops/shape_attrs.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

ValueRef transposed(OnnxNode& node, ValueRef matrix)
{
    return node.emit("transpose", {matrix}, {{"axes", std::vector<int64_t>{1, 0}}});
}

ValueRef scaled(OnnxNode& node, ValueRef value, double factor)
{
    if (factor == 1) return value;
    return node.emit("multiply", {value, node.scalar(factor, node.typeOf(value).dtype)});
}

/// x (any rank) times a constant matrix: one dense layer over all rows.
ValueRef denseOverRows(OnnxNode& node)
{
    const TensorType type = node.type(0);
    const ValueRef weight = transposed(node, node.input(1));
    if (type.shape.size() == 2) return node.emit("nn.dense", {node.input(0), weight});
    if (node.hasFailed()) return {};
    const ValueRef rows = node.emit("reshape", {node.input(0)}, shapeAttrs(rowsOf(type.shape)));
    const ValueRef product = node.emit("nn.dense", {rows, weight});
    Shape result = type.shape;
    result.back() = node.type(1).shape[1];
    return node.emit("reshape", {product}, shapeAttrs(result));
}

} // namespace

void convertGemm(OnnxNode& node)
{
    const double alpha = node.number("alpha", 1);
    const double beta = node.number("beta", 1);
    const bool transA = node.integer("transA", 0) != 0;
    const bool transB = node.integer("transB", 0) != 0;
    if (node.rank(0) != 2 || node.rank(1) != 2) {
        node.fail(DiagnosticCode::ShapeMismatch, "both factors must be matrices");
        return;
    }
    const ValueRef a = transA ? transposed(node, node.input(0)) : node.input(0);
    const ValueRef b = transB ? node.input(1) : transposed(node, node.input(1));
    ValueRef out = scaled(node, node.emit("nn.dense", {a, b}), alpha);
    if (node.has(2)) {
        const ValueRef bias = scaled(node, node.input(2), beta);
        const Shape& biasShape = node.typeOf(bias).shape;
        const bool isVector =
            !node.hasFailed() && biasShape.size() == 1 && biasShape[0] == node.typeOf(out).shape[1];
        out = isVector ? node.emit("nn.bias_add", {out, bias}, {{"axis", int64_t{1}}})
                       : node.emit("add", {out, bias});
    }
    node.output(0, out);
}

void convertMatMul(OnnxNode& node)
{
    const int64_t rankA = node.rank(0);
    const int64_t rankB = node.rank(1);
    if (node.hasFailed()) return;
    if (rankA == 0 || rankB == 0) {
        node.fail(DiagnosticCode::ShapeMismatch, "a factor is a scalar; use Mul");
        return;
    }
    if (rankA >= 2 && rankB == 2 && node.constant(1) &&
        (rankA == 2 || canBeRows(node.type(0).shape))) {
        node.output(0, denseOverRows(node));
        return;
    }
    node.output(0, Formula(node).matmul(node.input(0), node.input(1)));
}

} // namespace tenon::compiler
