// SPDX-License-Identifier: Apache-2.0
// Finds the blocks of a Winograd convolution from the one that multiplies.
#include "compiler/schedule/rules/winograd_site.h"

#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The block that writes `buffer`, or "".
std::string writerOf(const Schedule& schedule, const std::string& reader, const tir::Buffer& buffer)
{
    for (const std::string& other : blocksBefore(schedule, reader))
        if (outputOf(schedule, other) == buffer->name) return other;
    return "";
}

} // namespace

std::string producerOf(const Schedule& schedule, const std::string& block)
{
    const auto inputs = block.empty() ? std::vector<tir::Buffer>() : inputsOf(schedule, block);
    return inputs.empty() ? "" : writerOf(schedule, block, inputs.front());
}

WinogradBlocks blocksOf(const Schedule& schedule)
{
    WinogradBlocks blocks{.products = anchorOf(schedule)};
    blocks.dataTiles = producerOf(schedule, blocks.products);
    if (blocks.dataTiles.empty()) return blocks; // none of ours
    blocks.dataRows = producerOf(schedule, blocks.dataTiles);
    blocks.pad = producerOf(schedule, blocks.dataRows);
    blocks.filterPoints =
        writerOf(schedule, blocks.products, inputsOf(schedule, blocks.products).back());
    if (!blocks.filterPoints.empty()) blocks.filterRows = producerOf(schedule, blocks.filterPoints);
    blocks.resultRows = readerOf(schedule, blocks.products);
    blocks.resultTiles = readerOf(schedule, blocks.resultRows);
    return blocks;
}

WinogradShape shapeOf(const Schedule& schedule, const WinogradBlocks& blocks)
{
    const std::vector<AxisView> axes = axesOf(schedule, blocks.products);
    const core::Attrs& facts = blockOf(schedule, blocks.products)->block.annotations;
    const std::string& reader = blocks.filterRows.empty() ? blocks.products : blocks.filterRows;
    const std::vector<int64_t> tile = facts.integers("tile_size", {2, 2});
    WinogradShape shape{.tile = {tile.at(0), tile.at(1)},
                        .images = std::max<int64_t>(1, axes[0].extent),
                        .rows = 0,
                        .columns = facts.integer("tile_columns", 1),
                        .points = axes[1].extent * axes[2].extent,
                        .lanes = axes[5].extent,
                        .outBlocks = axes[3].extent,
                        .vectors = 1,
                        .inChannels = axes[6].extent * axes[7].extent,
                        .groups = facts.integer("groups", 1),
                        .inLanes = axes[7].extent,
                        .phases = facts.integer("phases", 1),
                        .pointBytes = inputsOf(schedule, reader).back()->dtype.bytes(),
                        .dataBytes = inputsOf(schedule, blocks.products).front()->dtype.bytes(),
                        .unrollsRows = facts.integer("unrolls_rows", 0) != 0,
                        .skipsColumns = facts.integer("skips_columns", 0) != 0,
                        .filters = inputsOf(schedule, reader).back()};
    shape.rows = axes[4].extent / shape.columns;
    shape.vectors = shape.filters->shape[5]->integer / shape.lanes;
    shape.mayGoByPoint = shape.groups == 1;
    return shape;
}

std::vector<std::string> innerLoops(const Schedule& schedule, const std::string& block,
                                    size_t count)
{
    const std::vector<std::string> all = schedule.loopsOf(block);
    return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
}

} // namespace tenon::compiler
