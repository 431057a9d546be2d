// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, and the positions of extremes.
#include "compiler/frontend/onnx/converters.h"
#include "core/base/text.h"

#include <numeric>
#include <optional>

namespace tenon::compiler {
namespace {

/// The axes of a reduction: an attribute or, in later opsets, input 1. Nothing: reduce nothing.
std::optional<std::vector<int64_t>> reducedAxes(NodeImport& node)
{
    const int64_t rank = node.rank(0);
    std::vector<int64_t> axes = node.has(1) ? node.staticIntegers(1) : node.integers("axes", {});
    if (node.hasFailed()) return std::nullopt;
    if (axes.empty()) {
        if (node.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
        axes.resize(static_cast<size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
        return axes;
    }
    return node.axesOf(axes, rank);
}

void reduceBool(NodeImport& node, const std::string& op, const std::vector<int64_t>& axes,
                int64_t keepdims)
{
    if (axes.empty())
        node.forward(0, 0);
    else
        node.output(0, node.emit(op == "max" ? "any" : "all", {node.input(0)},
                                 {{"axis", axes}, {"keepdims", keepdims}}));
}

void reduceAs(NodeImport& node, const std::string& op, const char* before, const char* after)
{
    const auto axes = reducedAxes(node);
    if (node.hasFailed()) return;
    const int64_t keepdims = node.integer("keepdims", 1) != 0;
    ValueRef value = node.input(0);
    const bool isBool = !node.hasFailed() && node.type(0).dtype.isBool();
    if (isBool && (op == "max" || op == "min")) { // of truth values
        reduceBool(node, op, axes.value_or(std::vector<int64_t>{}), keepdims);
        return;
    }
    if (before && std::string_view(before) == "square")
        value = node.emit("multiply", {value, value});
    else if (before)
        value = node.emit(before, {value});
    if (axes && !(axes->empty()))
        value = node.emit(op, {value}, {{"axis", *axes}, {"keepdims", keepdims}});
    if (after) value = node.emit(after, {value});
    if (value == node.input(0))
        node.forward(0, 0);
    else
        node.output(0, value);
}

void convertArg(NodeImport& node, const std::string& op)
{
    const int64_t axis = node.axisOf(node.integer("axis", 0), node.rank(0));
    const int64_t keepdims = node.integer("keepdims", 1) != 0;
    const int64_t isLast = node.integer("select_last_index", 0) != 0;
    ValueRef out = node.emit(op, {node.input(0)},
                             {{"axis", std::vector<int64_t>{axis}},
                              {"keepdims", keepdims},
                              {"select_last_index", isLast}});
    if (!node.hasFailed() && node.typeOf(out).dtype != kInt64)
        out = node.emit("cast", {out}, {{"dtype", kInt64}});
    node.output(0, out);
}

} // namespace

void convertReduceSum(NodeImport& node) { reduceAs(node, "sum", nullptr, nullptr); }
void convertReduceMean(NodeImport& node) { reduceAs(node, "mean", nullptr, nullptr); }
void convertReduceMax(NodeImport& node) { reduceAs(node, "max", nullptr, nullptr); }
void convertReduceMin(NodeImport& node) { reduceAs(node, "min", nullptr, nullptr); }
void convertReduceProd(NodeImport& node) { reduceAs(node, "prod", nullptr, nullptr); }
void convertReduceL1(NodeImport& node) { reduceAs(node, "sum", "abs", nullptr); }
void convertReduceL2(NodeImport& node) { reduceAs(node, "sum", "square", "sqrt"); }
void convertReduceLogSum(NodeImport& node) { reduceAs(node, "sum", nullptr, "log"); }
void convertReduceSumSquare(NodeImport& node) { reduceAs(node, "sum", "square", nullptr); }

void convertReduceLogSumExp(NodeImport& node)
{
    const auto axes = reducedAxes(node);
    if (node.hasFailed() || !axes) return;
    // max + log(sum(exp(x - max))): exp never overflows.
    const ValueRef top =
        node.emit("max", {node.input(0)}, {{"axis", *axes}, {"keepdims", int64_t{1}}});
    ValueRef sum = node.emit("exp", {node.emit("subtract", {node.input(0), top})});
    sum = node.emit("sum", {sum}, {{"axis", *axes}, {"keepdims", int64_t{1}}});
    ValueRef out = node.emit("add", {top, node.emit("log", {sum})});
    if (node.integer("keepdims", 1) == 0) out = node.emit("squeeze", {out}, {{"axis", *axes}});
    node.output(0, out);
}

void convertArgMax(NodeImport& node) { convertArg(node, "argmax"); }
void convertArgMin(NodeImport& node) { convertArg(node, "argmin"); }

} // namespace tenon::compiler
