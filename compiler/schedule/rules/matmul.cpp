// SPDX-License-Identifier: Apache-2.0
// dense, dense_pack and matmul: register tiles of rows x vectors of columns; a panel of the right
// side is copied to consecutive memory where several row tiles read it.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/families.h"
#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Product
{
    std::string block;
    std::vector<std::string> batch;
    std::string m, n, k;
    int64_t rows, columns, depth;
};

Product productOf(const Schedule& schedule)
{
    Product p{.block = anchorOf(schedule)};
    const std::vector<AxisView> axes = axesOf(schedule, p.block);
    const size_t rank = axes.size();
    for (size_t i = 0; i + 3 < rank; ++i) p.batch.push_back(axes[i].loop);
    p.m = axes[rank - 3].loop;
    p.n = axes[rank - 2].loop;
    p.k = axes[rank - 1].loop;
    p.rows = axes[rank - 3].extent;
    p.columns = axes[rank - 2].extent;
    p.depth = axes[rank - 1].extent;
    return p;
}

/// The operand that is read along the columns; null when both are.
tir::Buffer rightSide(const Schedule& schedule, const Product& p, size_t columnAxis)
{
    const tir::Stmt block = blockOf(schedule, p.block);
    tir::Buffer right;
    for (const tir::Buffer& buffer : inputsOf(schedule, p.block)) {
        bool isRight = false;
        tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
            if (expr->kind != tir::ExprKind::Load || expr->buffer != buffer) return true;
            for (const tir::Expr& index : expr->args)
                isRight = isRight || usesVar(index, block->block.iters[columnAxis].var.get());
            return true;
        });
        if (isRight && right) return nullptr;
        if (isRight) right = buffer;
    }
    return right;
}

/// Columns per block of a packed right side [N/b, K, b]; 0 when it is not packed.
int64_t packedColumns(const Schedule& schedule, const tir::Buffer& right)
{
    if (schedule.function().attrs.string("kind", "") != "dense_pack" || !right) return 0;
    return right->shape.back()->integer;
}

struct Columns
{
    int64_t lanes;
    bool isPacked;    ///< in blocks of whole vectors
    int64_t perBlock; ///< vectors of a packed block; a tile keeps to one where there are several
};

RegisterTile tileOf(const Schedule& schedule, const Product& p, const Columns& columns,
                    TargetFacts facts)
{
    TileSpace space{(p.columns + columns.lanes - 1) / columns.lanes, p.rows,
                    columns.isPacked ? 0 : p.columns / columns.lanes};
    space.products = 1;
    for (const std::string& loop : p.batch) space.products *= schedule.extentOf(loop);
    if (columns.perBlock > 1) {
        space.products *= space.vectors / columns.perBlock;
        space.vectors = columns.perBlock;
    }
    space.vectorBytes = p.depth * facts.vectorBytes;
    // Each element of the left side is multiplied with several vectors: it takes a register. Where
    // the tile leaves none, sums go through the stack (28 + 4 registers: 142 against 170 GFLOP/s).
    facts.hasEmbeddedBroadcast = false;
    return chooseTile(space, facts);
}

} // namespace

Status scheduleMatmul(Schedule& schedule, const TargetFacts& facts)
{
    Product p = productOf(schedule);
    const std::vector<std::string> others = blocksBefore(schedule, p.block);
    std::vector<std::string> keep = others;
    keep.push_back(p.block);
    inlineElementwise(schedule, keep);
    if (Status status = accumulateInRegisters(schedule, p.block); !status) return status;

    const size_t columnAxis = p.batch.size() + 1;
    const tir::Stmt block = blockOf(schedule, p.block);
    const tir::Buffer right = rightSide(schedule, p, columnAxis);
    const int64_t packed = packedColumns(schedule, right);
    const bool isPacked = packed > 0;
    const int64_t whole = std::min(lanesOf(schedule, p.block, facts), p.columns);
    // A block of weights holds one vector or several.
    const int64_t lanes = isPacked && packed % whole != 0 ? packed : whole;
    const bool isContiguous = isPacked || isContiguousAlong(block, columnAxis);
    std::string panel;
    if (right && !isPacked && (!isContiguous || p.rows >= 32)) {
        const auto copy = schedule.cacheRead(p.block, right->name, tir::Scope::Global);
        if (!copy) return copy.error();
        panel = *copy;
        if (!isContiguous) {
            // [.., N, K] -> [.., K, N]
            const auto rank = static_cast<int64_t>(right->shape.size());
            std::vector<int64_t> order;
            for (int64_t i = 0; i < rank; ++i) order.push_back(i);
            std::swap(order[static_cast<size_t>(rank - 1)], order[static_cast<size_t>(rank - 2)]);
            if (Status status = schedule.permuteDims(outputOf(schedule, panel), order); !status)
                return status;
        }
    }

    const int64_t vectors = (p.columns + lanes - 1) / lanes;
    const int64_t perBlock = isPacked ? packed / lanes : 1;
    RegisterTile tile = tileOf(schedule, p, {lanes, isPacked, perBlock}, facts);
    // One row at a time only streams weights: more vectors hide the latency of the sums.
    if (p.rows == 1) tile = {divisorUpTo(isPacked ? vectors : p.columns / lanes, 8), 1};
    const int64_t width = tile.vectors * lanes;
    const auto columns = p.columns % width == 0 ? schedule.split(p.n, {-1, width})
                                                : schedule.splitOverlap(p.n, width);
    if (!columns) return columns.error();
    const auto parts = schedule.split((*columns)[1], {-1, lanes});
    if (!parts) return parts.error();
    const auto rows = schedule.splitOverlap(p.m, tile.positions);
    if (!rows) return rows.error();
    const auto depth = schedule.split(p.k, {-1, divisorUpTo(p.depth, 4)});
    if (!depth) return depth.error();
    std::vector<std::string> order = p.batch;
    order.insert(order.end(), {(*columns)[0], (*rows)[0], (*depth)[0], (*depth)[1], (*rows)[1],
                               (*parts)[0], (*parts)[1]});
    if (Status status = schedule.reorder(order); !status) return status;

    const auto left = attachEpilogue(schedule, p.block, (*rows)[0], lanes);
    if (!left) return left.error();
    if (Status status = initialiseTile(schedule, p.block, (*depth)[0], 3, lanes); !status)
        return status;
    if (Status status = schedule.unroll((*depth)[1]); !status) return status;
    if (Status status = unrollTile(schedule, p.block, 3, lanes); !status) return status;

    if (!panel.empty()) {
        if (Status status = schedule.computeAt(panel, (*columns)[0]); !status) return status;
        std::vector<std::string> loops = schedule.loopsOf(panel);
        if (!isContiguous) {
            const size_t last = loops.size() - 1;
            if (Status status = schedule.reorder({loops[last], loops[last - 1]}); !status)
                return status;
            std::swap(loops[last], loops[last - 1]);
        }
        if (schedule.extentOf(loops.back()) > lanes) {
            const auto split = schedule.split(loops.back(), {-1, lanes});
            if (!split) return split.error();
            loops.back() = (*split)[1];
        }
        if (Status status = schedule.vectorize(loops.back()); !status) return status;
    }
    for (const std::string& name : others)
        if (Status status = scheduleBlock(schedule, name, facts); !status) return status;
    for (const std::string& name : *left)
        if (Status status = scheduleBlock(schedule, name, facts); !status) return status;
    if (isPacked)
        if (Status status = streamWeights(schedule, right, facts); !status) return status;
    std::vector<std::string> outer = p.batch;
    if (p.columns % width == 0) outer.push_back((*columns)[0]);
    return parallelise(schedule, outer, facts);
}

} // namespace tenon::compiler
