// SPDX-License-Identifier: Apache-2.0
// Which loop nests are shared among threads: an estimate of their cycles against what it costs to
// hand work over.
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Intrinsic;
using tir::Stmt;

/// What one core reads and writes where it computes little, of what its second-level cache could.
constexpr double kReachedOfL2 = 0.5;
/// Steps of a loop whose extent is not constant.
constexpr int64_t kUnknownSteps = 64;
/// Cost of one operation for a vector, in units of an addition.
int64_t costOf(const Expr& expr)
{
    switch (expr->kind) {
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Select:
    case ExprKind::Cast: return 1;
    case ExprKind::Div:
    case ExprKind::Mod:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: return 8;
    case ExprKind::Intrinsic: break;
    default: return 0;
    }
    return tir::isLongFunction(expr->intrinsic) ? 20 : 2;
}

bool isDot(const Expr& expr)
{
    return expr->kind == ExprKind::Intrinsic &&
           (expr->intrinsic == Intrinsic::DotI8I8 || expr->intrinsic == Intrinsic::DotI8Narrow ||
            expr->intrinsic == Intrinsic::DotU8I8);
}

/// What the statement computes; what only finds elements, or joins the bytes of a dot product,
/// which lie side by side, is not counted.
int64_t operationsIn(const Stmt& stmt)
{
    if (!stmt) return 0;
    int64_t count = operationsIn(stmt->body) + operationsIn(stmt->orElse);
    for (const Stmt& part : stmt->stmts) count += operationsIn(part);
    if (stmt->value)
        tir::visitExprs(stmt->value, [&](const Expr& expr) {
            count += costOf(expr);
            return expr->kind != ExprKind::Load && !isDot(expr);
        });
    const bool isLoop = stmt->kind == tir::StmtKind::For;
    if (!isLoop && stmt->kind != tir::StmtKind::While) return count;
    const bool isKnown = isLoop && stmt->loop.extent->kind == ExprKind::IntImm;
    return count * (isKnown ? stmt->loop.extent->integer : kUnknownSteps);
}

bool reduces(const Stmt& block)
{
    return std::any_of(block->block.iters.begin(), block->block.iters.end(),
                       [](const tir::IterVar& iter) { return iter.kind == tir::IterKind::Reduce; });
}

/// Elements that one core computes per cycle: products of bytes that are summed use the processor's
/// dot product.
double elementsPerCycle(const Stmt& block, const TargetFacts& facts)
{
    int64_t widest = 1;
    for (const tir::Buffer& buffer : readIn(block))
        if (!writes(block, buffer)) widest = std::max<int64_t>(widest, buffer->dtype.bytes());
    if (!reduces(block))
        for (const tir::Buffer& buffer : writtenIn(block))
            widest = std::max<int64_t>(widest, buffer->dtype.bytes());
    const bool areBytes = widest == 1 && reduces(block);
    return static_cast<double>(std::max<int64_t>(1, facts.vectorBytes / widest)) *
           (areBytes ? facts.byteVectorMacs() : facts.vectorMacs());
}

double stepsOf(const Schedule& schedule, const std::vector<std::string>& loops)
{
    double steps = 1;
    for (const std::string& loop : loops) {
        const int64_t extent = schedule.extentOf(loop);
        steps *= static_cast<double>(extent < 0 ? kUnknownExtent : extent);
    }
    return steps;
}

/// Cycles of all blocks under `loop`, or of all there are where it is "".
double cyclesOf(const Schedule& schedule, const std::string& loop, const TargetFacts& facts)
{
    double cycles = 0;
    std::map<tir::Buffer, double> moved; // no more of a table than is looked up
    for (const std::string& name : schedule.blocks()) {
        const std::vector<std::string> loops = schedule.loopsOf(name);
        if (!loop.empty() && std::find(loops.begin(), loops.end(), loop) == loops.end()) continue;
        const Stmt block = blockOf(schedule, name);
        const double steps = stepsOf(schedule, loops);
        const int fused = facts.hasFma && reduces(block) ? 2 : 1;
        const double perCycle = elementsPerCycle(block, facts) * fused;
        const int64_t operations = std::max<int64_t>(1, operationsIn(block->body));
        cycles += steps * static_cast<double>(operations) / perCycle;
        for (const auto& buffers : {readIn(block), writtenIn(block)})
            for (const tir::Buffer& buffer : buffers) {
                const double bytes = steps * static_cast<double>(buffer->dtype.bytes());
                moved[buffer] = std::max(moved[buffer], bytes);
            }
    }
    for (const auto& [buffer, bytes] : moved)
        if (isParameter(schedule.function(), buffer))
            cycles += std::min(bytes, static_cast<double>(bytesOf(buffer))) /
                      (kReachedOfL2 * facts.l2BytesPerCycle);
    return cycles;
}

} // namespace

bool isWorthSharing(const Schedule& schedule, const std::string& loop, const TargetFacts& facts)
{
    return facts.threads > 1 && cyclesOf(schedule, loop, facts) >= facts.sharedCycles();
}

std::vector<std::string> stepPerThread(Schedule& schedule, const std::string& loop,
                                       const TargetFacts& facts)
{
    if (schedule.extentOf(loop) % std::max<int64_t>(1, facts.threads) != 0 ||
        !isWorthSharing(schedule, "", facts))
        return std::vector<std::string>{"", loop};
    return schedule.split(loop, {facts.threads, -1});
}

void parallelise(Schedule& schedule, const std::vector<std::string>& loops,
                 const TargetFacts& facts)
{
    if (loops.empty() || !isWorthSharing(schedule, loops[0], facts)) return;
    const std::string around = loops.size() > 1 ? schedule.fuse(loops) : loops[0];
    if (schedule.extentOf(around) != 1) schedule.parallel(around);
}

} // namespace tenon::compiler
