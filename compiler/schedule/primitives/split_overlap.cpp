// SPDX-License-Identifier: Apache-2.0
// split_overlap: tiles of one size whose last is moved back to the end of the extent.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

constexpr const char* kName = "split_overlap";

} // namespace

Result<std::vector<std::string>> Primitives::splitOverlap(std::string loop, int64_t factor)
{
    const auto site = siteOfLoop(m_function.body, loop);
    if (!site) return unknownLoop(kName, loop);
    const tir::Loop& old = site->stmt->loop;
    const int64_t extent = extentOf(loop);
    if (old.kind != tir::LoopKind::Serial || !old.min.isConstInt(0))
        return badSchedule(kName, "of loop " + quoted(loop) + ": it is no serial loop from 0");
    if (factor < 1 || extent < factor)
        return badSchedule(kName, "of loop " + quoted(loop) + " of extent " +
                                      std::to_string(extent) + " into tiles of " +
                                      std::to_string(factor));
    const std::string outer = freshLoopName(m_function.body, loop + "_0");
    const std::string inner = freshLoopName(m_function.body, loop + "_1");
    const tir::Var outerVar = tir::makeVar(outer);
    const tir::Var innerVar = tir::makeVar(inner);
    const tir::Expr start = tir::Expr(outerVar) * factor;
    const bool divides = extent % factor == 0;
    const tir::Expr value = (divides ? start : minimum(start, extent - factor)) + innerVar;
    tir::Stmt body = tir::substitute(site->stmt->body, {{old.var.get(), value}});
    body = tir::forLoop({.var = innerVar, .extent = factor}, body);
    body = tir::forLoop({.var = outerVar, .extent = (extent + factor - 1) / factor}, body);
    const tir::Stmt root = tir::replaceStmt(m_function.body, site->stmt.get(), body);
    if (repeatsReduction(root))
        return badSchedule(kName, "of loop " + quoted(loop) +
                                      ": a reduction loop around it would add elements twice");
    m_function.body = root;
    record(kName, {loop}, {{"factor", factor}}, {outer, inner});
    return std::vector<std::string>{outer, inner};
}

} // namespace tenon::compiler
