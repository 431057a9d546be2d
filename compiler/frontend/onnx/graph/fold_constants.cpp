// SPDX-License-Identifier: Apache-2.0
// Import-time evaluation of shape arithmetic on small constants; fold_dims.cpp has that on symbolic
// dimensions.
#include "compiler/frontend/import/fold_tensor.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/graph/fold_dims.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

constexpr int64_t kMaxElements = 1024;
constexpr int64_t kMaxFloats = 16;

using Folded = std::optional<Tensor>;

struct FoldRow
{
    std::string_view op;
    Folded (*fold)(OnnxNode&, std::string_view ours);
    std::string_view ours = {}; ///< our name of what several rows differ in
};

Folded foldBinary(OnnxNode& node, std::string_view op)
{
    if (node.inputCount() != 2) return std::nullopt;
    if (node.integer("fmod", 0) != 0) return std::nullopt; // another sign
    return foldedBinary(op, *node.constant(0), *node.constant(1));
}

Folded foldUnary(OnnxNode& node, std::string_view op) { return foldedUnary(op, *node.constant(0)); }

Folded foldCast(OnnxNode& node, std::string_view)
{
    const auto dtype = dataTypeOf(static_cast<int32_t>(node.integer("to", 0)));
    if (!dtype) return std::nullopt;
    return foldedCast(*node.constant(0), *dtype);
}

Folded foldWhere(OnnxNode& node, std::string_view)
{
    if (node.inputCount() != 3) return std::nullopt;
    return foldedWhere(*node.constant(0), *node.constant(1), *node.constant(2));
}

Folded foldConcat(OnnxNode& node, std::string_view)
{
    const auto rank = static_cast<int64_t>(node.constant(0)->shape().size());
    const int64_t axis = node.axisOf(node.integer("axis", 0), rank);
    if (rank != 1 || node.hasFailed()) return std::nullopt;
    std::vector<Tensor> parts;
    for (size_t i = 0; i < node.inputCount(); ++i) parts.push_back(*node.constant(i));
    CHECK(axis == 0);
    return foldedConcat(parts);
}

Folded foldGather(OnnxNode& node, std::string_view)
{
    const Tensor& data = *node.constant(0);
    if (node.inputCount() != 2 || data.shape().size() != 1 || node.integer("axis", 0) > 0)
        return std::nullopt;
    return foldedGather(data, *node.constant(1));
}

std::vector<int64_t> axesArgument(OnnxNode& node)
{
    return node.has(1) ? node.staticIntegers(1) : node.integers("axes", {});
}

Folded foldSqueeze(OnnxNode& node, std::string_view)
{
    const Tensor& data = *node.constant(0);
    const auto rank = static_cast<int64_t>(data.shape().size());
    const std::vector<int64_t> axes = node.axesOf(axesArgument(node), rank);
    std::vector<int64_t> shape;
    for (int64_t i = 0; i < rank; ++i) {
        const int64_t extent = data.shape()[static_cast<size_t>(i)];
        const bool isListed = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (isListed && extent != 1) return std::nullopt;
        if (!(isListed || (axes.empty() && extent == 1))) shape.push_back(extent);
    }
    return data.reshaped(shape);
}

Folded foldUnsqueeze(OnnxNode& node, std::string_view)
{
    const Tensor& data = *node.constant(0);
    std::vector<int64_t> axes = axesArgument(node);
    const auto rank = static_cast<int64_t>(data.shape().size() + axes.size());
    axes = node.axesOf(axes, rank);
    if (node.hasFailed()) return std::nullopt;
    std::sort(axes.begin(), axes.end());
    std::vector<int64_t> shape = data.shape();
    for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
    return data.reshaped(shape);
}

Folded foldReshape(OnnxNode& node, std::string_view)
{
    const Tensor& data = *node.constant(0);
    if (node.inputCount() != 2 || data.size() == 0) return std::nullopt;
    std::vector<int64_t> shape = node.staticIntegers(1);
    int64_t known = 1;
    int64_t open = -1;
    for (size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] == 0) return std::nullopt;
        if (shape[i] == -1 && open < 0)
            open = static_cast<int64_t>(i);
        else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
            return std::nullopt;
    }
    if (open >= 0 && data.size() % known == 0)
        shape[static_cast<size_t>(open)] = data.size() / known;
    else if (open >= 0 || known != data.size())
        return std::nullopt;
    return data.reshaped(shape);
}

Folded foldSlice(OnnxNode& node, std::string_view)
{
    const Tensor& data = *node.constant(0);
    if (data.shape().size() != 1) return std::nullopt;
    const bool isInput = node.opset() >= 10;
    const auto one = [&](size_t input, std::string_view attr, int64_t fallback) {
        std::vector<int64_t> values = isInput ? (node.has(input) ? node.staticIntegers(input)
                                                                 : std::vector<int64_t>{fallback})
                                              : node.integers(attr, {fallback});
        return values.size() == 1 ? std::optional<int64_t>(values[0]) : std::nullopt;
    };
    const auto start = one(1, "starts", 0);
    const auto end = one(2, "ends", 0);
    const auto axis = one(3, "axes", 0);
    const auto step = isInput ? one(4, "steps", 1) : std::optional<int64_t>(1);
    if (!start || !end || !axis || !step || (*axis != 0 && *axis != -1)) return std::nullopt;
    return foldedSlice(data, *start, *end, *step);
}

Folded foldRange(OnnxNode& node, std::string_view)
{
    if (node.inputCount() != 3 || !node.constant(0)->dtype().isInt()) return std::nullopt;
    return foldedRange(*node.constant(0), *node.constant(1), *node.constant(2));
}

Folded foldReduce(OnnxNode& node, std::string_view op)
{
    const Tensor& data = *node.constant(0);
    if (data.shape().size() != 1 || !data.dtype().isInt()) return std::nullopt;
    const bool keepsAxis = node.integer("keepdims", 1) != 0;
    return foldedReduce(op, data, keepsAxis);
}

constexpr std::array<FoldRow, 35> kRows{{
    {"Abs", foldUnary, "abs"},
    {"Add", foldBinary, "add"},
    {"And", foldBinary, "logical_and"},
    {"Cast", foldCast},
    {"Ceil", foldUnary, "ceil"},
    {"Concat", foldConcat},
    {"Div", foldBinary, "divide"},
    {"Equal", foldBinary, "equal"},
    {"Floor", foldUnary, "floor"},
    {"Gather", foldGather},
    {"Greater", foldBinary, "greater"},
    {"GreaterOrEqual", foldBinary, "greater_equal"},
    {"Less", foldBinary, "less"},
    {"LessOrEqual", foldBinary, "less_equal"},
    {"Max", foldBinary, "maximum"},
    {"Min", foldBinary, "minimum"},
    {"Mod", foldBinary, "floor_mod"},
    {"Mul", foldBinary, "multiply"},
    {"Neg", foldUnary, "negative"},
    {"Not", foldUnary, "logical_not"},
    {"Or", foldBinary, "logical_or"},
    {"Pow", foldBinary, "power"},
    {"Range", foldRange},
    {"ReduceMax", foldReduce, "max"},
    {"ReduceMin", foldReduce, "min"},
    {"ReduceProd", foldReduce, "prod"},
    {"ReduceSum", foldReduce, "sum"},
    {"Reshape", foldReshape},
    {"Slice", foldSlice},
    {"Sqrt", foldUnary, "sqrt"},
    {"Squeeze", foldSqueeze},
    {"Sub", foldBinary, "subtract"},
    {"Unsqueeze", foldUnsqueeze},
    {"Where", foldWhere},
    {"Xor", foldBinary, "logical_xor"},
}};

bool allSmallConstants(const OnnxNode& node)
{
    if (node.inputCount() == 0) return false;
    for (size_t i = 0; i < node.inputCount(); ++i) {
        if (node.narrowType(i)) return false;
        const Tensor* value = node.constant(i);
        if (!value || value->size() > kMaxElements) return false;
    }
    return true;
}

} // namespace

bool foldAtImport(OnnxNode& node)
{
    if (!allSmallConstants(node)) return foldDims(node) && !node.hasFailed();
    for (const FoldRow& row : kRows) {
        if (row.op != node.op()) continue;
        const Folded result = row.fold(node, row.ours);
        if (!result || node.hasFailed()) return false; // the converter says what is wrong
        if (result->dtype().isFloat() && result->size() > kMaxFloats) return false;
        node.outputConstant(0, *result);
        return !node.hasFailed();
    }
    return false;
}

} // namespace tenon::compiler
