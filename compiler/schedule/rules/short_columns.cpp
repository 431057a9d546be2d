// SPDX-License-Identifier: Apache-2.0
// Splits the rows into steps of as many as fill vectors.
#include "compiler/schedule/rules/short_columns.h"

#include "compiler/schedule/rules/rows.h"
#include "compiler/schedule/tree.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

/// Steps for which the strands' own reduction costs little.
constexpr int64_t kFewestSteps = 8;
/// Bytes that are widened at a time.
constexpr int64_t kByteVector = 16;

/// Bytes become wide sums a vector of them at a time: fewer of them take a load and a widening to
/// each vector of sums. Wider vectors have loads that widen.
bool widensBytes(const Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    const tir::Buffer sum = writtenIn(stmt)[0];
    const std::vector<tir::Buffer> read = readIn(stmt->body);
    return facts.vectorBytes == kByteVector && sum->dtype.bytes() == 4 &&
           std::all_of(read.begin(), read.end(), [&](const tir::Buffer& buffer) {
               return buffer == sum || buffer->dtype.bytes() == 1;
           });
}

struct Table
{
    size_t firstRows = 0, lastRows = 0; ///< axes that are reduced, one going on where the next ends
    size_t columns = 0;                 ///< the axis, and its place among the result's dimensions
    int64_t rowCount = 1, columnCount = 0;
};

/// Whether the elements of all rows lie one behind the other.
bool liesSideBySide(const std::vector<int64_t>& access, const std::vector<AxisView>& axes,
                    const Table& table)
{
    const int64_t row = access[table.lastRows];
    if (access[table.columns] != 1 || (row != table.columnCount && row != 0)) return false;
    for (size_t i = table.lastRows; i > table.firstRows; --i)
        if (access[i - 1] != access[i] * axes[i].extent) return false;
    return true;
}

std::optional<Table> tableOf(const Schedule& schedule, const std::string& block)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    Table table{.firstRows = axes.size(), .columns = axes.size()};
    for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].loop.empty()) return std::nullopt;
        if (!axes[i].isReduce && axes[i].extent != 1) table.columns = i;
        if (!axes[i].isReduce) continue;
        if (axes[i].extent < 1 || branchesAlong(stmt, stmt->block.iters[i].var))
            return std::nullopt;
        table.firstRows = std::min(table.firstRows, i);
        table.lastRows = i;
        table.rowCount *= axes[i].extent;
    }
    if (table.columns >= table.firstRows || table.firstRows == axes.size() ||
        branchesAlong(stmt, stmt->block.iters[table.columns].var))
        return std::nullopt;
    table.columnCount = axes[table.columns].extent;
    const AxisSteps steps = stepsOf(stmt);
    if (!steps.isKnown || table.columnCount < 1 ||
        !std::all_of(steps.access.begin(), steps.access.end(),
                     [&](const auto& access) { return liesSideBySide(access, axes, table); }))
        return std::nullopt;
    return table;
}

/// Rows of one step: of those that divide them all the most that few vectors hold, in whole vectors
/// where possible; 0 where none fill one.
int64_t rowsOfStep(const Table& table, int64_t lanes)
{
    constexpr int64_t kMostVectors = 4; ///< that do not wait for each other
    int64_t best = 0;
    for (int64_t rows = kMostVectors * lanes / table.columnCount; rows > 1; --rows) {
        const int64_t width = rows * table.columnCount;
        if (width < lanes) break;
        if (table.rowCount % rows != 0 || table.rowCount / rows < kFewestSteps) continue;
        if (width % lanes == 0) return rows;
        if (best == 0) best = rows;
    }
    return best;
}

/// As many as fill one or two vectors of bytes; the last step may have fewer.
int64_t rowsOfByteStep(const Table& table)
{
    if (kByteVector % table.columnCount != 0) return 0;
    const int64_t rows = kByteVector / table.columnCount, steps = table.rowCount / rows;
    return steps < kFewestSteps ? 0 : steps < 2 * kFewestSteps ? rows : 2 * rows;
}

/// Elements that the last step has, without masks; nothing where all have as many.
void peelLastStep(Schedule& schedule, const std::string& steps, int64_t elements, int64_t width)
{
    const int64_t whole = elements / width;
    if (schedule.extentOf(steps) == whole) return;
    const std::string tail = schedule.peel(steps, whole);
    const std::string row = schedule.loopsOf(blockIn(schedule, tail)).back();
    schedule.peel(row, elements % width);
    return vectorizeInParts(schedule, row, kByteVector);
}

} // namespace

bool reduceShortColumns(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const auto table = tableOf(schedule, block);
    if (!table) return false;
    const bool areBytes = widensBytes(schedule, block, facts);
    const int64_t lanes = areBytes ? kByteVector : lanesOf(schedule, block, facts);
    if (table->columnCount >= lanes || (!areBytes && table->firstRows != table->lastRows))
        return false;
    const int64_t rows = areBytes ? rowsOfByteStep(*table) : rowsOfStep(*table, lanes);
    if (rows == 0) return false;
    for (size_t i = table->firstRows; i < table->lastRows; ++i)
        schedule.fuseAxes(block, static_cast<int64_t>(table->firstRows));
    const std::vector<AxisView> axes = axesOf(schedule, block);
    const std::string columns = axes[table->columns].loop;
    const auto parts = schedule.split(axes[table->firstRows].loop, {-1, rows});
    const std::vector<std::string> before = schedule.blocks();
    schedule.rfactor(parts[1], static_cast<int64_t>(table->columns));
    for (const std::string& strands : blocksSince(schedule, before)) {
        std::vector<std::string> order, outer;
        for (const AxisView& axis : axesOf(schedule, strands))
            if (axis.loop != parts[0] && axis.loop != parts[1] && axis.loop != columns)
                order.push_back(axis.loop);
        outer = order;
        order.insert(order.end(), {parts[0], parts[1], columns});
        schedule.reorder(order);
        const std::string row = schedule.fuse({parts[1], columns});
        initialiseTile(schedule, strands, parts[0], 1, lanes);
        peelLastStep(schedule, parts[0], table->rowCount * table->columnCount,
                     rows * table->columnCount);
        vectorizeInParts(schedule, row, lanes);
        parallelise(schedule, outer, facts);
    }
    return true;
}

} // namespace tenon::compiler
