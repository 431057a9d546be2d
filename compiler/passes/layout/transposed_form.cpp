// SPDX-License-Identifier: Apache-2.0
// By the channels that fill vectors, and the pixels of the image.
#include "compiler/passes/layout/transposed_form.h"

#include "compiler/passes/layout/channel_block.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

TransposedForm transposedForm(const Module& module, const NodeRecord& node,
                              const std::vector<int64_t>& weight, int lanes)
{
    const int64_t groups = node.attrs.integer("groups", 1);
    const std::array<TransposedAxis, 2> axes{transposedAxis(module, node, weight, 0),
                                             transposedAxis(module, node, weight, 1)};
    const auto isOne = [](const TransposedAxis& a) {
        return a.input == 1 && a.padding == 0 && a.output == a.kernel;
    };
    if (groups == 1 && isOne(axes[0]) && isOne(axes[1])) return TransposedForm::Pixel;
    const bool isDilated = axes[0].dilation != 1 || axes[1].dilation != 1;
    // A kernel for each of many phases joins them element by element.
    constexpr int64_t kMostPhasesOfAxis = 8;
    if (!isDilated && std::max(axes[0].stride, axes[1].stride) > kMostPhasesOfAxis)
        return TransposedForm::Windows;
    const auto isFilled = [&](int64_t channels) {
        return channels >= lanes || channelBlock(channels, lanes) != 0;
    };
    const bool isWhole = axes[0].hasPhases() && axes[1].hasPhases();
    const bool fillsVectors = isFilled(weight[0]) && isFilled(weight[1] * groups);
    // Few results of whole vectors of channels; not where windows would be mostly zeros.
    const bool hasTaps = axes[0].kernel >= axes[0].stride && axes[1].kernel >= axes[1].stride;
    const bool isNarrow = !isDilated && groups == 1 && weight[0] >= lanes && weight[1] < lanes &&
                          axes[0].stride * axes[1].stride > 1 && hasTaps;
    return isNarrow && !(isWhole && fillsVectors) ? TransposedForm::Windows
                                                  : TransposedForm::Phases;
}

} // namespace tenon::compiler
