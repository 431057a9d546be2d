// SPDX-License-Identifier: Apache-2.0
// compute_at, reverse_compute_at: a block moves under a loop of its readers / of its producer and
// computes only what one iteration needs / made.
#include "compiler/schedule/lower.h"
#include "compiler/schedule/region.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// Which part of each block axis is to run; nothing: all of it.
using AxisRegions = std::vector<std::optional<Interval>>;

/// New loops around `block` over the regions; what may leave an axis gets a predicate.
Stmt nestOver(const Stmt& root, const Stmt& stmt, const AxisRegions& regions,
              const tir::Ranges& outer)
{
    tir::Block block = stmt->block;
    std::vector<tir::Loop> loops;
    tir::Ranges ranges = outer;
    // Guards of the old loops go with them; what the block's own variables say stays.
    tir::Ranges own;
    for (const tir::IterVar& iter : block.iters) own[iter.var.get()] = {0, 0};
    const Expr kept =
        termsWhere(block.predicate, [&](const Expr& term) { return usesAny(term, own); });
    Expr predicate = kept.get() ? kept : tir::intImm(1, kBool);
    for (size_t i = 0; i < block.iters.size(); ++i) {
        tir::IterVar& iter = block.iters[i];
        const std::string name = freshLoopName(root, block.name + "_ax" + std::to_string(i));
        const tir::Var var = tir::makeVar(name);
        const Expr extent = regions[i] ? Expr(regions[i]->extent) : iter.extent;
        iter.binding = regions[i] ? regions[i]->min + Expr(var) * regions[i]->step : Expr(var);
        loops.push_back({.var = var, .extent = extent});
        if (!regions[i]) continue;
        ranges[var.get()] = {0, regions[i]->extent - 1};
        predicate = predicate && tir::simplify(iter.binding >= 0, ranges);
        predicate = predicate && tir::simplify(iter.binding < iter.extent, ranges);
    }
    block.predicate = predicate.isConstInt(1) ? Expr() : predicate;
    Stmt nest = withBlock(stmt, std::move(block));
    for (size_t i = loops.size(); i-- > 0;) nest = tir::forLoop(loops[i], nest);
    return nest;
}

/// The error that says why the block cannot move.
using Refusal = std::function<Diagnostic(const std::string& why)>;

/// Ranges of the loop and of everything around it.
tir::Ranges rangesWith(const Site& loop)
{
    tir::Ranges ranges = rangesAbove(loop);
    if (const auto range = rangeOf(loop.stmt->loop)) ranges[loop.stmt->loop.var.get()] = *range;
    return ranges;
}

int dimOf(const std::vector<Expr>& indices, const tir::Var& var)
{
    for (size_t dim = 0; dim < indices.size(); ++dim)
        if (indices[dim]->kind == ExprKind::VarRef && indices[dim]->var == var)
            return static_cast<int>(dim);
    return -1;
}

/// Puts `nest` before (or after) the statements of the loop's body that touch `buffer`.
Stmt inserted(const Stmt& root, const Stmt& loop, const Stmt& nest, const Buffer& buffer,
              bool before)
{
    std::vector<Stmt> body{loop->body};
    if (loop->body->kind == StmtKind::Seq) body = loop->body->stmts;
    size_t at = before ? body.size() : 0;
    for (size_t i = 0; i < body.size(); ++i) {
        if (before && reads(body[i], buffer)) at = std::min(at, i);
        if (!before && writes(body[i], buffer)) at = i + 1;
    }
    body.insert(body.begin() + static_cast<long>(at), nest);
    return tir::replaceStmt(root, loop.get(), tir::forLoop(loop->loop, tir::seq(std::move(body))));
}

/// The only index list with which `stmt` stores into its only buffer, or nothing.
std::optional<std::vector<Expr>> storeIndices(const Stmt& block)
{
    std::optional<std::vector<Expr>> indices;
    bool agrees = true;
    tir::visitStmts(block, [&](const Stmt& stmt) {
        if (stmt->kind != StmtKind::Store) return true;
        for (size_t i = 0; agrees && indices && i < indices->size(); ++i)
            agrees = tir::structuralEqual((*indices)[i], stmt->indices[i]);
        indices = stmt->indices;
        return true;
    });
    return agrees ? indices : std::nullopt;
}

/// Points of the writes' iteration space; equal to the region's size when it is written completely.
int64_t pointsOf(const std::vector<Access>& accesses)
{
    int64_t points = 1;
    const Access& access = accesses.front();
    for (const auto& [var, range] : access.inner)
        for (const Expr& index : access.indices)
            if (usesVar(index, var)) {
                points *= range.max - range.min + 1;
                break;
            }
    return points;
}

/// What the readers in the loop need of each axis of the block, which stores at `indices`.
Result<AxisRegions> neededRegions(const Site& loop, const Stmt& block, const Buffer& buffer,
                                  const std::vector<Expr>& indices, const Refusal& refuse)
{
    const tir::Ranges outer = rangesWith(loop);
    const auto accesses = accessesOf(lowerBlocks(loop.stmt->body), buffer, AccessKind::Reads);
    AxisRegions regions;
    for (const tir::IterVar& iter : block->block.iters) {
        const int dim = dimOf(indices, iter.var);
        std::optional<Interval> region;
        if (dim < 0 && iter.kind == tir::IterKind::Spatial)
            return refuse("axis " + quoted(iter.var->name) + " is no plain index of its store");
        if (dim >= 0) region = regionOf(accesses, static_cast<size_t>(dim), outer);
        const bool isAll = region && iter.extent->kind == ExprKind::IntImm &&
                           region->extent >= iter.extent->integer;
        regions.push_back(isAll ? std::nullopt : region);
    }
    return regions;
}

/// The one buffer that blocks in the loop write and `block` reads. Everything else it reads has to
/// be complete, and nothing may read its result too early.
Result<Buffer> madeInLoop(const Stmt& rest, const Stmt& loop, const Stmt& block,
                          const Refusal& refuse)
{
    bool isAfter = false;
    Buffer buffer;
    for (const Stmt& other : blocksIn(rest)) {
        const bool isUnder = siteOfBlock(loop, other->block.name).has_value();
        for (const Buffer& read : readIn(block)) {
            if (!writes(other, read)) continue;
            if (isUnder && buffer && buffer != read)
                return refuse("several blocks in the loop write what it reads");
            if (isUnder) buffer = read;
            if (!isUnder && isAfter)
                return refuse("its input " + quoted(read->name) + " is written after the loop");
            if (!isUnder && read == buffer)
                return refuse("its input " + quoted(read->name) + " is also written outside");
        }
        for (const Buffer& result : writtenIn(block))
            if (!isAfter && reads(other, result))
                return refuse("block " + quoted(other->block.name) + " reads its result before");
        isAfter = isAfter || isUnder;
    }
    if (!buffer) return refuse("no block in the loop writes what it reads");
    return buffer;
}

/// The box of `buffer` that one iteration of the loop completes, dimension by dimension.
Result<AxisRegions> completedBox(const Site& loop, const Buffer& buffer, const Refusal& refuse)
{
    const tir::Ranges outer = rangesWith(loop);
    for (const Stmt& producer : blocksIn(loop.stmt)) {
        if (!writes(producer, buffer)) continue;
        for (const tir::IterVar& iter : producer->block.iters)
            if (iter.kind == tir::IterKind::Reduce && usesAny(iter.binding, outer))
                return refuse("reduction of " + quoted(producer->block.name) +
                              " is not complete in the loop");
    }
    const auto written = accessesOf(lowerBlocks(loop.stmt->body), buffer, AccessKind::Writes);
    int64_t size = 1;
    AxisRegions box;
    for (size_t dim = 0; dim < buffer->shape.size(); ++dim) {
        box.push_back(steppedRegionOf(written, dim, outer));
        if (!box.back()) return refuse("what the loop writes cannot be told");
        size *= box.back()->extent;
    }
    if (size != pointsOf(written))
        return refuse("the loop writes no box of " + quoted(buffer->name));
    return box;
}

/// The part of each axis of `block` that reads within the box.
Result<AxisRegions> regionsReading(const Stmt& block, const Buffer& buffer, const AxisRegions& box,
                                   const Refusal& refuse)
{
    std::vector<Expr> indices;
    bool agrees = true;
    tir::visitExprsIn(block, [&](const Expr& expr) {
        if (expr->kind != ExprKind::Load || expr->buffer != buffer) return true;
        for (size_t i = 0; i < indices.size(); ++i)
            agrees = agrees && tir::structuralEqual(indices[i], expr->args[i]);
        indices = expr->args;
        return true;
    });
    AxisRegions regions;
    size_t used = 0;
    for (const tir::IterVar& iter : block->block.iters) {
        const int dim = dimOf(indices, iter.var);
        used += dim >= 0;
        regions.push_back(dim >= 0 ? box[static_cast<size_t>(dim)] : std::nullopt);
    }
    for (const Expr& index : indices) used += index->kind == ExprKind::IntImm;
    if (!agrees || used != indices.size())
        return refuse("it does not read " + quoted(buffer->name) + " at plain distinct indices");
    return regions;
}

} // namespace

Status Primitives::computeAt(std::string block, std::string loop)
{
    constexpr const char* kName = "compute_at";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    if (!siteOfLoop(m_function.body, loop)) return unknownLoop(kName, loop);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + " at " + quoted(loop) + ": " + why);
    };
    const std::vector<Buffer> written = writtenIn(site->stmt);
    if (written.size() != 1) return refuse("it writes several buffers");
    const Buffer buffer = written[0];
    if (isParameter(m_function, buffer)) return refuse("it writes an output");
    const Stmt rest = withoutBlock(m_function.body, *site);
    const auto target = siteOfLoop(rest, loop);
    if (!target) return refuse("the loop belongs to the block itself");
    if (writes(rest, buffer)) return refuse("another block writes the same buffer");
    for (const Stmt& reader : blocksIn(rest)) {
        const bool isUnder = siteOfBlock(target->stmt, reader->block.name).has_value();
        if (!isUnder && reads(reader, buffer))
            return refuse("its reader " + quoted(reader->block.name) + " is outside the loop");
    }
    if (!reads(target->stmt, buffer)) return refuse("nothing in the loop reads its result");
    const auto indices = storeIndices(site->stmt);
    if (!indices) return refuse("it stores at several places");

    const auto regions = neededRegions(*target, site->stmt, buffer, *indices, refuse);
    if (!regions) return regions.error();
    const Stmt nest = nestOver(rest, site->stmt, *regions, rangesWith(*target));
    m_function.body = inserted(rest, target->stmt, nest, buffer, true);
    record(kName, {block, loop});
    return kDone;
}

Status Primitives::reverseComputeAt(std::string block, std::string loop)
{
    constexpr const char* kName = "reverse_compute_at";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    if (!siteOfLoop(m_function.body, loop)) return unknownLoop(kName, loop);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + " at " + quoted(loop) + ": " + why);
    };
    const Stmt rest = withoutBlock(m_function.body, *site);
    const auto target = siteOfLoop(rest, loop);
    if (!target) return refuse("the loop belongs to the block itself");
    for (const tir::IterVar& iter : site->stmt->block.iters)
        if (iter.kind == tir::IterKind::Reduce) return refuse("it is a reduction");

    const auto buffer = madeInLoop(rest, target->stmt, site->stmt, refuse);
    if (!buffer) return buffer.error();
    const auto box = completedBox(*target, *buffer, refuse);
    if (!box) return box.error();
    const auto regions = regionsReading(site->stmt, *buffer, *box, refuse);
    if (!regions) return regions.error();
    const Stmt nest = nestOver(rest, site->stmt, *regions, rangesWith(*target));
    m_function.body = inserted(rest, target->stmt, nest, *buffer, false);
    record(kName, {block, loop});
    return kDone;
}

} // namespace tenon::compiler
