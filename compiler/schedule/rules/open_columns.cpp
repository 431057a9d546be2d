// SPDX-License-Identifier: Apache-2.0
// Products of which a size is known at run time only, as attention's of any number of tokens: tiles
// of rows and vectors of columns in registers, the last of which are under masks.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Vectors side by side, and rows: so many sums do not wait for each other, and each load of either
/// side serves several of them.
constexpr int64_t kMostVectors = 4, kMostRows = 4;

/// The axes of the anchor where it sums over the last of them; its columns are those before.
std::vector<AxisView> productAxes(const Schedule& schedule)
{
    std::vector<AxisView> axes = axesOf(schedule, anchorOf(schedule));
    const bool isProduct = axes.size() >= 3 && axes.back().isReduce &&
                           std::none_of(axes.begin(), axes.end() - 1, [](const AxisView& axis) {
                               return axis.isReduce || axis.loop.empty();
                           });
    return isProduct ? axes : std::vector<AxisView>();
}

RegisterTile openTile(const std::vector<AxisView>& axes, int64_t lanes, const TargetFacts& facts)
{
    const int64_t columns = axes[axes.size() - 2].extent, rows = axes[axes.size() - 3].extent;
    const int64_t vectors = columns < 0 ? kMostVectors : divisorUpTo(columns / lanes, kMostVectors);
    const int64_t room = std::clamp<int64_t>(mostPositions(vectors, facts), 1, kMostRows);
    return {vectors, rows < 0 ? room : divisorUpTo(rows, room)};
}

} // namespace

bool hasOpenColumns(const tir::PrimFunc& function, const TargetFacts& facts)
{
    constexpr int64_t kFewestLanes = 4;
    const Schedule schedule(function);
    const std::vector<AxisView> axes = productAxes(schedule);
    if (axes.empty()) return false;
    const size_t columns = axes.size() - 2;
    const tir::Stmt block = blockOf(schedule, anchorOf(schedule));
    const int64_t known = axes[columns].extent;
    const int64_t lanes = lanesOf(schedule, block->block.name, facts);
    return (known < 0 || (known >= lanes && known % lanes == 0)) && block->init &&
           block->body->buffer->dtype == kFloat32 && lanes >= kFewestLanes &&
           isContiguousAlong(block, columns);
}

void scheduleOpenColumns(Schedule& schedule, const TargetFacts& facts)
{
    const std::string product = anchorOf(schedule);
    const std::vector<std::string> others = blocksBefore(schedule, product);
    std::vector<std::string> keep = others;
    keep.push_back(product);
    inlineElementwise(schedule, keep);
    const std::vector<AxisView> axes = productAxes(schedule);
    const int64_t lanes = lanesOf(schedule, product, facts);
    accumulateInRegisters(schedule, product);

    const size_t columns = axes.size() - 2;
    const RegisterTile tile = openTile(axes, lanes, facts);
    const auto blocks = schedule.split(axes[columns].loop, {-1, tile.vectors * lanes});
    const auto rows = schedule.split(axes[columns - 1].loop, {-1, tile.positions});
    std::vector<std::string> outer, order;
    for (size_t i = 0; i + 1 < columns; ++i) outer.push_back(axes[i].loop);
    outer.push_back(rows[0]);
    order = outer;
    order.insert(order.end(), {blocks[0], axes.back().loop, rows[1], blocks[1]});
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, product, blocks[0], lanes);
    initialiseTile(schedule, product, axes.back().loop, 2, lanes);
    unrollTile(schedule, product, 2, lanes);
    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
