// SPDX-License-Identifier: Apache-2.0
// init_with_addends: sums start from what the block behind them adds: a bias costs one load per
// tile in place of an addition per vector. Integers are exact in any order; short sums of floats
// start from one addend, as the sum of a 3 x 3 window, of whose twelve instructions the bias was
// one.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

constexpr const char* kName = "init_with_addends";

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

/// Terms of a sum of floats above which an addition less does not show, but each step of a sum that
/// starts from a large bias rounds to the bias's precision.
constexpr int64_t kShortSum = 64;

/// Sums, and what variables of the block that reads them are in the one that initialises them.
struct Sum
{
    tir::Buffer buffer;
    tir::VarMap toInit;
};

bool isLoadOf(const Expr& expr, const tir::Buffer& buffer)
{
    return expr->kind == ExprKind::Load && expr->buffer == buffer;
}

int64_t loadsIn(const Stmt& stmt, const tir::Buffer& buffer)
{
    int64_t loads = 0;
    tir::visitExprsIn(stmt, [&](const Expr& expr) {
        loads += isLoadOf(expr, buffer) ? 1 : 0;
        return true;
    });
    return loads;
}

/// The only block that reads the sums beside those that compute them; null when there is another.
Stmt readerOf(const Stmt& root, const tir::Buffer& sums)
{
    Stmt reader;
    for (const Stmt& block : blocksIn(root)) {
        if (writes(block, sums) || !reads(block, sums)) continue;
        if (reader) return nullptr;
        reader = block;
    }
    return reader;
}

/// Terms per sum when the block that reduces into the buffer adds them up; 0 for another reduction
/// or one of unknown length.
int64_t termsIn(const Stmt& root, const tir::Buffer& sums, const std::string& init)
{
    int64_t terms = 0;
    for (const Stmt& block : blocksIn(root)) {
        if (block->block.name == init || !writes(block, sums)) continue;
        const Stmt& body = block->body;
        if (terms != 0 || body->kind != tir::StmtKind::Store ||
            body->value->kind != ExprKind::Add || !isLoadOf(body->value->args[0], sums))
            return 0;
        terms = 1;
        for (const tir::IterVar& iter : block->block.iters)
            if (iter.kind == tir::IterKind::Reduce)
                terms *= iter.extent->kind == ExprKind::IntImm ? iter.extent->integer : 0;
    }
    return terms;
}

/// True when every element that the init would load exists, also where sums are padded.
bool isInside(const Expr& addend, const tir::Block& init)
{
    tir::Ranges ranges;
    for (const tir::IterVar& iter : init.iters)
        if (iter.extent->kind == ExprKind::IntImm)
            ranges[iter.var.get()] = {0, iter.extent->integer - 1};
    for (size_t dim = 0; dim < addend->args.size(); ++dim) {
        const auto bounds = tir::boundsOf(addend->args[dim], ranges);
        const Expr& extent = addend->buffer->shape[dim];
        if (!bounds || extent->kind != ExprKind::IntImm || bounds->min < 0 ||
            bounds->max >= extent->integer)
            return false;
    }
    return true;
}

/// Which variables of the reader are the elements of the init; nothing for another element.
std::optional<tir::VarMap> variablesOf(const Stmt& reader, const tir::StmtNode& init)
{
    tir::VarMap values;
    bool isPlain = true;
    tir::visitExprsIn(reader->body, [&](const Expr& expr) {
        if (!isLoadOf(expr, init.buffer)) return true;
        for (size_t i = 0; i < expr->args.size(); ++i) {
            const Expr& index = expr->args[i];
            if (index->kind != ExprKind::VarRef) {
                isPlain = isPlain && index->kind == ExprKind::IntImm;
                continue;
            }
            const auto [at, isNew] = values.emplace(index->var.get(), init.indices[i]);
            isPlain = isPlain && (isNew || tir::structuralEqual(at->second, init.indices[i]));
        }
        return true;
    });
    return isPlain ? std::optional(std::move(values)) : std::nullopt;
}

/// A constant, or an element of a parameter at a place that the init knows.
bool isKnownBefore(const tir::PrimFunc& function, const Expr& addend, const Sum& sum)
{
    if (addend->kind == ExprKind::IntImm) return true;
    if (addend->kind != ExprKind::Load || !isParameter(function, addend->buffer) ||
        writes(function.body, addend->buffer))
        return false;
    bool isKnown = true;
    for (const Expr& index : addend->args)
        tir::visitExprs(index, [&](const Expr& expr) {
            isKnown = isKnown && expr->kind != ExprKind::Load &&
                      (expr->kind != ExprKind::VarRef || sum.toInit.contains(expr->var.get()));
            return true;
        });
    return isKnown;
}

/// Takes an addend that every load of the sum has out of `body`; nothing when there is none.
std::optional<Expr> takeAddend(const tir::PrimFunc& function, Stmt& body, const Sum& sum)
{
    std::optional<Expr> addend;
    int64_t taken = 0;
    const Stmt without = tir::rewriteStmt(
        body, [](const Stmt& stmt) { return stmt; },
        [&](const Expr& expr) {
            if (expr->kind != ExprKind::Add || !isLoadOf(expr->args[0], sum.buffer)) return expr;
            const Expr& other = expr->args[1];
            if (!isKnownBefore(function, other, sum)) return expr;
            if (addend && !tir::structuralEqual(*addend, other)) return expr;
            addend = other;
            ++taken;
            return expr->args[0];
        });
    if (!addend || taken != loadsIn(body, sum.buffer)) return std::nullopt;
    body = without;
    return addend;
}

} // namespace

Status Primitives::initWithAddends(std::string init)
{
    const auto site = siteOfBlock(m_function.body, init);
    if (!site) return unknownBlock(kName, init);
    const auto refuse = [&](const std::string& why) {
        return badSchedule(kName, "of block " + quoted(init) + ": " + why);
    };
    const Stmt start = site->stmt->body;
    if (start->kind != tir::StmtKind::Store) return refuse("it is no plain store");
    if (!isNumber(start->value, 0)) return refuse("it does not store 0");
    const bool isFloat = start->value->kind == ExprKind::FloatImm;
    const tir::Buffer sums = start->buffer;
    const int64_t terms = termsIn(m_function.body, sums, init);
    if (terms == 0) return refuse("no block adds up a known number of terms");
    if (isFloat && terms > kShortSum)
        return refuse("a sum of " + std::to_string(terms) + " floats would round more");
    if (isParameter(m_function, sums)) return refuse("the sums are a parameter");
    const Stmt reader = readerOf(m_function.body, sums);
    if (!reader || reader->init) return refuse("not exactly one other block reads the sums");
    auto variables = variablesOf(reader, *start);
    if (!variables) return refuse("block " + quoted(reader->block.name) + " reads other elements");
    const Sum sum{sums, *std::move(variables)};

    Stmt body = reader->body;
    Expr value = start->value;
    do {
        Stmt without = body;
        const auto addend = takeAddend(m_function, without, sum);
        if (!addend) break;
        const Expr moved = tir::substitute(*addend, sum.toInit);
        if (moved->kind == ExprKind::Load && !isInside(moved, site->stmt->block)) break;
        body = without;
        value = isFloat || value.isConstInt(0) ? moved : value + moved;
    } while (!isFloat);
    if (body == reader->body)
        return refuse("block " + quoted(reader->block.name) + " adds nothing that is known before");
    const Stmt from =
        tir::block(site->stmt->block, site->stmt->init, tir::store(sums, start->indices, value));
    const Stmt rest = tir::block(reader->block, reader->init, body);
    m_function.body = tir::replaceStmt(m_function.body, site->stmt.get(), from);
    m_function.body = tir::replaceStmt(m_function.body, reader.get(), rest);
    record(kName, {std::move(init)});
    return kDone;
}

} // namespace tenon::compiler
