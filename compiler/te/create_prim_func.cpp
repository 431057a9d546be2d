// SPDX-License-Identifier: Apache-2.0
// From declared tensors to an unscheduled PrimFunc: one block per tensor under one root block.
#include "compiler/te/te.h"
#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace tenon::te {
namespace {

using tir::IterKind;
using tir::IterVar;

/// Dependency order (operands first) of everything the outputs need.
class Order
{
public:
    void visit(const TensorRef& tensor)
    {
        if (!m_seen.insert(tensor.get()).second) return;
        for (const TensorRef& input : tensor->inputs) visit(input);
        m_order.push_back(tensor);
    }
    const Tensors& order() const { return m_order; }

private:
    std::unordered_set<const TensorNode*> m_seen;
    Tensors m_order;
};

std::string uniqueName(std::string name, std::set<std::string>& taken)
{
    const std::string base = name;
    for (int n = 1; !taken.insert(name).second; ++n) name = base + "_" + std::to_string(n);
    return name;
}

Expr identityOf(Combiner combiner, DataType dtype)
{
    switch (combiner) {
    case Combiner::Sum: return tir::zeroOf(dtype);
    case Combiner::Product: return tir::oneOf(dtype);
    case Combiner::Min: return tir::highestOf(dtype);
    case Combiner::Max: return tir::lowestOf(dtype);
    case Combiner::All: return tir::intImm(1, kBool);
    case Combiner::Any: return tir::intImm(0, kBool);
    }
    return {};
}

Expr combined(Combiner combiner, Expr soFar, Expr next)
{
    switch (combiner) {
    case Combiner::Sum: return std::move(soFar) + std::move(next);
    case Combiner::Product: return std::move(soFar) * std::move(next);
    case Combiner::Min: return tir::minimum(std::move(soFar), std::move(next));
    case Combiner::Max: return tir::maximum(std::move(soFar), std::move(next));
    case Combiner::All: return std::move(soFar) && std::move(next);
    case Combiner::Any: return std::move(soFar) || std::move(next);
    }
    return {};
}

/// Loops around a block whose iteration variables are bound one to one to the loop variables.
class Nest
{
public:
    Expr axis(const Var& axis, const Expr& extent, IterKind kind)
    {
        const Var loop = tir::makeVar(axis->name);
        const Var inner = tir::makeVar("v_" + axis->name);
        m_loops.push_back({.var = loop, .extent = extent});
        m_iters.push_back({inner, extent, kind, Expr(loop)});
        m_values[axis.get()] = Expr(inner);
        return Expr(inner);
    }
    Expr inside(const Expr& expr) const { return tir::substitute(expr, m_values); }
    Stmt finish(std::string name, const TensorNode& tensor, Stmt init, Stmt body) const
    {
        Attrs annotations = tensor.attrs;
        if (!tensor.tag.empty()) annotations.set("tag", tensor.tag);
        Stmt out = tir::block({.name = std::move(name),
                               .iters = m_iters,
                               .predicate = {},
                               .allocs = {},
                               .annotations = std::move(annotations)},
                              std::move(init), std::move(body));
        for (auto loop = m_loops.rbegin(); loop != m_loops.rend(); ++loop)
            out = tir::forLoop(*loop, out);
        return out;
    }

private:
    std::vector<tir::Loop> m_loops;
    std::vector<IterVar> m_iters;
    tir::VarMap m_values;
};

Stmt blockOf(const TensorNode& tensor, const std::string& name)
{
    Nest nest;
    if (tensor.kind == TensorKind::Extern)
        return nest.finish(name, tensor, nullptr, tensor.statement);
    std::vector<Expr> indices;
    for (size_t i = 0; i < tensor.axes.size(); ++i)
        indices.push_back(nest.axis(tensor.axes[i], tensor.shape()[i], IterKind::Spatial));
    if (tensor.kind == TensorKind::Compute)
        return nest.finish(name, tensor, nullptr,
                           tir::store(tensor.buffer, indices, nest.inside(tensor.body)));
    for (const ReduceAxis& axis : tensor.reduce) nest.axis(axis.var, axis.extent, IterKind::Reduce);
    const Expr init =
        tensor.init.get() ? nest.inside(tensor.init) : identityOf(tensor.combiner, tensor.dtype());
    const Expr next =
        combined(tensor.combiner, tir::load(tensor.buffer, indices), nest.inside(tensor.body));
    return nest.finish(name, tensor, tir::store(tensor.buffer, indices, init),
                       tir::store(tensor.buffer, indices, next));
}

/// Tags that never decide the schedule of a kernel.
bool isInjectiveTag(const std::string& tag)
{
    return tag.empty() || tag == "pad" || tag == "elemwise" || tag == "injective";
}

/// Symbolic extents become size arguments, in order of first appearance in the parameters' shapes.
std::vector<Var> sizesOf(const std::vector<Buffer>& params)
{
    std::vector<Var> sizes;
    for (const Buffer& param : params)
        for (const Expr& extent : param->shape)
            tir::visitExprs(extent, [&](const Expr& expr) {
                if (expr->kind == tir::ExprKind::VarRef &&
                    std::find(sizes.begin(), sizes.end(), expr->var) == sizes.end())
                    sizes.push_back(expr->var);
                return true;
            });
    return sizes;
}

/// What an extern computation writes besides the outputs somebody asked for.
std::vector<Buffer> unwantedOutputs(const Stmt& statement, const tir::BufferMap& declared)
{
    std::unordered_set<const tir::BufferNode*> known;
    for (const auto& [buffer, renamed] : declared) known.insert(buffer);
    std::vector<Buffer> out;
    tir::visitStmts(statement, [&](const Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Allocate) known.insert(stmt->buffer.get());
        if (stmt->kind == tir::StmtKind::Store && known.insert(stmt->buffer.get()).second)
            out.push_back(stmt->buffer);
        return true;
    });
    return out;
}

/// Outputs that are inputs, or the same tensor twice, need a copy: every parameter is one buffer.
Tensors distinctOutputs(const Tensors& inputs, const Tensors& outputs)
{
    Tensors out;
    for (const TensorRef& tensor : outputs) {
        const bool isTaken = std::find(inputs.begin(), inputs.end(), tensor) != inputs.end() ||
                             std::find(out.begin(), out.end(), tensor) != out.end();
        out.push_back(!isTaken ? tensor
                               : compute("copy", tensor->shape(), [&](const std::vector<Expr>& i) {
                                     return at(tensor, i);
                                 }));
    }
    return out;
}

/// Tensors in dependency order, with the names and buffers that the function gives them.
struct Declared
{
    Tensors tensors;
    std::vector<std::string> names;
    tir::BufferMap renamed;
};

Declared declare(const Tensors& inputs, const Tensors& results)
{
    Order order;
    for (const TensorRef& tensor : inputs) order.visit(tensor);
    for (const TensorRef& tensor : results) order.visit(tensor);
    Declared declared{.tensors = order.order(), .names = {}, .renamed = {}};
    std::set<std::string> taken{"root"};
    for (const TensorRef& tensor : declared.tensors) {
        declared.names.push_back(uniqueName(tensor->name, taken));
        tir::BufferNode buffer = *tensor->buffer;
        buffer.name = declared.names.back();
        declared.renamed[tensor->buffer.get()] =
            std::make_shared<const tir::BufferNode>(std::move(buffer));
    }
    return declared;
}

/// The block that decides how the function is scheduled: the last that is not injective.
struct Anchor
{
    std::string block;
    std::string kind;
    void consider(const TensorNode& tensor, const std::string& name)
    {
        const bool decides = !isInjectiveTag(tensor.tag);
        if (!decides && !kind.empty() && kind != "injective") return;
        block = name;
        kind = decides ? tensor.tag : tensor.kind == TensorKind::Extern ? "extern" : "injective";
    }
};

struct Blocks
{
    std::vector<Buffer> allocs;
    std::vector<Stmt> blocks;
    Anchor anchor;
};

/// A block for every tensor that is computed, with the buffers that are no parameters.
Result<Blocks> blocksOf(Declared& declared, const Tensors& inputs, const Tensors& results)
{
    Blocks out;
    for (size_t i = 0; i < declared.tensors.size(); ++i) {
        const TensorRef& tensor = declared.tensors[i];
        const auto isIn = [&](const Tensors& list) {
            return std::find(list.begin(), list.end(), tensor) != list.end();
        };
        if (tensor->kind == TensorKind::Placeholder) {
            if (isIn(inputs)) continue;
            return makeError(DiagnosticCode::InvalidIr,
                             "tensor " + quoted(tensor->name) + " is read but is no input");
        }
        if (tensor->statement)
            for (const Buffer& buffer : unwantedOutputs(tensor->statement, declared.renamed)) {
                declared.renamed[buffer.get()] = buffer;
                out.allocs.push_back(buffer);
            }
        if (!isIn(results)) out.allocs.push_back(declared.renamed.at(tensor->buffer.get()));
        if (tensor->kind == TensorKind::Extern && !tensor->statement) continue;
        out.blocks.push_back(blockOf(*tensor, declared.names[i]));
        out.anchor.consider(*tensor, declared.names[i]);
    }
    return out;
}

} // namespace

Result<tir::PrimFunc> createPrimFunc(std::string name, const Tensors& inputs,
                                     const Tensors& outputs)
{
    const Tensors results = distinctOutputs(inputs, outputs);
    Declared declared = declare(inputs, results);
    Result<Blocks> blocks = blocksOf(declared, inputs, results);
    if (!blocks) return blocks.error();

    tir::PrimFunc function{.name = std::move(name), .outputCount = results.size()};
    for (const TensorRef& tensor : inputs)
        function.params.push_back(declared.renamed.at(tensor->buffer.get()));
    for (const TensorRef& tensor : results)
        function.params.push_back(declared.renamed.at(tensor->buffer.get()));
    function.sizes = sizesOf(function.params);
    function.attrs = {{"anchor", blocks->anchor.block}, {"kind", blocks->anchor.kind}};
    const Stmt body = tir::substitute(tir::seq(std::move(blocks->blocks)), {}, declared.renamed);
    function.body = tir::block({.name = "root",
                                .iters = {},
                                .predicate = {},
                                .allocs = std::move(blocks->allocs),
                                .annotations = {}},
                               nullptr, body);
    return function;
}

} // namespace tenon::te
