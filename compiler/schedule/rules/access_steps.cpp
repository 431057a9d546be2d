// SPDX-License-Identifier: Apache-2.0
// How blocks walk memory along their axes.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/rules/rule.h"
#include "core/ir/tir/byte_table.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

using Steps = std::vector<int64_t>;

std::optional<int64_t> constantOf(const Expr& size)
{
    return size->kind == ExprKind::IntImm ? std::optional(size->integer) : std::nullopt;
}

Steps stepsOf(const tir::BufferNode& buffer, const std::vector<Expr>& indices,
              const std::vector<tir::IterVar>& iters)
{
    Steps steps(iters.size(), 0);
    const auto add = [&](const AffineTerm& term, std::optional<int64_t> stride) {
        const bool isVar = term.atom->kind == ExprKind::VarRef;
        for (size_t i = 0; i < iters.size(); ++i) {
            if (!usesVar(term.atom, iters[i].var.get())) continue;
            if (!isVar || !stride || steps[i] == kUnknownStep)
                steps[i] = kUnknownStep;
            else
                steps[i] += term.coefficient * *stride;
        }
    };
    std::optional<int64_t> stride = 1;
    for (size_t dim = indices.size(); dim-- > 0;) {
        if (!buffer.strides.empty()) stride = constantOf(buffer.strides[dim]);
        for (const AffineTerm& term : affineOf(indices[dim]).terms) add(term, stride);
        const bool isConst = buffer.shape[dim]->kind == ExprKind::IntImm;
        stride =
            stride && isConst ? std::optional(*stride * buffer.shape[dim]->integer) : std::nullopt;
    }
    return steps;
}

/// An element of a table of bytes that data choose: wherever it is, it costs the same.
bool isLookup(const tir::ExprNode& load)
{
    if (!tir::isByteTable(*load.buffer)) return false;
    bool isChosen = false;
    tir::visitExprs(load.args[0], [&](const Expr& expr) {
        isChosen = isChosen || expr->kind == ExprKind::Load;
        return !isChosen;
    });
    return isChosen;
}

} // namespace

AxisSteps stepsOf(const Stmt& block)
{
    AxisSteps out{.isKnown = true};
    const auto add = [&](const tir::BufferNode& buffer, const std::vector<Expr>& indices) {
        out.isKnown = out.isKnown &&
                      std::all_of(buffer.shape.begin(), buffer.shape.end(), [](const Expr& extent) {
                          return extent->kind == ExprKind::IntImm;
                      });
        out.access.push_back(stepsOf(buffer, indices, block->block.iters));
    };
    tir::visitStmts(block->body, [&](const Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Store) add(*stmt->buffer, stmt->indices);
        return true;
    });
    tir::visitExprsIn(block->body, [&](const Expr& expr) {
        if (expr->kind == ExprKind::Load && !isLookup(*expr)) add(*expr->buffer, expr->args);
        return true;
    });
    return out;
}

bool branchesAlong(const Stmt& block, const tir::Var& axis)
{
    bool found = false;
    tir::visitExprsIn(block->body, [&](const Expr& expr) {
        found = found || (expr->kind == ExprKind::Intrinsic &&
                          expr->intrinsic == tir::Intrinsic::IfThenElse &&
                          usesVar(expr->args[0], axis.get()));
        return !found;
    });
    return found;
}

bool isContiguousAlong(const Stmt& block, size_t axis)
{
    const AxisSteps steps = stepsOf(block);
    if (branchesAlong(block, block->block.iters[axis].var)) return false;
    for (const std::vector<int64_t>& access : steps.access)
        if (access[axis] != 0 && access[axis] != 1) return false;
    return true;
}

} // namespace tenon::compiler
