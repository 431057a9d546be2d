// SPDX-License-Identifier: Apache-2.0
// split: one loop becomes several nested ones.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

constexpr const char* kName = "split";

std::string bad(const std::vector<int64_t>& factors)
{
    int open = 0;
    for (const int64_t factor : factors) {
        if (factor == 0 || factor < -1) return "has a factor that is neither positive nor -1";
        open += factor == -1;
    }
    if (factors.size() < 2) return "needs two factors or more";
    return open > 1 ? "may leave one factor open, not more" : "";
}

} // namespace

Result<std::vector<std::string>> Primitives::split(std::string loop, std::vector<int64_t> factors)
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(kName, loop);
    const tir::Loop& old = site->stmt->loop;
    if (old.kind != tir::LoopKind::Serial)
        return badSchedule(kName, "of loop " + quoted(loop) + ": it is already " +
                                      tir::loopKindText(old.kind));
    if (const std::string why = bad(factors); !why.empty())
        return badSchedule(kName, "of loop " + quoted(loop) + " " + why);

    int64_t product = 1;
    for (const int64_t factor : factors)
        if (factor > 0) product *= factor;
    std::vector<Expr> extents;
    for (const int64_t factor : factors)
        extents.push_back(factor > 0
                              ? Expr(factor)
                              : tir::simplify(floorDiv(old.extent + (product - 1), product)));
    Expr total = 1;
    for (const Expr& extent : extents) total = total * extent;
    const bool isConst = old.extent->kind == ExprKind::IntImm && total->kind == ExprKind::IntImm;
    if (isConst && total->integer < old.extent->integer)
        return badSchedule(kName, "of loop " + quoted(loop) + ": factors cover " +
                                      std::to_string(total->integer) + " of " +
                                      std::to_string(old.extent->integer) + " iterations");

    std::vector<tir::Loop> loops;
    std::vector<std::string> names;
    Expr offset = 0;
    Stmt root = m_function.body;
    for (size_t i = 0; i < extents.size(); ++i) {
        names.push_back(freshLoopName(root, loop + "_" + std::to_string(i)));
        loops.push_back({.var = tir::makeVar(names.back()), .extent = extents[i]});
        offset = offset * extents[i] + Expr(loops.back().var);
    }
    Stmt body = site->stmt->body;
    const bool divides = isConst && total->integer == old.extent->integer;
    if (!divides) body = guarded(body, offset < old.extent);
    body = tir::substitute(body, {{old.var.get(), old.min + offset}});
    for (size_t i = loops.size(); i-- > 0;) body = tir::forLoop(loops[i], body);
    m_function.body = tir::replaceStmt(root, site->stmt.get(), body);
    record(kName, {loop}, {{"factors", factors}}, names);
    return names;
}

} // namespace tenon::compiler
