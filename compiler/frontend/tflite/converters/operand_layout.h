// SPDX-License-Identifier: Apache-2.0
// In which of its two layouts an operator works: channels first where its pictures are so already.
#pragma once

#include "compiler/frontend/tflite/graph/tflite_node.h"

namespace tenon::compiler {

enum class PictureLayout : uint8_t
{
    File, ///< [N, H, W, C], and everything that is no picture
    ChannelsFirst
};

/// Channels first when one of the inputs is, and the others are or cost nothing to move.
PictureLayout layoutOf(TfliteNode& node, const std::vector<size_t>& inputs);
/// Of one result for all inputs that are present.
PictureLayout layoutOfAll(TfliteNode& node);
/// The input in that layout; operands of lower rank get leading ones, as broadcasting would.
ValueRef inputIn(TfliteNode& node, size_t input, PictureLayout layout);
/// A value of the file's order in that layout.
ValueRef valueIn(TfliteNode& node, ValueRef value, PictureLayout layout);
void outputIn(TfliteNode& node, size_t output, ValueRef value, PictureLayout layout);
/// Where an axis of the file stands in the layout; not negative.
int64_t axisIn(int64_t axis, PictureLayout layout);
/// A list of one entry per axis of the file in the layout's order.
template <class T>
std::vector<T> listIn(const std::vector<T>& list, PictureLayout layout)
{
    if (layout == PictureLayout::File || list.size() != 4) return list;
    return {list[0], list[3], list[1], list[2]};
}

} // namespace tenon::compiler
