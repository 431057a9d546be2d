// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, and the positions of extremes.
#include "compiler/frontend/import/run_time_axes.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"

#include <limits>
#include <numeric>
#include <optional>

namespace tenon::compiler {
namespace {

/// The axes of a reduction: an attribute or, in later opsets, input 1. Nothing: reduce nothing.
std::optional<std::vector<int64_t>> reducedAxes(OnnxNode& node)
{
    const int64_t rank = node.rank(0);
    const bool isEmpty = node.isTyped(1) && node.type(1).shape == Shape{Dim(0)};
    std::vector<int64_t> axes = isEmpty       ? std::vector<int64_t>{}
                                : node.has(1) ? node.staticIntegers(1)
                                              : node.integers("axes", {});
    if (node.hasFailed()) return std::nullopt;
    if (axes.empty()) {
        if (node.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
        axes.resize(static_cast<size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
        return axes;
    }
    return node.axesOf(axes, rank);
}

/// True when the axes are known only when the model runs; an empty list of them is known.
bool areAxesRuntime(OnnxNode& node)
{
    return node.isRuntime(1) && !(node.rank(1) == 1 && node.type(1).shape[0] == Dim(0)) &&
           node.rank(0) > 0 && !node.hasFailed();
}

/// Axes of input 1 of the node.
RunTimeAxes runTimeAxes(OnnxNode& node)
{
    return {node, node.input(1), node.rank(0),
            node.integer("noop_with_empty_axes", 0) != 0 ? RunTimeAxes::Empty::None
                                                         : RunTimeAxes::Empty::All};
}

/// A reduction by `op`, named as for static axes.
ValueRef reducedAtRunTime(OnnxNode& node, const std::string& op, ValueRef value)
{
    RunTimeAxes axes = runTimeAxes(node);
    const bool isBool = !node.hasFailed() && node.typeOf(value).dtype.isBool();
    const std::string how = isBool && op == "max" ? "any" : isBool && op == "min" ? "all" : op;
    const ValueRef out = axes.reduce(how, value);
    return node.integer("keepdims", 1) != 0 ? out : axes.squeeze(out);
}

void reduceBool(OnnxNode& node, const std::string& op, const std::vector<int64_t>& axes,
                int64_t keepdims)
{
    if (axes.empty())
        node.forward(0, 0);
    else
        node.output(0, node.emit(op == "max" ? "any" : "all", {node.input(0)},
                                 {{"axis", axes}, {"keepdims", keepdims}}));
}

void reduceAs(OnnxNode& node, const std::string& op, const char* before, const char* after)
{
    const bool isRuntime = areAxesRuntime(node);
    const auto axes = isRuntime ? std::nullopt : reducedAxes(node);
    if (node.hasFailed()) return;
    const int64_t keepdims = node.integer("keepdims", 1) != 0;
    ValueRef value = node.input(0);
    const bool isBool = !node.hasFailed() && node.type(0).dtype.isBool();
    if (isBool && !isRuntime && (op == "max" || op == "min")) { // of truth values
        reduceBool(node, op, axes.value_or(std::vector<int64_t>{}), keepdims);
        return;
    }
    if (before && std::string_view(before) == "square")
        value = node.emit("multiply", {value, value});
    else if (before)
        value = node.emit(before, {value});
    if (isRuntime)
        value = reducedAtRunTime(node, op, value);
    else if (axes && !(axes->empty()))
        value = node.emit(op, {value}, {{"axis", *axes}, {"keepdims", keepdims}});
    if (after) value = node.emit(after, {value});
    if (value == node.input(0))
        node.forward(0, 0);
    else
        node.output(0, value);
}

void convertArg(OnnxNode& node, const std::string& op)
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

void convertReduceSum(OnnxNode& node) { reduceAs(node, "sum", nullptr, nullptr); }
void convertReduceMean(OnnxNode& node) { reduceAs(node, "mean", nullptr, nullptr); }
void convertReduceMax(OnnxNode& node) { reduceAs(node, "max", nullptr, nullptr); }
void convertReduceMin(OnnxNode& node) { reduceAs(node, "min", nullptr, nullptr); }
void convertReduceProd(OnnxNode& node) { reduceAs(node, "prod", nullptr, nullptr); }
void convertReduceL1(OnnxNode& node) { reduceAs(node, "sum", "abs", nullptr); }
void convertReduceL2(OnnxNode& node) { reduceAs(node, "sum", "square", "sqrt"); }
void convertReduceLogSum(OnnxNode& node) { reduceAs(node, "sum", nullptr, "log"); }
void convertReduceSumSquare(OnnxNode& node) { reduceAs(node, "sum", "square", nullptr); }

namespace {

/// max + log(sum(exp(x - max))): exp never overflows. Infinities of a row are its result, so that
/// they are not taken from themselves.
ValueRef shiftOf(OnnxNode& node, ValueRef top)
{
    const DataType dtype = node.typeOf(top).dtype;
    const double most = dtype == kFloat64   ? std::numeric_limits<double>::max()
                        : dtype == kFloat16 ? 65504
                                            : std::numeric_limits<float>::max();
    return node.emit("clip", {top}, {{"a_min", -most}, {"a_max", most}});
}

/// As below along axes that are known when the model runs.
void reduceLogSumExpAtRunTime(OnnxNode& node)
{
    RunTimeAxes axes = runTimeAxes(node);
    const ValueRef top = shiftOf(node, axes.reduce("max", node.input(0)));
    const ValueRef parts = node.emit("exp", {node.emit("subtract", {node.input(0), top})});
    const ValueRef out = node.emit("add", {top, node.emit("log", {axes.reduce("sum", parts)})});
    node.output(0, node.integer("keepdims", 1) != 0 ? out : axes.squeeze(out));
}

} // namespace

void convertReduceLogSumExp(OnnxNode& node)
{
    if (areAxesRuntime(node)) return reduceLogSumExpAtRunTime(node);
    const auto axes = reducedAxes(node);
    if (node.hasFailed() || !axes) return;
    const ValueRef top = shiftOf(
        node, node.emit("max", {node.input(0)}, {{"axis", *axes}, {"keepdims", int64_t{1}}}));
    ValueRef sum = node.emit("exp", {node.emit("subtract", {node.input(0), top})});
    sum = node.emit("sum", {sum}, {{"axis", *axes}, {"keepdims", int64_t{1}}});
    ValueRef out = node.emit("add", {top, node.emit("log", {sum})});
    if (node.integer("keepdims", 1) == 0) out = node.emit("squeeze", {out}, {{"axis", *axes}});
    node.output(0, out);
}

void convertArgMax(OnnxNode& node) { convertArg(node, "argmax"); }
void convertArgMin(OnnxNode& node) { convertArg(node, "argmin"); }

} // namespace tenon::compiler
