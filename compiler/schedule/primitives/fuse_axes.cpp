// SPDX-License-Identifier: Apache-2.0
// fuse_axes, fuse_dims: two axes of a block, or two dimensions of an intermediate buffer, become
// one; what a pointwise kernel needs to tile height and width together.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

namespace {

bool isOne(const tir::IterVar& axis)
{
    return axis.extent->kind == ExprKind::IntImm && axis.extent->integer == 1;
}

/// Of both axes by that which they become: without a remainder where one of them is one element,
/// because nothing behind knows that the other is the whole.
tir::VarMap placesIn(const tir::IterVar& first, const tir::IterVar& second, const tir::Var& both)
{
    if (isOne(first)) return {{first.var.get(), Expr(0)}, {second.var.get(), Expr(both)}};
    if (isOne(second)) return {{first.var.get(), Expr(both)}, {second.var.get(), Expr(0)}};
    return {{first.var.get(), floorDiv(Expr(both), second.extent)},
            {second.var.get(), floorMod(Expr(both), second.extent)}};
}

} // namespace

Result<std::string> Primitives::fuseAxes(std::string block, int64_t axis)
{
    constexpr const char* kName = "fuse_axes";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + ": " + why);
    };
    tir::Block changed = site->stmt->block;
    const auto at = static_cast<size_t>(axis);
    if (axis < 0 || at + 1 >= changed.iters.size()) return refuse("it has no such axes");
    const tir::IterVar first = changed.iters[at], second = changed.iters[at + 1];
    if (first.kind != second.kind) return refuse("one axis is spatial and one is reduced");
    if (first.binding->kind != ExprKind::VarRef || second.binding->kind != ExprKind::VarRef)
        return refuse("the axes are not bound to loops one to one");
    const auto outer = siteOfLoop(m_function.body, first.binding->var->name);
    const Stmt inner = outer ? outer->stmt->body : nullptr;
    if (!inner || inner->kind != tir::StmtKind::For || inner->loop.var != second.binding->var ||
        blocksIn(inner).size() != 1)
        return refuse("the loops of the axes are not nested directly around it alone");
    if (outer->stmt->loop.kind != tir::LoopKind::Serial ||
        inner->loop.kind != tir::LoopKind::Serial)
        return refuse("the loops of the axes are not serial");

    const std::string name =
        freshLoopName(m_function.body, first.binding->var->name + "_" + second.binding->var->name);
    const tir::Var loop = tir::makeVar(name);
    const tir::Var var = tir::makeVar(first.var->name + "_" + second.var->name);
    const Expr extent = tir::simplify(first.extent * second.extent);
    changed.iters[at] = {var, extent, first.kind, loop};
    changed.iters.erase(changed.iters.begin() + axis + 1);
    const tir::VarMap values = placesIn(first, second, var);
    const Stmt fused = tir::block(std::move(changed), tir::substitute(site->stmt->init, values),
                                  tir::substitute(site->stmt->body, values));
    Stmt body = tir::replaceStmt(inner->body, site->stmt.get(), fused);
    const tir::Loop joined{.var = loop, .extent = extent};
    m_function.body =
        tir::replaceStmt(m_function.body, outer->stmt.get(), tir::forLoop(joined, body));
    record(kName, {block}, {{"axis", axis}}, {name});
    return name;
}

Status Primitives::fuseDims(std::string buffer, int64_t dim)
{
    constexpr const char* kName = "fuse_dims";
    const Buffer old = bufferNamed(m_function, buffer);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of buffer " + quoted(buffer) + ": " + why);
    };
    if (!old) return refuse("it does not exist");
    if (isParameter(m_function, old)) return refuse("it is a parameter");
    const auto at = static_cast<size_t>(dim);
    if (dim < 0 || at + 1 >= old->shape.size()) return refuse("it has no such dimensions");
    if (!old->strides.empty()) return refuse("it has strides");

    tir::Ranges ranges;
    for (const Stmt& block : blocksIn(m_function.body))
        for (const tir::IterVar& iter : block->block.iters)
            if (iter.extent->kind == ExprKind::IntImm)
                ranges[iter.var.get()] = {0, iter.extent->integer - 1};
    tir::BufferNode node = *old;
    const Expr width = node.shape[at + 1];
    node.shape[at] = tir::simplify(node.shape[at] * width);
    node.shape.erase(node.shape.begin() + dim + 1);
    const auto fused = std::make_shared<const tir::BufferNode>(std::move(node));
    const auto joined = [&](std::vector<Expr> indices) {
        indices[at] = tir::simplify(indices[at] * width + indices[at + 1], ranges);
        indices.erase(indices.begin() + dim + 1);
        return indices;
    };
    Stmt root = tir::rewriteStmt(
        m_function.body,
        [&](const Stmt& stmt) {
            if (stmt->kind != tir::StmtKind::Store || stmt->buffer != old) return stmt;
            return tir::store(fused, joined(stmt->indices), stmt->value);
        },
        [&](const Expr& expr) {
            if (expr->kind != ExprKind::Load || expr->buffer != old) return expr;
            return tir::load(fused, joined(expr->args));
        });
    m_function.body = withAlloc(withoutAlloc(root, old), fused);
    record(kName, {buffer}, {{"dim", dim}});
    return kDone;
}

} // namespace tenon::compiler
