// SPDX-License-Identifier: Apache-2.0
// cache_read, cache_write: a block works on a copy of a buffer in another scope.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::Stmt;

/// Loops and a block named `name` that copy all of `from` to `to`.
Stmt copyNest(const Stmt& root, const std::string& name, const Buffer& from, const Buffer& to)
{
    tir::Block block{.name = name};
    std::vector<tir::Loop> loops;
    std::vector<Expr> indices;
    for (size_t dim = 0; dim < from->shape.size(); ++dim) {
        const std::string loop = freshLoopName(root, name + "_" + std::to_string(dim));
        loops.push_back({.var = tir::makeVar(loop), .extent = from->shape[dim]});
        const tir::Var var = tir::makeVar("v" + std::to_string(dim));
        block.iters.push_back(
            {.var = var, .extent = from->shape[dim], .binding = loops.back().var});
        indices.emplace_back(var);
    }
    Stmt nest =
        tir::block(std::move(block), nullptr, tir::store(to, indices, tir::load(from, indices)));
    for (size_t i = loops.size(); i-- > 0;) nest = tir::forLoop(loops[i], nest);
    return nest;
}

Buffer copyOf(const tir::PrimFunc& function, const Buffer& buffer, tir::Scope scope)
{
    tir::BufferNode node = *buffer;
    node.scope = scope;
    node.strides.clear(); // where the copied one lies
    node.name = freshBufferName(function, buffer->name + "_" + tir::scopeText(scope));
    return std::make_shared<const tir::BufferNode>(std::move(node));
}

} // namespace

Result<std::string> Primitives::cacheRead(std::string block, std::string buffer, tir::Scope scope)
{
    constexpr const char* kName = "cache_read";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const Buffer from = bufferNamed(m_function, buffer);
    if (!from || !reads(site->stmt, from))
        return badSchedule(kName, "of block " + quoted(block) + ": it does not read a buffer " +
                                      quoted(buffer));
    const Stmt nest = nestOf(*site);
    if (writes(nest, from))
        return badSchedule(kName, "of block " + quoted(block) + ": its loops also write " +
                                      quoted(buffer));
    const Buffer to = copyOf(m_function, from, scope);
    const std::string name = freshBlockName(m_function.body, to->name);
    const Stmt reading = tir::replaceStmt(nest, site->stmt.get(),
                                          tir::substitute(site->stmt, {}, {{from.get(), to}}));
    const Stmt copy = copyNest(m_function.body, name, from, to);
    const Stmt root = tir::replaceStmt(m_function.body, nest.get(), tir::seq({copy, reading}));
    m_function.body = withAlloc(root, to);
    record(kName, {block, buffer}, {{"scope", std::string(tir::scopeText(scope))}}, {name});
    return name;
}

Result<std::string> Primitives::cacheWrite(std::string block, tir::Scope scope)
{
    constexpr const char* kName = "cache_write";
    const auto site = siteOfBlock(m_function.body, block);
    if (!site) return unknownBlock(kName, block);
    const std::vector<Buffer> written = writtenIn(site->stmt);
    if (written.size() != 1)
        return badSchedule(kName, "of block " + quoted(block) + ": it writes " +
                                      std::to_string(written.size()) + " buffers");
    const Stmt nest = nestOf(*site);
    const Buffer to = copyOf(m_function, written[0], scope);
    const std::string name = freshBlockName(m_function.body, written[0]->name + "_copy");
    const Stmt writing = tir::replaceStmt(
        nest, site->stmt.get(), tir::substitute(site->stmt, {}, {{written[0].get(), to}}));
    const Stmt copy = copyNest(m_function.body, name, to, written[0]);
    const Stmt root = tir::replaceStmt(m_function.body, nest.get(), tir::seq({writing, copy}));
    m_function.body = withAlloc(root, to);
    record(kName, {block}, {{"scope", std::string(tir::scopeText(scope))}}, {name});
    return name;
}

} // namespace tenon::compiler
