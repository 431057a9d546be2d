// SPDX-License-Identifier: Apache-2.0
// Walking, rewriting, substituting and comparing loop-IR trees.
#pragma once

#include "core/ir/tir/stmt.h"

#include <functional>
#include <unordered_map>

namespace tenon::tir {

/// Pre-order visits; return false from the callback to skip the children.
void visitExprs(const Expr& root, const std::function<bool(const Expr&)>& visit);
void visitStmts(const Stmt& root, const std::function<bool(const Stmt&)>& visit);
/// Every expression directly or indirectly inside the statement (loop extents, bindings, predicates
/// too).
void visitExprsIn(const Stmt& root, const std::function<bool(const Expr&)>& visit);

/// Bottom-up rewrites: the callback sees a node whose children are already rewritten and returns it
/// or a replacement. Untouched subtrees keep their identity.
Expr rewriteExpr(const Expr& root, const std::function<Expr(const Expr&)>& rewrite);
Stmt rewriteStmt(const Stmt& root, const std::function<Stmt(const Stmt&)>& rewrite,
                 const std::function<Expr(const Expr&)>& rewriteExpr = {});

/// The node with other operands, through the builders: constants fold and lane counts follow.
Expr withArgs(const Expr& expr, std::vector<Expr> args);

using VarMap = std::unordered_map<const VarNode*, Expr>;
using BufferMap = std::unordered_map<const BufferNode*, Buffer>;
Expr substitute(const Expr& root, const VarMap& values);
Stmt substitute(const Stmt& root, const VarMap& values, const BufferMap& buffers = {});

/// Equal up to renaming of variables and buffers bound inside.
bool structuralEqual(const Expr& a, const Expr& b);
bool structuralEqual(const PrimFunc& a, const PrimFunc& b);

/// Replaces exactly the statement object `target` inside `root`.
Stmt replaceStmt(const Stmt& root, const StmtNode* target, const Stmt& replacement);

} // namespace tenon::tir
