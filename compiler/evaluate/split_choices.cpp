// SPDX-License-Identifier: Apache-2.0
// Fixes one axis after the other by substitution; simplification then leaves one case.
#include "compiler/evaluate/split_choices.h"

#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using namespace core;
using tir::Expr;
using tir::ExprKind;
using tir::StmtKind;

constexpr int64_t kMostCases = 8;
/// Axes that are fixed at most.
constexpr int kMostAxes = 2;

/// The block of a perfect nest; null when there is none.
const tir::StmtNode* blockOf(const tir::Stmt& nest)
{
    const tir::StmtNode* stmt = nest.get();
    while (stmt->kind == StmtKind::For) stmt = stmt->body.get();
    return stmt->kind == StmtKind::Block ? stmt : nullptr;
}

bool isCondition(const tir::ExprNode& e)
{
    return e.kind == ExprKind::Select ||
           (e.kind == ExprKind::Intrinsic && e.intrinsic == tir::Intrinsic::IfThenElse);
}

/// The spatial axis of few values that decides between cases.
const tir::IterVar* decidingAxis(const tir::StmtNode& block)
{
    const tir::VarNode* found = nullptr;
    const auto isShort = [&](const tir::VarNode* var) {
        return std::any_of(
            block.block.iters.begin(), block.block.iters.end(), [&](const tir::IterVar& iter) {
                return iter.var.get() == var && iter.kind == tir::IterKind::Spatial &&
                       iter.binding->kind == ExprKind::VarRef &&
                       iter.extent->kind == ExprKind::IntImm && iter.extent->integer > 1 &&
                       iter.extent->integer <= kMostCases;
            });
    };
    tir::visitExprs(block.body->value, [&](const Expr& e) {
        if (found || !isCondition(*e)) return !found;
        const Expr& condition = e->args[0];
        if (condition->kind == ExprKind::Equal && condition->args[0]->kind == ExprKind::VarRef &&
            condition->args[1]->kind == ExprKind::IntImm && isShort(condition->args[0]->var.get()))
            found = condition->args[0]->var.get();
        return !found;
    });
    for (const tir::IterVar& iter : block.block.iters)
        if (found && iter.var.get() == found) return &iter;
    return nullptr;
}

/// The nest without the loop of `axis`, whose value is `value` everywhere.
tir::Stmt withFixed(const tir::Stmt& nest, const tir::IterVar& axis, int64_t value)
{
    if (nest->kind == StmtKind::For) {
        tir::Stmt body = withFixed(nest->body, axis, value);
        if (nest->loop.var == axis.binding->var) return body;
        return tir::forLoop(nest->loop, std::move(body));
    }
    const tir::VarMap fixed{{axis.var.get(), Expr(value)}};
    tir::Block block = nest->block;
    std::erase_if(block.iters, [&](const tir::IterVar& i) { return i.var == axis.var; });
    const auto specialised = [&](const tir::Stmt& stmt) {
        return stmt ? tir::simplify(tir::substitute(stmt, fixed)) : stmt;
    };
    return tir::block(std::move(block), specialised(nest->init), specialised(nest->body));
}

void split(const tir::Stmt& nest, int axesLeft, std::vector<tir::Stmt>& out)
{
    const tir::StmtNode* block = blockOf(nest);
    const bool isPlain = block && block->body->kind == StmtKind::Store;
    const tir::IterVar* axis = isPlain && axesLeft > 0 ? decidingAxis(*block) : nullptr;
    if (!axis) {
        out.push_back(nest);
        return;
    }
    for (int64_t value = 0; value < axis->extent->integer; ++value)
        split(withFixed(nest, *axis, value), axesLeft - 1, out);
}

} // namespace

std::vector<tir::Stmt> splitChoices(const tir::Stmt& nest)
{
    std::vector<tir::Stmt> out;
    split(nest, kMostAxes, out);
    return out;
}

} // namespace tenon::compiler
