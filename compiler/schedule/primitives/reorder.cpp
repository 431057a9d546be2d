// SPDX-License-Identifier: Apache-2.0
// reorder: the named loops of one nest take the given order, in the places they have now.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

constexpr const char* kName = "reorder";

} // namespace

Status Primitives::reorder(std::vector<std::string> loops)
{
    if (loops.empty()) return badSchedule(kName, "needs a loop");
    const std::set<std::string> wanted(loops.begin(), loops.end());
    if (wanted.size() != loops.size()) return badSchedule(kName, "names a loop twice");
    std::optional<Site> first;
    for (const std::string& name : loops) {
        const auto site = siteOfLoop(m_function.body, name);
        if (!site) return unknownLoop(kName, name);
        if (!first || site->above.size() < first->above.size()) first = site;
    }

    std::vector<tir::Loop> chain;
    size_t found = 0;
    tir::Stmt at = first->stmt;
    for (; found < loops.size(); at = at->body) {
        if (at->kind != tir::StmtKind::For)
            return badSchedule(kName, "of " + quoted(join(loops, ", ")) +
                                          ": the loops are not one perfect nest");
        found += wanted.contains(at->loop.var->name);
        chain.push_back(at->loop);
    }
    for (const tir::Loop& outer : chain)
        for (const tir::Loop& inner : chain)
            if (usesVar(inner.extent, outer.var.get()) || usesVar(inner.min, outer.var.get()))
                return badSchedule(kName, "of " + quoted(inner.var->name) +
                                              ": its range depends on " + quoted(outer.var->name));

    std::vector<tir::Loop> order = chain;
    size_t next = 0;
    for (size_t place = 0; place < chain.size(); ++place) {
        if (!wanted.contains(chain[place].var->name)) continue;
        const std::string& name = loops[next++];
        order[place] = *std::find_if(chain.begin(), chain.end(),
                                     [&](const tir::Loop& loop) { return loop.var->name == name; });
    }
    tir::Stmt nest = at;
    for (size_t place = order.size(); place-- > 0;) nest = tir::forLoop(order[place], nest);
    const tir::Stmt root = tir::replaceStmt(m_function.body, first->stmt.get(), nest);
    if (repeatsReduction(root))
        return badSchedule(kName, "of " + quoted(join(loops, ", ")) +
                                      ": a reduction loop around overlapping tiles would add "
                                      "elements twice");
    m_function.body = root;
    record(kName, loops);
    return kDone;
}

} // namespace tenon::compiler
