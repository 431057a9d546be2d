// SPDX-License-Identifier: Apache-2.0
// Constants per channel are split like the channels; one pixel or one channel for all is left as
// it is, under a shape of five axes.
#include "compiler/passes/layout/broadcast_operand.h"

#include "compiler/passes/layout/channel_block.h"

#include <algorithm>

namespace tenon::compiler {

bool canStandBeside(const Module& module, const LayoutValues& values, ValueRef operand,
                    const Dim& channels)
{
    const Shape& shape = module.type(operand).shape;
    if (values.blockOf(operand) != 0 || shape.empty()) return true;
    const Dim channel = shape.size() >= 3 ? shape[shape.size() - 3] : Dim(1);
    // Only items may be of unknown number: pixels that are not known cannot be moved.
    return shape.size() <= 4 && (isOne(channel) || channel == channels) &&
           constantShape({shape.begin() + (shape.size() == 4), shape.end()}).has_value();
}

ValueRef broadcastOperand(const Module& module, LayoutValues& values, ValueRef operand,
                          const BlockedChannels& beside)
{
    const auto& [channels, block] = beside;
    if (values.blockOf(operand) == block) return values.blockedForm(operand);
    const Shape& shape = module.type(operand).shape;
    const Tensor* constant = constantOf(module, operand);
    if (shape.empty() || (constant && constant->size() == 1)) return operand;
    const bool hasChannels =
        shape.size() >= 3 && shape[shape.size() - 3] == channels && !isOne(channels);
    if (!hasChannels) {
        if (shape.size() == 4)
            return values.transform(values.plain(operand), "NCHW", blockedLayout(1));
        std::vector<int64_t> wider = *constantShape(shape);
        wider.push_back(1);
        return values.reshaped(operand, std::move(wider));
    }
    const bool isPixel = isOne(shape[shape.size() - 2]) && isOne(shape[shape.size() - 1]);
    if (constant && isPixel) {
        std::vector<int64_t> split = *constantShape(shape);
        split[split.size() - 3] /= block;
        split.push_back(block);
        return values.reshaped(operand, std::move(split));
    }
    if (shape.size() == 4) return values.blocked(operand, block);
    std::vector<int64_t> four = *constantShape(shape);
    four.insert(four.begin(), 1);
    return values.transform(values.reshaped(operand, std::move(four)), "NCHW",
                            blockedLayout(block));
}

bool hasOneScale(const Module& module, const NodeRecord& node)
{
    return std::all_of(node.operands.begin() + 1, node.operands.end(), [&](ValueRef operand) {
        const Tensor* constant = constantOf(module, operand);
        return constant ? constant->size() == 1 : !operand.node.isValid();
    });
}

} // namespace tenon::compiler
