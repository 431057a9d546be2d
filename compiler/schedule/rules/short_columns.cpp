// SPDX-License-Identifier: Apache-2.0
// Splits the rows into steps of as many as fill vectors.
#include "compiler/schedule/rules/short_columns.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

/// Vectors that do not wait for each other.
constexpr int64_t kMostVectors = 4;
/// Steps for which the strands' own reduction costs little.
constexpr int64_t kFewestSteps = 8;

struct Table
{
    std::string rows, columns; ///< loops
    size_t place = 0;          ///< of the columns among the result's dimensions
    int64_t rowCount = 0, columnCount = 0;
};

std::optional<Table> tableOf(const Schedule& schedule, const std::string& block)
{
    const tir::Stmt stmt = blockOf(schedule, block);
    const std::vector<AxisView> axes = axesOf(schedule, block);
    size_t rows = axes.size(), columns = axes.size(), reduced = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].loop.empty()) return std::nullopt;
        if (axes[i].isReduce) rows = i;
        if (axes[i].isReduce) ++reduced;
        if (!axes[i].isReduce && axes[i].extent != 1) columns = i;
    }
    if (reduced != 1 || columns > rows || axes[rows].extent < 1 || axes[columns].extent < 1)
        return std::nullopt;
    const AxisSteps steps = stepsOf(stmt);
    const auto liesSideBySide = [&](const std::vector<int64_t>& access) {
        return access[columns] == 1 && (access[rows] == axes[columns].extent || access[rows] == 0);
    };
    if (!steps.isKnown || branchesAlong(stmt, stmt->block.iters[columns].var) ||
        branchesAlong(stmt, stmt->block.iters[rows].var) ||
        !std::all_of(steps.access.begin(), steps.access.end(), liesSideBySide))
        return std::nullopt;
    return Table{axes[rows].loop, axes[columns].loop, columns, axes[rows].extent,
                 axes[columns].extent};
}

/// Rows of one step: of those that divide them all the most that few vectors hold, in whole vectors
/// where possible; 0 where none fill one.
int64_t rowsOfStep(const Table& table, int64_t lanes)
{
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

} // namespace

bool reduceShortColumns(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const auto table = tableOf(schedule, block);
    const int64_t lanes = lanesOf(schedule, block, facts);
    if (!table || table->columnCount >= lanes) return false;
    const int64_t rows = rowsOfStep(*table, lanes);
    if (rows == 0) return false;
    const auto parts = schedule.split(table->rows, {-1, rows});
    const std::vector<std::string> before = schedule.blocks();
    schedule.rfactor(parts[1], static_cast<int64_t>(table->place));
    for (const std::string& strands : blocksSince(schedule, before)) {
        std::vector<std::string> order, outer;
        for (const AxisView& axis : axesOf(schedule, strands))
            if (axis.loop != parts[0] && axis.loop != parts[1] && axis.loop != table->columns)
                order.push_back(axis.loop);
        outer = order;
        order.insert(order.end(), {parts[0], parts[1], table->columns});
        schedule.reorder(order);
        const std::string row = schedule.fuse({parts[1], table->columns});
        initialiseTile(schedule, strands, parts[0], 1, lanes);
        vectorizeInParts(schedule, row, lanes);
        parallelise(schedule, outer, facts);
    }
    return true;
}

} // namespace tenon::compiler
