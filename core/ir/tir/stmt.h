// SPDX-License-Identifier: Apache-2.0
// Statements, buffers and functions of the loop IR: immutable shared trees in the manner of TVM's
// schedulable TIR.
#pragma once

#include "core/ir/attr.h"
#include "core/ir/tir/expr.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::tir {

/// Where a buffer lives. Register: constant indices after unrolling, promoted to machine registers.
enum class Scope : uint8_t
{
    Global,
    Local,
    Register,
    Shared
};
const char* scopeText(Scope scope);

/// Row-major dense storage; identity is the object.
struct BufferNode
{
    std::string name;
    DataType dtype;
    std::vector<Expr> shape;
    Scope scope = Scope::Global;
    int alignment = 64;        ///< bytes
    std::vector<Expr> strides; ///< empty: compact; set by storage_align
};
Buffer makeBuffer(std::string name, std::vector<Expr> shape, DataType dtype,
                  Scope scope = Scope::Global);

enum class StmtKind : uint8_t
{
    Seq,      ///< `stmts` in order
    For,      ///< `loop`
    Block,    ///< `block`
    Store,    ///< `buffer`[indices] = value
    If,       ///< condition, body, orElse (may be null)
    While,    ///< condition, body
    Let,      ///< var = value, body
    Allocate, ///< `buffer` lives during body (lowered form of Block::allocs)
    Evaluate, ///< value for its effect
};

enum class LoopKind : uint8_t
{
    Serial,
    Parallel,
    Vectorized,
    Unrolled,
    Thread
};
const char* loopKindText(LoopKind kind);

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

struct Loop
{
    Var var;
    Expr min = 0;
    Expr extent;
    LoopKind kind = LoopKind::Serial;
    std::string threadTag; ///< Thread: "blockIdx.x", ...
};

enum class IterKind : uint8_t
{
    Spatial,
    Reduce
};

/// A block's iteration variable: runs over [0, extent), bound to an expression of the loop
/// variables around it.
struct IterVar
{
    Var var;
    Expr extent;
    IterKind kind = IterKind::Spatial;
    Expr binding;
};

/// The unit of scheduling: computes its writes for one point of its iteration domain.
/// `init` runs before the first reduction step of each spatial point. Reads and writes are derived
/// (analysis.h).
struct Block
{
    std::string name;
    std::vector<IterVar> iters;
    Expr predicate;             ///< null: always
    std::vector<Buffer> allocs; ///< buffers that live inside
    Attrs annotations;
};

struct StmtNode
{
    StmtKind kind;
    std::vector<Stmt> stmts;   ///< Seq
    Loop loop;                 ///< For
    Block block;               ///< Block
    Stmt init;                 ///< Block; may be null
    Stmt body;                 ///< For, Block, If, While, Let, Allocate
    Stmt orElse;               ///< If
    Buffer buffer;             ///< Store, Allocate
    std::vector<Expr> indices; ///< Store
    Expr value;                ///< Store, Let, Evaluate
    Expr condition;            ///< If, While
    Var var;                   ///< Let
};

Stmt seq(std::vector<Stmt> stmts); ///< flattens nested Seqs; one statement stays itself
Stmt forLoop(Loop loop, Stmt body);
Stmt block(Block block, Stmt init, Stmt body);
Stmt store(const Buffer& buffer, std::vector<Expr> indices, Expr value);
Stmt ifThen(Expr condition, Stmt then, Stmt orElse = nullptr);
Stmt whileLoop(Expr condition, Stmt body);
Stmt let(Var var, Expr value, Stmt body);
Stmt allocate(const Buffer& buffer, Stmt body);
Stmt evaluate(Expr value);

/// A kernel: parameters are buffers (inputs, then outputs); `sizes` are extra int64 arguments for
/// symbolic extents. `body` is a root Block named "root" before lowering.
struct PrimFunc
{
    std::string name;
    std::vector<Buffer> params;
    std::vector<Var> sizes;
    size_t outputCount = 1; ///< the last outputCount params are written
    Attrs attrs;            ///< e.g. kind="conv2d" (which schedule rule), anchor block name
    Stmt body;
};

} // namespace tenon::tir
