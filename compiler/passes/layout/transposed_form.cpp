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
    // A kernel for each of many phases joins them element by element.
    constexpr int64_t kMostPhasesOfAxis = 8;
    if (std::max(axes[0].stride, axes[1].stride) > kMostPhasesOfAxis)
        return TransposedForm::Windows;
    // Others than narrow ones are widened where they fill no vector.
    const auto isFilled = [&](int64_t channels) {
        return channels >= lanes || channelBlock(channels, lanes) != 0;
    };
    if (isFilled(weight[0]) && isFilled(weight[1] * groups) && axes[0].hasPhases() &&
        axes[1].hasPhases())
        return TransposedForm::Phases;
    // Few results of whole vectors of channels.
    const bool isNarrow = groups == 1 && weight[0] >= lanes && weight[1] < lanes &&
                          axes[0].stride * axes[1].stride > 1;
    return isNarrow ? TransposedForm::Windows : TransposedForm::Direct;
}

} // namespace tenon::compiler
