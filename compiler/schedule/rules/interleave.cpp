// SPDX-License-Identifier: Apache-2.0
// The back end stores vectors that take turns together, see emit_woven.cpp.
#include "compiler/schedule/rules/interleave.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/axis_runs.h"
#include "compiler/schedule/rules/rule.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <bit>

namespace tenon::compiler {
namespace {

constexpr int64_t kFewestParts = 2, kMostParts = 8;
constexpr int64_t kMostInTwoAxes = 4; // more are squares, which cross in registers
constexpr int64_t kFewestNeighbours = 4;
constexpr int64_t kUnknownCount = 64; ///< of an extent that is known at run time only
constexpr int kWordBytes = 4;
constexpr int kShuffledBytes = 16; ///< of vectors whose bytes come into any order

bool isFew(int64_t parts) { return parts >= kFewestParts && parts <= kMostParts; }

/// The last axis counts the parts, the one before it their elements.
std::optional<Interleaving> alongTwoAxes(const tir::Stmt& block)
{
    const std::vector<tir::IterVar>& iters = block->block.iters;
    const AxisSteps steps = stepsOf(block);
    if (iters.size() < 2 || steps.access.size() < 2) return std::nullopt;
    const size_t last = iters.size() - 1, along = last - 1;
    if (iters[last].extent->kind != tir::ExprKind::IntImm) return std::nullopt;
    const bool isOpen = iters[along].extent->kind != tir::ExprKind::IntImm;
    const int64_t parts = iters[last].extent->integer;
    const int64_t count = isOpen ? kUnknownCount : iters[along].extent->integer;
    const std::vector<int64_t>& store = steps.access[0];
    if (!isFew(parts) || parts > kMostInTwoAxes || count < kFewestNeighbours || store[last] != 1 ||
        store[along] != parts || branchesAlong(block, iters[along].var))
        return std::nullopt;
    for (size_t i = 1; i < steps.access.size(); ++i)
        if (steps.access[i][along] != 0 && steps.access[i][along] != 1) return std::nullopt;
    return Interleaving{.parts = parts, .ownAxes = 2, .neighbours = count};
}

/// By what loads divide the axis as their last index, all by the same; 0 where one does not.
int64_t divisorInLoads(const tir::Stmt& block, const tir::Var& axis)
{
    int64_t divisor = 0;
    bool isDivided = true;
    tir::visitExprs(block->body->value, [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::Load) return isDivided;
        for (const tir::Expr& index : expr->args) {
            if (!usesVar(index, axis.get())) continue;
            const int64_t found = divisorOfVar(index, tir::ExprKind::FloorDiv);
            isDivided = isDivided && &index == &expr->args.back() && found != 0 &&
                        (divisor == 0 || divisor == found);
            divisor = found;
        }
        return isDivided;
    });
    return isDivided ? divisor : 0;
}

/// The remainder of the last axis tells the part, its quotient the element: of phases that are
/// joined, and of elements that are repeated.
std::optional<Interleaving> alongRemainders(const tir::Stmt& block)
{
    const tir::IterVar& last = block->block.iters.back();
    const int64_t parts = divisorInLoads(block, last.var);
    if (last.extent->kind != tir::ExprKind::IntImm || !isFew(parts) ||
        last.extent->integer / parts < kFewestNeighbours ||
        (branchesAlong(block, last.var) && periodOf(block, last) != parts))
        return std::nullopt;
    const tir::Expr& to = block->body->indices.back();
    if (to->kind != tir::ExprKind::VarRef || to->var != last.var) return std::nullopt;
    const int64_t left = last.extent->integer % parts;
    return Interleaving{.parts = parts,
                        .ownAxes = 1,
                        .neighbours = last.extent->integer / parts,
                        .whole = left == 0 ? 0 : last.extent->integer - left};
}

} // namespace

std::optional<Interleaving> interleavingOf(const tir::Stmt& block, const TargetFacts& facts)
{
    const tir::Stmt& store = block->body;
    if (block->block.iters.empty() || store->kind != tir::StmtKind::Store) return std::nullopt;
    const int64_t bytes = store->buffer->dtype.bytes();
    const bool shufflesBytes = facts.hasLaneOperand || facts.vectorBytes > kShuffledBytes;
    if (bytes > kWordBytes || (bytes < kWordBytes && !shufflesBytes)) return std::nullopt;
    auto found = alongTwoAxes(block);
    if (!found) found = alongRemainders(block);
    if (found && bytes < kWordBytes)
        found->neighbours = std::min<int64_t>(found->neighbours, kShuffledBytes / bytes);
    return found;
}

void interleave(Schedule& schedule, const Interleaving& found,
                const std::vector<std::string>& loops, int64_t lanes)
{
    std::string along = loops[0], part = loops.back();
    if (found.ownAxes == 1) {
        const auto parts = schedule.split(along, {-1, found.parts});
        along = parts[0];
        part = parts[1];
    }
    const auto most = static_cast<uint64_t>(std::min(found.neighbours, lanes));
    const auto each = static_cast<int64_t>(std::bit_floor(most));
    const auto runs = schedule.extentOf(along) < 0 ? schedule.split(along, {-1, each})
                                                   : schedule.splitOverlap(along, each);
    schedule.reorder({runs[0], part, runs[1]});
    schedule.unroll(part);
    return schedule.vectorize(runs[1]);
}

} // namespace tenon::compiler
