// SPDX-License-Identifier: Apache-2.0
// Splits such runs into vectors; lowering takes the guard out of all but the last.
#include "compiler/schedule/rules/open_run.h"

#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/axis_runs.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

constexpr int64_t kMaskedBytes = 64; ///< AVX-512
/// AVX has masks for loads of words and longer elements.
constexpr int64_t kMaskedBytesOfWords = 32, kWordBytes = 4;

/// The elements of the blocks that an index finds by `axis // elements`, and no otherwise; 0 for
/// any other index that uses the axis.
int64_t blocksAlong(const tir::Expr& index, const tir::VarNode* axis)
{
    int64_t elements = 0;
    const tir::Expr rest = tir::rewriteExpr(index, [&](const tir::Expr& expr) {
        const int64_t found = divisorOfVar(expr, tir::ExprKind::FloorDiv);
        if (found == 0 || !usesVar(expr, axis) || (elements != 0 && elements != found)) return expr;
        elements = found;
        return tir::Expr(0);
    });
    return usesVar(rest, axis) ? 0 : elements;
}

/// Patches that are cut from patches.
std::vector<int64_t> bordersOfPatches(const tir::Stmt& block, const TargetFacts& facts)
{
    constexpr int64_t kFewestLanes = 4;
    const tir::IterVar& last = block->block.iters.back();
    std::vector<int64_t> borders;
    if (facts.vectorBytes < kMaskedBytes || last.extent->kind != tir::ExprKind::IntImm)
        return borders;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        const bool isPatch = expr->kind == tir::ExprKind::FloorDiv &&
                             expr->args[1]->kind == tir::ExprKind::IntImm &&
                             expr->args[1]->integer >= kFewestLanes;
        const Affine place = isPatch ? affineOf(expr->args[0]) : Affine{};
        if (place.terms.size() != 1 || place.terms[0].coefficient != 1 ||
            place.terms[0].atom->kind != tir::ExprKind::VarRef ||
            place.terms[0].atom->var != last.var)
            return true;
        const int64_t side = expr->args[1]->integer;
        for (int64_t i = 1; i < last.extent->integer; ++i)
            if ((i + place.constant) % side == 0) borders.push_back(i);
        return false;
    });
    std::sort(borders.begin(), borders.end());
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    return borders;
}

} // namespace

std::string openRunOf(const Schedule& schedule, const std::vector<AxisView>& axes,
                      size_t contiguous, int64_t lanes)
{
    constexpr int64_t kFewestLanes = 4;
    if (contiguous == 0 || lanes < kFewestLanes || schedule.function().sizes.empty()) return "";
    const auto first = axes.end() - static_cast<std::ptrdiff_t>(contiguous);
    const bool isAll =
        std::all_of(first + 1, axes.end(), [](const AxisView& axis) { return axis.extent == 1; });
    return first->extent < 0 && isAll ? first->loop : "";
}

int64_t openLanesInBlocks(const tir::Stmt& block, int64_t lanes)
{
    constexpr int64_t kFewestLanes = 4;
    const tir::IterVar& last = block->block.iters.back();
    const AxisSteps steps = stepsOf(block);
    if (lanes < kFewestLanes || last.extent->kind == tir::ExprKind::IntImm ||
        steps.access.empty() || steps.access[0].back() != 1 || branchesAlong(block, last.var))
        return 0;
    int64_t elements = 0;
    bool isBlocked = true;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind != tir::ExprKind::Load) return true;
        for (const tir::Expr& index : expr->args) {
            if (!usesVar(index, last.var.get())) continue;
            const int64_t found = &index == &expr->args.back()
                                      ? divisorOfVar(index, tir::ExprKind::FloorMod)
                                      : blocksAlong(index, last.var.get());
            isBlocked = isBlocked && found != 0 && (elements == 0 || elements == found);
            elements = found;
        }
        return isBlocked;
    });
    const int64_t within = isBlocked ? std::gcd(lanes, elements) : 0;
    return within >= kFewestLanes ? within : 0;
}

std::vector<int64_t> endsOfRuns(const tir::Stmt& block, const TargetFacts& facts)
{
    std::vector<int64_t> bends = bendsOf(block);
    return bends.empty() ? bordersOfPatches(block, facts) : bends;
}

bool readsUnderMasks(const tir::Stmt& block, const TargetFacts& facts)
{
    const AxisSteps steps = stepsOf(block);
    bool areWords = true;
    tir::visitExprsIn(block->body, [&](const tir::Expr& expr) {
        if (expr->kind == tir::ExprKind::Load)
            areWords = areWords && expr->buffer->dtype.bytes() >= kWordBytes;
        return true;
    });
    if (facts.vectorBytes < (areWords ? kMaskedBytesOfWords : kMaskedBytes) || steps.isKnown ||
        block->block.iters.empty() || !branchesAlong(block, block->block.iters.back().var))
        return false;
    return std::all_of(steps.access.begin(), steps.access.end(),
                       [](const std::vector<int64_t>& access) { return access.back() == 1; });
}

void vectorizeOpenRun(Schedule& schedule, const std::string& run, std::vector<std::string> ones,
                      int64_t lanes)
{
    const auto parts = schedule.split(run, {-1, lanes});
    ones.insert(ones.begin(), parts[0]);
    ones.push_back(parts[1]);
    schedule.reorder(std::move(ones));
    return schedule.vectorize(parts[1]);
}

} // namespace tenon::compiler
