// SPDX-License-Identifier: Apache-2.0
// Choosing the layout of an operator and bringing operands into it.
#include "compiler/frontend/tflite/converters/operand_layout.h"

#include "compiler/frontend/import/formula.h"

namespace tenon::compiler {
namespace {

/// Its elements lie in the same order in both layouts, or it is known now.
bool isFreeToMove(TfliteNode& node, size_t input)
{
    if (node.constant(input)) return true;
    const Shape& shape = node.type(input).shape;
    if (shape.size() < 2) return true;
    if (shape.size() != 4) return false;
    const auto isOne = [&](size_t axis) { return shape[axis] == Dim(1); };
    return isOne(3) || (isOne(1) && isOne(2));
}

} // namespace

PictureLayout layoutOf(TfliteNode& node, const std::vector<size_t>& inputs)
{
    bool isAny = false;
    for (const size_t input : inputs) {
        if (!node.has(input) || node.hasFailed()) continue;
        if (node.isChannelsFirst(input))
            isAny = true;
        else if (!isFreeToMove(node, input))
            return PictureLayout::File;
    }
    return isAny ? PictureLayout::ChannelsFirst : PictureLayout::File;
}

PictureLayout layoutOfAll(TfliteNode& node)
{
    std::vector<size_t> inputs;
    for (size_t i = 0; i < node.inputCount(); ++i) inputs.push_back(i);
    return layoutOf(node, inputs);
}

ValueRef valueIn(TfliteNode& node, ValueRef value, PictureLayout layout)
{
    if (layout == PictureLayout::File || node.hasFailed()) return value;
    Formula f(node);
    const int64_t rank = f.rank(value);
    if (rank == 0) return value;
    if (rank < 4) value = f.expand(value, 0, 4 - rank);
    return node.toChannelsFirst(value);
}

ValueRef inputIn(TfliteNode& node, size_t input, PictureLayout layout)
{
    return valueIn(node, node.input(input), layout);
}

void outputIn(TfliteNode& node, size_t output, ValueRef value, PictureLayout layout)
{
    if (layout == PictureLayout::ChannelsFirst && !node.hasFailed() &&
        node.typeOf(value).shape.size() == 4)
        node.outputChannelsFirst(output, value);
    else
        node.output(output, value);
}

int64_t axisIn(int64_t axis, PictureLayout layout)
{
    constexpr int64_t kAxes[] = {0, 2, 3, 1};
    return layout == PictureLayout::File ? axis : kAxes[axis];
}

} // namespace tenon::compiler
