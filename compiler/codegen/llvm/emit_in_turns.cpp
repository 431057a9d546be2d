// SPDX-License-Identifier: Apache-2.0
// Unrolled stores of functions that take tens of instructions, each waiting for the one before: the
// iterations' instructions take turns. In order, a few iterations fill what a processor looks
// ahead: SiLU of a vector took 17 cycles, where its instructions need 11.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::ExprKind;

/// Iterations side by side: each has four values in registers, and the constants are there, too.
constexpr int64_t kMostTogether = 4;

bool isLongVector(const tir::ExprNode& node)
{
    return node.kind == ExprKind::Intrinsic && node.dtype.lanes > 1 &&
           tir::isLongFunction(node.intrinsic);
}

/// A store of such a function of what it does not change: no iteration reads another's result.
bool isIndependent(const tir::Stmt& body)
{
    if (body->kind != tir::StmtKind::Store) return false;
    bool isLong = false, isIndependent = true;
    tir::visitExprs(body->value, [&](const tir::Expr& expr) {
        isLong = isLong || isLongVector(*expr);
        isIndependent =
            isIndependent && !(expr->kind == ExprKind::Load && expr->buffer == body->buffer);
        return isIndependent;
    });
    return isLong && isIndependent;
}

using Run = std::vector<llvm::Instruction*>; ///< in program order

void takeTurns(const std::vector<Run>& runs, llvm::BasicBlock& block)
{
    size_t longest = 0;
    for (const Run& run : runs) longest = std::max(longest, run.size());
    for (size_t i = 0; i < longest; ++i)
        for (const Run& run : runs)
            if (i < run.size()) run[i]->moveBefore(block, block.end());
}

} // namespace

void Emitter::inTurns(const tir::StmtNode& loop, int64_t count,
                      const std::function<llvm::Value*(int64_t)>& variable)
{
    llvm::BasicBlock* const block = m_builder.GetInsertBlock();
    std::vector<Run> runs;
    for (int64_t i = 0; i < count; ++i) {
        llvm::Value* const at = variable(i);
        const size_t before = block->size();
        m_known.forget(); // a value of one iteration may come behind another's use of it
        m_vars[loop.loop.var.get()] = at;
        statement(loop.body);
        Run& run = runs.emplace_back();
        for (llvm::Instruction& each : llvm::drop_begin(*block, before)) run.push_back(&each);
    }
    if (m_builder.GetInsertBlock() == block) takeTurns(runs, *block);
}

/// How many iterations of a loop that stays one are written in turns: two fill what a processor
/// looks ahead less than one behind the other do (e^x of 8 elements on Zen 4: 10.1 cycles, 8.4 so).
int64_t Emitter::iterationsInTurns(const tir::StmtNode& loop, int64_t extent) const
{
    return extent > 1 && isIndependent(loop.body) ? 2 : 1;
}

bool Emitter::unrolledInTurns(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                              int64_t extent)
{
    if (!isIndependent(node.body)) return false;
    const int64_t groups = (extent + kMostTogether - 1) / kMostTogether;
    for (int64_t group = 0; group < groups; ++group) {
        const int64_t first = extent * group / groups;
        inTurns(node, extent * (group + 1) / groups - first, [&](int64_t i) {
            return llvm::ConstantInt::getSigned(begin.getType(), begin.getSExtValue() + first + i);
        });
    }
    return true;
}

} // namespace tenon::compiler
