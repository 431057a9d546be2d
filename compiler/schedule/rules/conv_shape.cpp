// SPDX-License-Identifier: Apache-2.0
// What a blocked convolution's block says of its loops, extents and bytes.
#include "compiler/schedule/rules/conv_tiles.h"
#include "compiler/schedule/rules/rule.h"

#include <algorithm>

namespace tenon::compiler {

ConvLoops loopsOfConv(const Schedule& schedule, const std::string& conv)
{
    const std::vector<std::string> l = ownLoopsOf(schedule, conv);
    return {l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], ""};
}

ConvShape shapeOfConv(const Schedule& schedule, const std::string& conv)
{
    const std::vector<AxisView> axes = axesOf(schedule, conv);
    ConvShape shape{
        .lanes = axes[4].extent,
        .outBlocks = axes[1].extent,
        .rows = axes[2].extent,
        .columns = axes[3].extent,
        .inLanes = axes[8].extent,
        .kernelRows = axes[6].extent,
        .kernelColumns = axes[7].extent,
        .columnStep =
            blockOf(schedule, conv)->block.annotations.integers("strides", {1, 1}).back()};
    tir::Buffer data, weight;
    for (const tir::Buffer& buffer : inputsOf(schedule, conv))
        (buffer->shape.size() == 6 ? weight : data) = buffer;
    shape.data = data;
    shape.weights = weight;
    shape.vectors = weight->shape[5]->integer / shape.lanes;
    shape.weightBytes = bytesOf(weight);
    shape.inputPositionBytes =
        axes[5].extent * shape.inLanes * static_cast<int64_t>(data->dtype.bytes());
    shape.inputPositions = data->shape[2]->integer * data->shape[3]->integer;
    shape.inputRowBytes = bytesOf(data) / std::max<int64_t>(1, data->shape[2]->integer);
    shape.groups = data->shape[1]->integer / std::max<int64_t>(1, axes[5].extent);
    shape.isPointwise = shape.kernelRows == 1 && shape.kernelColumns == 1 &&
                        data->shape[2]->integer == shape.rows &&
                        data->shape[3]->integer == shape.columns;
    return shape;
}

bool readsWeightsOnce(const ConvShape& shape, const TargetFacts& facts)
{
    return shape.weightBytes > facts.l2Bytes / 2;
}

} // namespace tenon::compiler
