// SPDX-License-Identifier: Apache-2.0
// Tensor expressions: what an operator computes, as compute declarations without any order of
// execution.
#pragma once

#include "core/ir/tir/stmt.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::te {

using namespace core;
using tir::Buffer;
using tir::Expr;
using tir::Stmt;
using tir::Var;

enum class Combiner : uint8_t
{
    Sum,
    Product,
    Min,
    Max,
    All,
    Any
};

struct ReduceAxis
{
    Var var;
    Expr extent;
};

struct TensorNode;
using TensorRef = std::shared_ptr<const TensorNode>;
using Tensors = std::vector<TensorRef>;

enum class TensorKind : uint8_t
{
    Placeholder,
    Compute,
    Reduce,
    Extern
};

/// A declared tensor. Reading it inside another declaration is a tir Load of its `buffer`.
struct TensorNode
{
    TensorKind kind;
    std::string name;
    Buffer buffer;                  ///< shape, dtype, identity
    std::vector<Var> axes;          ///< Compute, Reduce: one per dimension
    std::vector<ReduceAxis> reduce; ///< Reduce
    Combiner combiner = Combiner::Sum;
    Expr init;      ///< Reduce: value before the first step; null: the combiner's identity
    Expr body;      ///< value of one element / one reduction step; in the buffer's dtype
    Tensors inputs; ///< every tensor read, in first-use order
    Stmt statement; ///< Extern: the whole computation (While allowed); only its first output has it
    std::string tag; ///< schedule rule hint of the operator that made it, e.g. "conv2d_nchwc"
    Attrs attrs;     ///< facts for schedule rules (strides, groups, ...)

    const std::vector<Expr>& shape() const { return buffer->shape; }
    DataType dtype() const { return buffer->dtype; }
};

using ElementFn = std::function<Expr(const std::vector<Expr>& axes)>;
using ReduceFn =
    std::function<Expr(const std::vector<Expr>& axes, const std::vector<Expr>& reduceAxes)>;

TensorRef placeholder(std::string name, std::vector<Expr> shape, DataType dtype);
/// out[axes] = fn(axes). Here and below the string list `axis_names` in `attrs` names the axes
/// (spatial, then reduction) and is not kept.
TensorRef compute(std::string name, std::vector<Expr> shape, const ElementFn& fn,
                  std::string tag = {}, Attrs attrs = {});
/// out[axes] = combine over reduceAxes of fn(axes, reduceAxes), accumulated in `fn`'s dtype
/// starting from `init`.
TensorRef reduce(std::string name, std::vector<Expr> shape, std::vector<Expr> reduceExtents,
                 Combiner combiner, const ReduceFn& fn, std::string tag = {}, Attrs attrs = {},
                 Expr init = {});
/// A computation that is no simple loop nest, written as statements over the given buffers.
Tensors external(
    std::string name, Tensors inputs, std::vector<std::pair<std::vector<Expr>, DataType>> outputs,
    const std::function<Stmt(const std::vector<Buffer>& in, const std::vector<Buffer>& out)>& fn);
/// Element of `tensor` at `indices`.
Expr at(const TensorRef& tensor, std::vector<Expr> indices);

/// One root block holding one block per declared tensor in dependency order (names made unique);
/// params = inputs then outputs. `attrs` of the function: anchor = name of the last tagged block,
/// kind = its tag.
Result<tir::PrimFunc> createPrimFunc(std::string name, const Tensors& inputs,
                                     const Tensors& outputs);

} // namespace tenon::te
