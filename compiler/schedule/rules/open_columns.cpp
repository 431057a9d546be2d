// SPDX-License-Identifier: Apache-2.0
// Products whose columns are known at run time only, as attention's of any number of tokens: blocks
// of vectors of columns in registers, the last of which is under masks.
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Vectors side by side: so many sums do not wait for each other.
constexpr int64_t kVectors = 4;

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

} // namespace

bool hasOpenColumns(const tir::PrimFunc& function, const TargetFacts& facts)
{
    constexpr int64_t kFewestLanes = 4;
    const Schedule schedule(function);
    const std::vector<AxisView> axes = productAxes(schedule);
    if (axes.empty()) return false;
    const size_t columns = axes.size() - 2;
    const tir::Stmt block = blockOf(schedule, anchorOf(schedule));
    return axes[columns].extent < 0 && block->init && block->body->buffer->dtype == kFloat32 &&
           lanesOf(schedule, block->block.name, facts) >= kFewestLanes &&
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
    const auto blocks = schedule.split(axes[columns].loop, {-1, kVectors * lanes});
    std::vector<std::string> outer, order;
    for (size_t i = 0; i < columns; ++i) outer.push_back(axes[i].loop);
    order = outer;
    order.insert(order.end(), {blocks[0], axes.back().loop, blocks[1]});
    schedule.reorder(order);
    const auto left = attachEpilogue(schedule, product, blocks[0], lanes);
    initialiseTile(schedule, product, axes.back().loop, 1, lanes);
    unrollTile(schedule, product, 1, lanes);
    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
