// SPDX-License-Identifier: Apache-2.0
// rfactor: a reduction is done per iteration of one of its loops into a new buffer, which a second
// block then reduces.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

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
    return isNumber(init, combiner == ExprKind::Add ? 0 : 1);
}

/// A block that combines with its result, under the loop that is factored out.
struct Reduction
{
    Stmt loop, block;
    std::vector<Stmt> loops; ///< above the block, from outside to inside
    Stmt nest;               ///< all of them with the block

    const Stmt& body() const { return block->body; }
    ExprKind combiner() const { return body()->value->kind; }
};

/// Why it cannot be factored, or "".
std::string obstacle(const Stmt& block)
{
    const std::string name = "block " + quoted(block->block.name);
    const Stmt body = block->body;
    if (!block->init || block->init->kind != tir::StmtKind::Store ||
        body->kind != tir::StmtKind::Store)
        return name + " is no plain reduction";
    if (!isCombiner(body->value->kind) || body->value->args[0]->kind != ExprKind::Load ||
        body->value->args[0]->buffer != body->buffer)
        return name + " does not combine with its result";
    if (!mayStartOften(block->init->value, body->value->kind))
        return name + " starts from a value that would be counted more than once";
    return "";
}

/// The first block's axes: the reduce axis that uses the loop is replaced by its loops, of which
/// the factored one becomes spatial.
struct PartialAxes
{
    std::vector<tir::IterVar> iters;
    tir::Var kept;          ///< the axis of the factored loop
    tir::VarMap loopToAxis; ///< in what is not an axis
    tir::VarMap axisValues; ///< of the replaced axis
};

/// Nothing when the loop is not one of exactly one reduce axis.
std::optional<PartialAxes> partialAxes(const Reduction& sum)
{
    const tir::VarNode* var = sum.loop->loop.var.get();
    PartialAxes out{.kept = tir::makeVar("v_" + var->name)};
    for (const tir::IterVar& iter : sum.block->block.iters) {
        if (!usesVar(iter.binding, var)) {
            out.iters.push_back(iter);
            continue;
        }
        if (iter.kind == IterKind::Spatial || !out.axisValues.empty()) return std::nullopt;
        for (const Stmt& outer : sum.loops) {
            const tir::Var& loopVar = outer->loop.var;
            if (!usesVar(iter.binding, loopVar.get())) continue;
            const bool isOwn = loopVar.get() == var;
            const tir::Var axis = isOwn ? out.kept : tir::makeVar("v_" + loopVar->name);
            out.loopToAxis[loopVar.get()] = Expr(axis);
            out.iters.push_back({axis, outer->loop.extent,
                                 isOwn ? IterKind::Spatial : IterKind::Reduce, Expr(loopVar)});
        }
        out.axisValues[iter.var.get()] = tir::substitute(iter.binding, out.loopToAxis);
    }
    if (out.axisValues.empty()) return std::nullopt;
    return out;
}

/// Where partial results lie: the result's place and the factored loop's value.
struct Partial
{
    Buffer buffer;
    std::vector<Expr> indices;
};

Stmt partialBlock(const Reduction& sum, const PartialAxes& axes, const Partial& partial,
                  const std::string& name)
{
    const tir::Block block{.name = name,
                           .iters = axes.iters,
                           .predicate =
                               tir::substitute(sum.block->block.predicate, axes.loopToAxis)};
    const Expr start = sum.block->init->value;
    const Expr step = tir::substitute(sum.body()->value->args[1], axes.axisValues);
    const auto store = [&](const Expr& value) {
        return tir::store(partial.buffer, partial.indices, value);
    };
    const auto combined = [&](const Expr& left) { return tir::binary(sum.combiner(), left, step); };
    const bool stillReduces =
        std::any_of(axes.iters.begin(), axes.iters.end(),
                    [](const tir::IterVar& iter) { return iter.kind == IterKind::Reduce; });
    if (!stillReduces) return tir::block(block, nullptr, store(combined(start)));
    return tir::block(block, store(start),
                      store(combined(tir::load(partial.buffer, partial.indices))));
}

/// Combines the partial results: over the spatial axes and the factored one.
Stmt totalNest(const Reduction& sum, const PartialAxes& axes, const Partial& partial,
               const Stmt& root)
{
    const std::string& name = sum.block->block.name;
    tir::Block total{.name = name};
    tir::VarMap renamed;
    std::vector<tir::Loop> nest;
    const auto addAxis = [&](const tir::IterVar& iter, const std::string& base) {
        const tir::Var loopVar = tir::makeVar(freshLoopName(root, base));
        const tir::Var axisVar = tir::makeVar(iter.var->name);
        nest.push_back({.var = loopVar, .extent = iter.extent});
        total.iters.push_back({axisVar, iter.extent, iter.kind, Expr(loopVar)});
        renamed[iter.var.get()] = Expr(axisVar);
    };
    for (const tir::IterVar& iter : sum.block->block.iters)
        if (iter.kind == IterKind::Spatial) addAxis(iter, name + "_" + iter.var->name);
    const tir::Loop& loop = sum.loop->loop;
    addAxis({axes.kept, loop.extent, IterKind::Reduce, {}}, loop.var->name + "_rf");
    const auto inTotal = [&](const std::vector<Expr>& list) {
        std::vector<Expr> out;
        for (const Expr& expr : list) out.push_back(tir::substitute(expr, renamed));
        return out;
    };
    const std::vector<Expr> place = inTotal(sum.body()->indices);
    const Expr value = tir::binary(sum.combiner(), tir::load(sum.body()->buffer, place),
                                   tir::load(partial.buffer, inTotal(partial.indices)));
    Stmt out = tir::block(total, tir::substitute(sum.block->init, renamed),
                          tir::store(sum.body()->buffer, place, value));
    for (size_t i = nest.size(); i-- > 0;) out = tir::forLoop(nest[i], out);
    return out;
}

} // namespace

Result<std::string> Primitives::rfactor(std::string loop, int64_t axis)
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(kName, loop);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of loop " + quoted(loop) + ": " + why);
    };
    const std::vector<Stmt> blocks = blocksIn(site->stmt);
    if (blocks.size() != 1) return refuse("it holds more than one block");
    if (const std::string why = obstacle(blocks[0]); !why.empty()) return refuse(why);
    const auto blockSite = siteOfBlock(m_function.body, blocks[0]->block.name);
    const Reduction sum{site->stmt, blocks[0], loopsAbove(*blockSite), nestOf(*blockSite)};
    const Buffer result = sum.body()->buffer;
    if (axis < 0 || axis > static_cast<int64_t>(result->shape.size()))
        return refuse("the axis is not in the result's rank");
    const auto axes = partialAxes(sum);
    if (!axes) return refuse("it is no loop of exactly one reduce axis");

    tir::BufferNode node = *result;
    node.name = freshBufferName(m_function, result->name + "_rf");
    node.scope = tir::Scope::Global;
    node.strides.clear(); // where the result lies
    node.shape.insert(node.shape.begin() + axis, site->stmt->loop.extent);
    Partial partial{std::make_shared<const tir::BufferNode>(std::move(node)), sum.body()->indices};
    partial.indices.insert(partial.indices.begin() + axis, Expr(axes->kept));

    std::string first = freshBlockName(m_function.body, sum.block->block.name + "_rf");
    const Stmt partialNest =
        tir::replaceStmt(sum.nest, sum.block.get(), partialBlock(sum, *axes, partial, first));
    const Stmt total = totalNest(sum, *axes, partial, m_function.body);
    const Stmt root =
        tir::replaceStmt(m_function.body, sum.nest.get(), tir::seq({partialNest, total}));
    m_function.body = withAlloc(root, partial.buffer);
    record(kName, {loop}, {{"axis", axis}}, {first});
    return first;
}

} // namespace tenon::compiler
