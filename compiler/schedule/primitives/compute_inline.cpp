// SPDX-License-Identifier: Apache-2.0
// compute_inline, reverse_compute_inline: an elementwise block disappears into its readers / into
// its producer.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <functional>
#include <optional>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// Variable per dimension when the indices are distinct variables of the block.
std::optional<std::vector<tir::Var>> plainIndices(const std::vector<Expr>& indices)
{
    std::vector<tir::Var> vars;
    for (const Expr& index : indices) {
        if (index->kind != ExprKind::VarRef) return std::nullopt;
        for (const tir::Var& other : vars)
            if (other == index->var) return std::nullopt;
        vars.push_back(index->var);
    }
    return vars;
}

/// One store and no reduction, predicate or branch.
bool isElementwise(const Stmt& block)
{
    if (block->init || block->block.predicate || block->body->kind != StmtKind::Store) return false;
    for (const tir::IterVar& iter : block->block.iters)
        if (iter.kind == tir::IterKind::Reduce) return false;
    return true;
}

tir::VarMap valuesOf(const std::vector<tir::Var>& vars, const std::vector<Expr>& exprs)
{
    tir::VarMap values;
    for (size_t i = 0; i < vars.size(); ++i) values[vars[i].get()] = exprs[i];
    return values;
}

/// What the variables of all blocks can be, where that is known and more than one number: with a
/// constant in its place, an axis would no longer be part of a run.
tir::Ranges rangesOfIters(const Stmt& body)
{
    tir::Ranges ranges;
    for (const Stmt& block : blocksIn(body))
        for (const tir::IterVar& iter : block->block.iters)
            if (iter.extent->kind == ExprKind::IntImm && iter.extent->integer > 1)
                ranges[iter.var.get()] = {0, iter.extent->integer - 1};
    return ranges;
}

/// The value with every index in its simplest form: what takes a block of channels apart that its
/// reader had put together is one run again.
Expr withPlainIndices(const Expr& value, const tir::Ranges& ranges)
{
    return tir::rewriteExpr(value, [&](const Expr& expr) {
        if (expr->kind != ExprKind::Load) return expr;
        std::vector<Expr> indices;
        for (const Expr& index : expr->args) indices.push_back(tir::simplify(index, ranges));
        return tir::load(expr->buffer, std::move(indices));
    });
}

/// Why a block cannot disappear.
using Refusal = std::function<Diagnostic(const std::string& why)>;

/// The only block that writes what `reader` reads.
Result<Stmt> producerOf(const Stmt& reader, const Stmt& rest, const Refusal& refuse)
{
    Stmt producer;
    for (const Stmt& other : blocksIn(rest))
        for (const Buffer& read : readIn(reader))
            if (writes(other, read)) {
                if (producer) return refuse("it reads the results of several blocks");
                producer = other;
            }
    if (!producer) return refuse("no block writes what it reads");
    if (!isElementwise(producer))
        return refuse("its producer " + quoted(producer->block.name) + " is no plain store");
    return producer;
}

/// The variables with which `reader` reads all of the buffer, the same at every load.
Result<std::vector<tir::Var>> readWhole(const Stmt& reader, const Buffer& buffer,
                                        const Refusal& refuse)
{
    std::optional<std::vector<tir::Var>> vars;
    bool agrees = true;
    tir::visitExprsIn(reader->body, [&](const Expr& expr) {
        if (expr->kind != ExprKind::Load || expr->buffer != buffer) return true;
        const auto now = plainIndices(expr->args);
        agrees = agrees && now && (!vars || *vars == *now);
        vars = now;
        return true;
    });
    if (!agrees || vars->size() != reader->block.iters.size())
        return refuse("it does not read " + quoted(buffer->name) + " at plain distinct indices");
    for (size_t dim = 0; dim < vars->size(); ++dim)
        for (const tir::IterVar& iter : reader->block.iters)
            if (iter.var == (*vars)[dim] && !tir::structuralEqual(iter.extent, buffer->shape[dim]))
                return refuse("it reads a part of " + quoted(buffer->name));
    return *vars;
}

} // namespace

Status Primitives::computeInline(std::string block)
{
    constexpr const char* kName = "compute_inline";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + ": " + why);
    };
    if (!isElementwise(site->stmt)) return refuse("it is not one unconditional store");
    const tir::StmtNode& store = *site->stmt->body;
    const Buffer buffer = store.buffer;
    const auto vars = plainIndices(store.indices);
    if (!vars) return refuse("it does not store at plain distinct indices");
    if (isParameter(m_function, buffer)) return refuse("it writes an output");
    if (reads(site->stmt, buffer)) return refuse("it reads what it writes");
    const Stmt rest = withoutBlock(m_function.body, *site);
    if (writes(rest, buffer)) return refuse("another block writes the same buffer");
    if (!reads(rest, buffer)) return refuse("nothing reads its result");

    const Expr value = store.value;
    const tir::Ranges ranges = rangesOfIters(rest);
    const Stmt inlined = tir::rewriteStmt(rest, {}, [&](const Expr& expr) {
        if (expr->kind != ExprKind::Load || expr->buffer != buffer) return expr;
        return withPlainIndices(tir::substitute(value, valuesOf(*vars, expr->args)), ranges);
    });
    m_function.body = withoutAlloc(inlined, buffer);
    record(kName, {block});
    return kDone;
}

Status Primitives::reverseComputeInline(std::string block)
{
    constexpr const char* kName = "reverse_compute_inline";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(block) + ": " + why);
    };
    if (!isElementwise(site->stmt)) return refuse("it is not one unconditional store");
    const Stmt rest = withoutBlock(m_function.body, *site);
    const auto producer = producerOf(site->stmt, rest, refuse);
    if (!producer) return producer.error();
    const tir::StmtNode& from = *(*producer)->body;
    const Buffer buffer = from.buffer;
    if (isParameter(m_function, buffer)) return refuse("it reads an output");
    if (reads(rest, buffer)) return refuse("another block reads the same buffer");
    const auto vars = readWhole(site->stmt, buffer, refuse);
    if (!vars) return vars.error();

    const tir::VarMap values = valuesOf(*vars, from.indices);
    std::vector<Expr> indices;
    for (const Expr& index : site->stmt->body->indices)
        indices.push_back(tir::substitute(index, values));
    const Expr value =
        tir::rewriteExpr(tir::substitute(site->stmt->body->value, values), [&](const Expr& expr) {
            return expr->kind == ExprKind::Load && expr->buffer == buffer ? from.value : expr;
        });
    const Stmt joined = tir::block((*producer)->block, nullptr,
                                   tir::store(site->stmt->body->buffer, indices, value));
    m_function.body = withoutAlloc(tir::replaceStmt(rest, producer->get(), joined), buffer);
    record(kName, {block});
    return kDone;
}

} // namespace tenon::compiler
