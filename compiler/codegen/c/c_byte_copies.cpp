// SPDX-License-Identifier: Apache-2.0
// Runs of bytes that are copied, or filled where what they come from is not inside of an image: one
// call moves words, where a loop would ask and move a byte at a time.
#include "compiler/codegen/c/c_loop_nest.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::Intrinsic;
using tir::Stmt;

namespace {

/// Bytes for which a call takes fewer instructions than a loop.
constexpr int64_t kFewestBytes = 12;

bool isByteLoad(const Expr& expr)
{
    return expr->kind == ExprKind::Load && expr->dtype == core::kInt8;
}

bool usesAny(const Expr& expr, const std::vector<tir::Loop>& loops)
{
    bool found = false;
    tir::visitExprs(expr, [&](const Expr& e) {
        for (const tir::Loop& loop : loops)
            found = found || (e->kind == ExprKind::VarRef && e->var == loop.var);
        return !found;
    });
    return found;
}

/// A run of bytes: of another buffer, everywhere or where a condition holds and else one number.
struct ByteRun
{
    Expr condition; ///< null: everywhere
    Expr from;      ///< the first load
    int64_t fill = 0, bytes = 1;
};

std::optional<ByteRun> runOf(const LoopNest& nest)
{
    const Expr& value = nest.store->value;
    ByteRun run{{}, value};
    if (value->kind == ExprKind::Intrinsic && value->intrinsic == Intrinsic::IfThenElse) {
        if (value->args[2]->kind != ExprKind::IntImm || usesAny(value->args[0], nest.loops))
            return std::nullopt;
        run = {value->args[0], value->args[1], value->args[2]->integer};
    }
    if (!isByteLoad(run.from) || run.from->buffer == nest.store->buffer ||
        nest.store->buffer->dtype != core::kInt8)
        return std::nullopt;
    for (const tir::Loop& loop : nest.loops) run.bytes *= loop.extent->integer;
    const bool isRun = run.bytes >= kFewestBytes &&
                       stepOfAll(nest.store->indices[0], nest.loops) == 1 &&
                       stepOfAll(run.from->args[0], nest.loops) == 1;
    return isRun ? std::optional(run) : std::nullopt;
}

} // namespace

std::vector<std::string> CExpressions::copyOfBytes(const Stmt& root)
{
    const auto nest = scalarNestOf(root);
    const auto run = nest ? runOf(*nest) : std::nullopt;
    if (!run) return {};
    const std::string to =
        address(nest->store->buffer, firstOf(nest->store->indices[0], nest->loops));
    const std::string bytes = std::to_string(run->bytes);
    const std::string copy = "memcpy(" + to + ", " +
                             address(run->from->buffer, firstOf(run->from->args[0], nest->loops)) +
                             ", " + bytes + ");";
    if (!run->condition.get()) return {copy};
    return {"if (" + text(run->condition) + ")", "    " + copy, "else",
            "    memset(" + to + ", " + std::to_string(run->fill) + ", " + bytes + ");"};
}

} // namespace tenon::compiler
