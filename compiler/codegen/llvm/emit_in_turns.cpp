// SPDX-License-Identifier: Apache-2.0
// Unrolled stores of functions that take tens of instructions, each waiting for the one before: the
// iterations' instructions take turns. In order, a few iterations fill what a processor looks
// ahead: SiLU of a vector took 17 cycles, where its instructions need 11.
#include "compiler/codegen/llvm/emit_in_turns.h"

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

/// Two fill what a processor looks ahead better than one behind the other (sigmoids of 8 elements
/// on Zen 4: 8.4 cycles, 7.7 so).
int64_t iterationsInTurns(const tir::StmtNode& loop, int64_t extent)
{
    return extent > 1 && isIndependent(loop.body) ? 2 : 1;
}

void Emitter::inTurns(const tir::StmtNode& loop, const std::vector<llvm::Value*>& variables)
{
    llvm::BasicBlock* const block = m_builder.GetInsertBlock();
    std::vector<Run> runs;
    for (llvm::Value* variable : variables) {
        const size_t before = block->size();
        m_known.forget(); // a value of one iteration may come behind another's use of it
        m_vars[loop.loop.var.get()] = variable;
        statement(loop.body);
        Run& run = runs.emplace_back();
        for (llvm::Instruction& each : llvm::drop_begin(*block, before)) run.push_back(&each);
    }
    if (m_builder.GetInsertBlock() == block) takeTurns(runs, *block);
}

bool Emitter::unrolledInTurns(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                              int64_t extent)
{
    if (!isIndependent(node.body)) return false;
    const int64_t groups = (extent + kMostTogether - 1) / kMostTogether;
    for (int64_t group = 0; group < groups; ++group) {
        std::vector<llvm::Value*> variables;
        for (int64_t i = extent * group / groups; i < extent * (group + 1) / groups; ++i)
            variables.push_back(
                llvm::ConstantInt::getSigned(begin.getType(), begin.getSExtValue() + i));
        inTurns(node, variables);
    }
    return true;
}

} // namespace tenon::compiler
