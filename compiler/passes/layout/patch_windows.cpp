// SPDX-License-Identifier: Apache-2.0
// By strides, dilation and padding.
#include "compiler/passes/layout/patch_windows.h"

#include "core/ir/tir/sum.h"

#include <algorithm>

namespace tenon::compiler {

Attrs PatchWindow::attrs() const { return {{"patch", patch}, {"step", step}, {"before", before}}; }

PatchWindow patchWindow(const NodeRecord& node, const std::vector<int64_t>& kernel,
                        const std::array<int64_t, 2>& sides)
{
    const std::vector<int64_t> ones{1, 1};
    const std::vector<int64_t> strides = node.attrs.integers("strides", ones);
    const std::vector<int64_t> dilation = node.attrs.integers("dilation", ones);
    const std::vector<int64_t> padding = node.attrs.integers("padding", {0, 0, 0, 0});
    PatchWindow out{.patch = {}, .step = {}, .before = {padding[0], padding[1]}};
    for (size_t i = 0; i < sides.size(); ++i) {
        out.patch.push_back((sides[i] - 1) * strides[i] + (kernel[i] - 1) * dilation[i] + 1);
        out.step.push_back(sides[i] * strides[i]);
    }
    return out;
}

TransposedWindow transposedWindow(const NodeRecord& node, const std::array<TransposedAxis, 2>& axes,
                                  const std::array<int64_t, 2>& steps)
{
    const std::vector<int64_t> dilation = node.attrs.integers("dilation", {1, 1});
    TransposedWindow out{.window = {.patch = {}, .step = {steps[0], steps[1]}, .before = {}},
                         .padding = std::vector<int64_t>(4),
                         .extra = {}};
    for (size_t i = 0; i < steps.size(); ++i) {
        const int64_t s = axes[i].stride, p = axes[i].padding;
        const int64_t reach = (axes[i].kernel - 1) * dilation[i];
        int64_t first = tir::floorDivide(p - reach + s - 1, s);
        if (first * s > p) --first; // padding cuts off, it does not add
        const int64_t end = steps[i] + tir::floorDivide(p - 1, s) + 1;
        out.window.before.push_back(-first);
        out.window.patch.push_back(end - first);
        const int64_t behind = reach + tir::floorDivide(p - 1, s) * s + 1 - p;
        out.padding[i] = p - first * s;
        out.padding[2 + i] = std::max<int64_t>(behind, 0);
        out.extra.push_back(std::max<int64_t>(-behind, 0));
    }
    return out;
}

} // namespace tenon::compiler
