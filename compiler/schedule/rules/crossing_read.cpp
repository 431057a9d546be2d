// SPDX-License-Identifier: Apache-2.0
// Loads and the place of the square's copy.
#include "compiler/schedule/rules/crossing_read.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

std::optional<size_t> dimAlong(const tir::Expr& load, const tir::Var& var)
{
    std::optional<size_t> found;
    for (size_t dim = 0; dim + 1 < load->args.size(); ++dim) {
        if (!usesVar(load->args[dim], var.get())) continue;
        if (found) return std::nullopt;
        found = dim;
    }
    return found;
}

} // namespace

bool isInsideOfBlock(const tir::Expr& index)
{
    return index->kind == tir::ExprKind::FloorMod && index->args[1]->kind == tir::ExprKind::IntImm;
}

const tir::Expr& walkedBy(const tir::Expr& index)
{
    return isInsideOfBlock(index) ? index->args[0] : index;
}

std::vector<CrossingRead> crossingReadsOf(const tir::Stmt& block, size_t axis)
{
    constexpr size_t kMostReads = 4;
    const tir::Stmt& store = block->body;
    const std::vector<tir::IterVar>& iters = block->block.iters;
    if (store->kind != tir::StmtKind::Store || store->value->kind == tir::ExprKind::Load ||
        !isOfSquares(store->buffer->dtype.bytes()))
        return {};
    std::vector<tir::Expr> loads;
    bool canCopy = true;
    tir::visitExprs(store->value, [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::Intrinsic && expr->intrinsic == tir::Intrinsic::IfThenElse)
            canCopy = false;
        if (expr->kind != tir::ExprKind::Load || expr->args.empty()) return true;
        const tir::Expr& walked = walkedBy(expr->args.back());
        if (walked->kind != tir::ExprKind::VarRef || walked->var != iters[axis].var) return true;
        if (!usesVar(expr, iters.back().var.get())) return true; // one element for all lanes
        const auto same = std::find_if(loads.begin(), loads.end(), [&](const tir::Expr& load) {
            return load->buffer == expr->buffer;
        });
        if (same == loads.end())
            loads.push_back(expr);
        else
            canCopy = canCopy && tir::structuralEqual(*same, expr);
        return true;
    });
    std::vector<CrossingRead> out;
    for (const tir::Expr& load : loads) {
        const auto dim = dimAlong(load, iters.back().var);
        if (!dim || !isOfSquares(load->dtype.bytes())) return {};
        out.push_back({load->buffer, *dim});
    }
    if (!canCopy || out.size() > kMostReads) return {};
    return out;
}

void transposeSquare(Schedule& schedule, const std::string& copy, const CrossingRead& read,
                     const std::string& loop)
{
    const size_t rank = read.buffer->shape.size();
    std::vector<int64_t> dims;
    for (size_t dim = 0; dim < rank; ++dim)
        if (dim != read.dim) dims.push_back(static_cast<int64_t>(dim));
    dims.push_back(static_cast<int64_t>(read.dim));
    schedule.permuteDims(outputOf(schedule, copy), dims);
    schedule.computeAt(copy, loop);
    const std::vector<std::string> all = schedule.loopsOf(copy);
    std::vector<std::string> order;
    for (const int64_t dim : dims)
        order.push_back(all[all.size() - rank + static_cast<size_t>(dim)]);
    schedule.reorder(order);
    schedule.unroll(order[rank - 2]);
    return schedule.vectorize(order[rank - 1]);
}

} // namespace tenon::compiler
