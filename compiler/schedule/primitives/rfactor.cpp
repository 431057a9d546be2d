// SPDX-License-Identifier: Apache-2.0
// rfactor: a reduction is done per iteration of one of its loops into a new buffer, which a second
// block then reduces.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

constexpr const char* kName = "rfactor";

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::IterKind;
using tir::Stmt;

bool isCombiner(ExprKind kind)
{
    return kind == ExprKind::Add || kind == ExprKind::Mul || kind == ExprKind::Min ||
           kind == ExprKind::Max || kind == ExprKind::And || kind == ExprKind::Or;
}

/// Every partial result begins with it too, and then the total: the others may count one value any
/// number of times.
bool mayStartOften(const Expr& init, ExprKind combiner)
{
    if (combiner != ExprKind::Add && combiner != ExprKind::Mul) return true;
    const int neutral = combiner == ExprKind::Add ? 0 : 1;
    if (init->kind == ExprKind::IntImm) return init->integer == neutral;
    return init->kind == ExprKind::FloatImm && init->number == neutral;
}

} // namespace

Result<std::string> Schedule::rfactor(std::string loop, int64_t axis)
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(kName, loop);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of loop " + quoted(loop) + ": " + why);
    };
    const std::vector<Stmt> blocks = blocksIn(site->stmt);
    if (blocks.size() != 1) return refuse("it holds more than one block");
    const Stmt block = blocks[0];
    const Stmt body = block->body;
    if (!block->init || block->init->kind != tir::StmtKind::Store ||
        body->kind != tir::StmtKind::Store)
        return refuse("block " + quoted(block->block.name) + " is no plain reduction");
    if (!isCombiner(body->value->kind) || body->value->args[0]->kind != ExprKind::Load ||
        body->value->args[0]->buffer != body->buffer)
        return refuse("block " + quoted(block->block.name) + " does not combine with its result");
    if (!mayStartOften(block->init->value, body->value->kind))
        return refuse("block " + quoted(block->block.name) +
                      " starts from a value that would be counted more than once");
    const tir::VarNode* var = site->stmt->loop.var.get();
    const Expr extent = site->stmt->loop.extent;
    const Buffer buffer = body->buffer;
    const auto rank = static_cast<int64_t>(buffer->shape.size());
    if (axis < 0 || axis > rank) return refuse("the axis is not in the result's rank");

    // First block: the reduce axes that use the loop are replaced by their loops; the loop's own
    // becomes spatial.
    const auto blockSite = siteOfBlock(m_function.body, block->block.name);
    const std::vector<Stmt> loops = loopsAbove(*blockSite);
    tir::Block first{.name = freshBlockName(m_function.body, block->block.name + "_rf")};
    tir::VarMap loopToAxis, axisValues;
    const tir::Var kept = tir::makeVar("v_" + loop);
    bool found = false;
    for (const tir::IterVar& iter : block->block.iters) {
        if (!usesVar(iter.binding, var)) {
            first.iters.push_back(iter);
            continue;
        }
        if (iter.kind == IterKind::Spatial || found)
            return refuse("it is no loop of exactly one reduce axis");
        found = true;
        for (const Stmt& outer : loops) {
            const tir::Var& loopVar = outer->loop.var;
            if (!usesVar(iter.binding, loopVar.get())) continue;
            const bool own = loopVar.get() == var;
            const tir::Var axisVar = own ? kept : tir::makeVar("v_" + loopVar->name);
            loopToAxis[loopVar.get()] = Expr(axisVar);
            first.iters.push_back({axisVar, outer->loop.extent,
                                   own ? IterKind::Spatial : IterKind::Reduce, Expr(loopVar)});
        }
        axisValues[iter.var.get()] = tir::substitute(iter.binding, loopToAxis);
    }
    if (!found) return refuse("it is no reduction loop");
    first.predicate = tir::substitute(block->block.predicate, loopToAxis);
    bool stillReduces = false;
    for (const tir::IterVar& iter : first.iters)
        stillReduces = stillReduces || iter.kind == IterKind::Reduce;

    tir::BufferNode node = *buffer;
    node.name = freshBufferName(m_function, buffer->name + "_rf");
    node.scope = tir::Scope::Global;
    node.shape.insert(node.shape.begin() + axis, extent);
    const auto partial = std::make_shared<const tir::BufferNode>(std::move(node));
    std::vector<Expr> indices = body->indices;
    indices.insert(indices.begin() + axis, Expr(kept));
    const Expr step = tir::substitute(body->value->args[1], axisValues);
    const Expr sum = tir::binary(body->value->kind, tir::load(partial, indices), step);
    const Stmt firstStmt =
        stillReduces
            ? tir::block(first, tir::store(partial, indices, block->init->value),
                         tir::store(partial, indices, sum))
            : tir::block(first, nullptr,
                         tir::store(partial, indices,
                                    tir::binary(body->value->kind, block->init->value, step)));

    // Second block: the spatial axes and the factored one.
    tir::Block second{.name = block->block.name};
    tir::VarMap renamed;
    std::vector<tir::Loop> nest;
    Stmt root = m_function.body;
    const auto addAxis = [&](const tir::IterVar& iter, IterKind kind, const std::string& base) {
        const tir::Var loopVar = tir::makeVar(freshLoopName(root, base));
        const tir::Var axisVar = tir::makeVar(iter.var->name);
        nest.push_back({.var = loopVar, .extent = iter.extent});
        second.iters.push_back({axisVar, iter.extent, kind, Expr(loopVar)});
        renamed[iter.var.get()] = Expr(axisVar);
    };
    for (const tir::IterVar& iter : block->block.iters)
        if (iter.kind == IterKind::Spatial)
            addAxis(iter, iter.kind, block->block.name + "_" + iter.var->name);
    addAxis({kept, extent, IterKind::Reduce, {}}, IterKind::Reduce, loop + "_rf");
    const auto inSecond = [&](const std::vector<Expr>& list) {
        std::vector<Expr> out;
        for (const Expr& expr : list) out.push_back(tir::substitute(expr, renamed));
        return out;
    };
    const std::vector<Expr> outIndices = inSecond(body->indices);
    const Expr total = tir::binary(body->value->kind, tir::load(buffer, outIndices),
                                   tir::load(partial, inSecond(indices)));
    Stmt secondStmt = tir::block(second, tir::substitute(block->init, renamed),
                                 tir::store(buffer, outIndices, total));
    for (size_t i = nest.size(); i-- > 0;) secondStmt = tir::forLoop(nest[i], secondStmt);

    const Stmt whole = nestOf(*blockSite);
    const Stmt partialNest = tir::replaceStmt(whole, block.get(), firstStmt);
    root = tir::replaceStmt(root, whole.get(), tir::seq({partialNest, secondStmt}));
    m_function.body = withAlloc(root, partial);
    record(kName, {loop}, {{"axis", axis}}, {first.name});
    return first.name;
}

} // namespace tenon::compiler
