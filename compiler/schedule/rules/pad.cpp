// SPDX-License-Identifier: Apache-2.0
// Padding: computed for the rows that are about to be read, or all at once; the columns inside the
// image are copied without a branch.
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;

constexpr size_t kColumnAxis = 3;
/// Vectors of a row for which a loop takes longer than they do.
constexpr int64_t kFewVectors = 4;
constexpr int64_t kWordBytes = 4;

/// Columns [first, second) of the padded image that are inside the image.
using Inside = std::pair<int64_t, int64_t>;

/// Reads the bounds from comparisons `column >= a` and `column < b` of the block's condition.
Inside insideOf(const tir::Stmt& block)
{
    const tir::IterVar& column = block->block.iters[kColumnAxis];
    Inside inside{0, column.extent->integer};
    tir::visitExprsIn(block->body, [&](const Expr& expr) {
        const bool compares = expr->args.size() == 2 && expr->args[0]->kind == ExprKind::VarRef &&
                              expr->args[0]->var == column.var &&
                              expr->args[1]->kind == ExprKind::IntImm;
        if (compares && expr->kind == ExprKind::GreaterEqual)
            inside.first = std::max(inside.first, expr->args[1]->integer);
        if (compares && expr->kind == ExprKind::Less)
            inside.second = std::min(inside.second, expr->args[1]->integer);
        return true;
    });
    return inside;
}

/// Vectorizes the innermost axis of channels, or else the columns.
void vectorizeColumns(Schedule& schedule, const std::string& block, int64_t lanes)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const size_t rank = axesOf(schedule, block).size();
    const std::string channels = rank > kColumnAxis + 1 ? loops.back() : "";
    if (!channels.empty() && schedule.extentOf(channels) > 1) return schedule.vectorize(channels);
    const std::string column = loops[loops.size() - rank + kColumnAxis];
    const int64_t extent = schedule.extentOf(column);
    if (extent < 4) return;
    if (extent <= lanes) return schedule.vectorize(column);
    const auto parts = schedule.splitOverlap(column, lanes);
    if (lanes > 1 && schedule.extentOf(parts[0]) <= kFewVectors) schedule.unroll(parts[0]);
    return schedule.vectorize(parts[1]);
}

/// The same for columns that are all inside of the image: blocks of few bytes lie side by side
/// there, as many as fill a vector.
void vectorizePixels(Schedule& schedule, const std::string& block, int64_t lanes)
{
    constexpr int64_t kFewBytes = 16; // the shortest registers
    const std::vector<std::string> loops = schedule.loopsOf(block);
    const std::string &column = loops[loops.size() - 2], &channels = loops.back();
    const int64_t each = schedule.extentOf(channels), count = each * schedule.extentOf(column);
    const bool isBlocked = axesOf(schedule, block).size() == kColumnAxis + 2;
    const int64_t element =
        bufferNamed(schedule.function(), outputOf(schedule, block))->dtype.bytes();
    const int64_t bytes = each * element;
    // Of words of any channels, each byte would ask for its pixel.
    const bool isOfVectors = lanes * element > kWordBytes;
    if (!isBlocked || !isOfVectors || each == 1 || bytes >= kFewBytes || each >= lanes ||
        count < lanes)
        return vectorizeColumns(schedule, block, lanes);
    const std::string pixels = schedule.fuse({column, channels});
    if (count == lanes) return schedule.vectorize(pixels);
    return schedule.vectorize(schedule.splitOverlap(pixels, lanes)[1]);
}

/// Asks ahead of time for the rows of an image that has left the second-level cache.
void streamFramed(Schedule& schedule, const std::vector<tir::Buffer>& inputs,
                  const TargetFacts& facts)
{
    const bool isLarge = inputs.size() == 1 && bytesOf(inputs[0]) > facts.l2Bytes / 4;
    if (isLarge && canStream(schedule, inputs[0], facts))
        (void)schedule.tries().streamRows(inputs[0]->name); // refused where another one is
}

} // namespace

void schedulePad(Schedule& schedule, const std::string& pad, const std::string& loop,
                 const TargetFacts& facts)
{
    const int64_t lanes = lanesOf(schedule, pad, facts);
    const size_t rank = axesOf(schedule, pad).size();
    const bool follows = !loop.empty() && static_cast<bool>(schedule.tries().computeAt(pad, loop));
    if (rank != 4 && rank != 5) {
        if (!follows) scheduleElementwise(schedule, pad, facts);
        return;
    }

    const std::vector<std::string> loops = schedule.loopsOf(pad);
    const size_t base = loops.size() - rank;
    const std::string column = loops[base + kColumnAxis];
    const tir::Stmt block = blockOf(schedule, pad);
    const Inside inside = insideOf(block);
    std::vector<std::string> blocks{pad};
    std::string rest = column, whole;
    // Only a loop over all columns tells which of them are inside.
    if (schedule.extentOf(column) == block->block.iters[kColumnAxis].extent->integer) {
        const int64_t wholeCount = inside.second - inside.first;
        for (const int64_t count : {inside.first, wholeCount}) {
            whole = count == wholeCount ? blocks.back() : "";
            if (count < 1 || count >= schedule.extentOf(rest)) continue;
            const std::vector<std::string> before = schedule.blocks();
            const auto tail = schedule.peel(rest, count);
            for (const std::string& name : blocksSince(schedule, before)) blocks.push_back(name);
            rest = tail;
        }
    }
    streamFramed(schedule, inputsOf(schedule, pad), facts);
    for (const std::string& name : blocks)
        (name == whole ? vectorizePixels : vectorizeColumns)(schedule, name, lanes);
    if (!follows) parallelise(schedule, {loops[base], loops[base + 1], loops[base + 2]}, facts);
}

} // namespace tenon::compiler
