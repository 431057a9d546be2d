// SPDX-License-Identifier: Apache-2.0
// Slice, by attributes and by inputs.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

#include <algorithm>
#include <limits>

namespace tenon::compiler {
namespace {

/// A slice with every bound inside the axis: begin in [0, d], end in [-1, d].
struct AxisSlice
{
    int64_t begin;
    int64_t end;
};

AxisSlice clamped(int64_t begin, int64_t end, int64_t step, int64_t extent)
{
    const auto clamp = [&](int64_t at, int64_t low, int64_t high) {
        if (at < 0) at = at < -extent ? low : std::max(at + extent, low);
        return std::min(at, high);
    };
    if (step > 0) return {clamp(begin, 0, extent), clamp(end, 0, extent)};
    return {clamp(begin, -1, extent - 1), clamp(end, -1, extent - 1)};
}

void sliceBy(OnnxNode& node, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
             std::vector<int64_t> axes, std::vector<int64_t> steps)
{
    if (node.hasFailed()) return;
    if (axes.empty()) axes = counted(0, static_cast<int64_t>(starts.size()));
    if (steps.empty()) steps.assign(starts.size(), 1);
    axes = node.axesOf(axes, node.rank(0));
    if (node.hasFailed()) return;
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size()) {
        node.fail(DiagnosticCode::BadAttribute,
                  "starts, ends, axes and steps must have equally many entries");
        return;
    }
    std::vector<int64_t> begin;
    std::vector<int64_t> end;
    for (size_t i = 0; i < axes.size(); ++i) {
        if (steps[i] == 0 || steps[i] == std::numeric_limits<int64_t>::min()) {
            node.fail(DiagnosticCode::BadAttribute,
                      "the step " + std::to_string(steps[i]) + " is not allowed", "steps");
            return;
        }
        const Dim& dim = node.type(0).shape[static_cast<size_t>(axes[i])];
        if (!dim.isConst()) {
            node.fail(DiagnosticCode::DynamicShape, "cannot slice the dynamic dimension " +
                                                        quoted(dim.text()) +
                                                        "; bind the model's input shapes");
            return;
        }
        const AxisSlice slice = clamped(starts[i], ends[i], steps[i], dim.value());
        begin.push_back(slice.begin);
        // Going backwards to the very first element: -1 would mean the last, so say "before it".
        end.push_back(slice.end < 0 ? -dim.value() - 1 : slice.end);
    }
    node.output(0, node.emit("strided_slice", {node.input(0)},
                             {{"begin", begin}, {"end", end}, {"strides", steps}, {"axes", axes}}));
}

bool isAnyOpen(OnnxNode& node, const std::vector<int64_t>& axes)
{
    const Shape& shape = node.type(0).shape;
    return std::any_of(axes.begin(), axes.end(),
                       [&](int64_t axis) { return !shape[static_cast<size_t>(axis)].isConst(); });
}

} // namespace

void convertSliceAttr(OnnxNode& node)
{
    const std::vector<int64_t> starts = node.integers("starts", {});
    const std::vector<int64_t> ends = node.integers("ends", {});
    std::vector<int64_t> axes = counted(0, static_cast<int64_t>(starts.size()));
    axes = node.axesOf(node.integers("axes", axes), node.rank(0));
    if (node.hasFailed()) return;
    if (isAnyOpen(node, axes) &&
        sliceBySizes(node, axes, {starts.begin(), starts.end()}, {ends.begin(), ends.end()}))
        return;
    sliceBy(node, starts, ends, axes, {});
}

void convertSlice(OnnxNode& node)
{
    if (node.isOpen(3) || node.isOpen(4)) return sliceAlongRunTimeAxes(node);
    std::vector<int64_t> axes = node.has(3) ? node.staticIntegers(3) : std::vector<int64_t>{};
    std::vector<int64_t> steps = node.has(4) ? node.staticIntegers(4) : std::vector<int64_t>{};
    const std::vector<int64_t> count = node.shape(1);
    if (node.hasFailed()) return;
    if (axes.empty() && count.size() == 1) axes = counted(0, count[0]);
    axes = node.axesOf(axes, node.rank(0));
    if (node.hasFailed()) return;
    if (!node.constant(1) || !node.constant(2) || isAnyOpen(node, axes)) {
        if (steps.empty()) steps.assign(axes.size(), 1);
        const bool isWhole =
            std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; });
        const auto *starts = node.dims(1), *ends = node.dims(2);
        if (isWhole && starts && ends && *starts && *ends &&
            sliceBySizes(node, axes, **starts, **ends))
            return;
        return sliceAtRunTime(node, axes, steps);
    }
    const std::vector<int64_t> starts = node.staticIntegers(1);
    const std::vector<int64_t> ends = node.staticIntegers(2);
    sliceBy(node, starts, ends, axes, steps);
}

} // namespace tenon::compiler
