// SPDX-License-Identifier: Apache-2.0
// Statement builders.
#include "core/ir/tir/stmt.h"

namespace tenon::tir {
namespace {

Stmt make(StmtNode node) { return std::make_shared<const StmtNode>(std::move(node)); }

} // namespace

const char* scopeText(Scope scope)
{
    switch (scope) {
    case Scope::Global: return "global";
    case Scope::Local: return "local";
    case Scope::Register: return "register";
    case Scope::Shared: return "shared";
    }
    return "";
}

const char* loopKindText(LoopKind kind)
{
    switch (kind) {
    case LoopKind::Serial: return "serial";
    case LoopKind::Parallel: return "parallel";
    case LoopKind::Vectorized: return "vectorized";
    case LoopKind::Unrolled: return "unroll";
    case LoopKind::Thread: return "thread_binding";
    }
    return "";
}

Buffer makeBuffer(std::string name, std::vector<Expr> shape, DataType dtype, Scope scope)
{
    return std::make_shared<const BufferNode>(
        BufferNode{std::move(name), dtype, std::move(shape), scope, 64, {}});
}

Stmt seq(std::vector<Stmt> stmts)
{
    std::vector<Stmt> flat;
    for (Stmt& stmt : stmts) {
        if (!stmt) continue;
        if (stmt->kind == StmtKind::Seq)
            flat.insert(flat.end(), stmt->stmts.begin(), stmt->stmts.end());
        else
            flat.push_back(std::move(stmt));
    }
    if (flat.size() == 1) return flat[0];
    return make({.kind = StmtKind::Seq, .stmts = std::move(flat)});
}

Stmt forLoop(Loop loop, Stmt body)
{
    return make({.kind = StmtKind::For, .loop = std::move(loop), .body = std::move(body)});
}

Stmt block(Block block, Stmt init, Stmt body)
{
    return make({.kind = StmtKind::Block,
                 .block = std::move(block),
                 .init = std::move(init),
                 .body = std::move(body)});
}

Stmt store(const Buffer& buffer, std::vector<Expr> indices, Expr value)
{
    return make({.kind = StmtKind::Store,
                 .buffer = buffer,
                 .indices = std::move(indices),
                 .value = std::move(value)});
}

Stmt ifThen(Expr condition, Stmt then, Stmt orElse)
{
    return make({.kind = StmtKind::If,
                 .body = std::move(then),
                 .orElse = std::move(orElse),
                 .condition = std::move(condition)});
}

Stmt whileLoop(Expr condition, Stmt body)
{
    return make(
        {.kind = StmtKind::While, .body = std::move(body), .condition = std::move(condition)});
}

Stmt let(Var var, Expr value, Stmt body)
{
    return make({.kind = StmtKind::Let,
                 .body = std::move(body),
                 .value = std::move(value),
                 .var = std::move(var)});
}

Stmt allocate(const Buffer& buffer, Stmt body)
{
    return make({.kind = StmtKind::Allocate, .body = std::move(body), .buffer = buffer});
}

Stmt evaluate(Expr value) { return make({.kind = StmtKind::Evaluate, .value = std::move(value)}); }

} // namespace tenon::tir
