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
using tir::Intrinsic;

/// Iterations side by side: each has four values in registers, and the constants are there, too.
constexpr int64_t kMostTogether = 4;

bool isLongFunction(const tir::ExprNode& node)
{
    if (node.kind != ExprKind::Intrinsic || node.dtype.lanes == 1) return false;
    switch (node.intrinsic) {
    case Intrinsic::Exp:
    case Intrinsic::Log:
    case Intrinsic::Tanh:
    case Intrinsic::Sigmoid:
    case Intrinsic::Erf: return true;
    default: return false;
    }
}

/// A store of such a function of what it does not change: no iteration reads another's result.
bool isIndependent(const tir::Stmt& body)
{
    if (body->kind != tir::StmtKind::Store) return false;
    bool isLong = false, isIndependent = true;
    tir::visitExprs(body->value, [&](const tir::Expr& expr) {
        isLong = isLong || isLongFunction(*expr);
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

bool Emitter::unrolledInTurns(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                              int64_t extent)
{
    if (!isIndependent(node.body)) return false;
    const int64_t groups = (extent + kMostTogether - 1) / kMostTogether;
    for (int64_t group = 0; group < groups; ++group) {
        llvm::BasicBlock* const block = m_builder.GetInsertBlock();
        std::vector<Run> runs;
        for (int64_t i = extent * group / groups; i < extent * (group + 1) / groups; ++i) {
            const size_t before = block->size();
            m_known.forget(); // a value of one iteration may come behind another's use of it
            selectRound(node, begin, i);
            statement(node.body);
            Run& run = runs.emplace_back();
            for (llvm::Instruction& each : llvm::drop_begin(*block, before)) run.push_back(&each);
        }
        if (m_builder.GetInsertBlock() == block) takeTurns(runs, *block);
    }
    return true;
}

} // namespace tenon::compiler
