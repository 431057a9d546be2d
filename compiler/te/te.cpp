// SPDX-License-Identifier: Apache-2.0
// Declaring tensors: placeholders, element-wise computes, reductions and externs.
#include "compiler/te/te.h"

#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::te {
namespace {

/// Deleter of a declared tensor's buffer. It leads from a Load back to the declaration, so that
/// `inputs` need not be told twice; weak, because the declaration owns the buffer.
struct Declaration
{
    std::shared_ptr<std::weak_ptr<const TensorNode>> tensor;
    void operator()(const tir::BufferNode* buffer) const { delete buffer; }
};

Buffer declareBuffer(std::string name, std::vector<Expr> shape, DataType dtype)
{
    const auto* node =
        new tir::BufferNode{std::move(name), dtype, std::move(shape), tir::Scope::Global, 64, {}};
    return Buffer(node, Declaration{std::make_shared<std::weak_ptr<const TensorNode>>()});
}

TensorRef declare(TensorNode node)
{
    const Buffer buffer = node.buffer;
    auto tensor = std::make_shared<const TensorNode>(std::move(node));
    *std::get_deleter<Declaration>(buffer)->tensor = tensor;
    return tensor;
}

TensorRef declarationOf(const Buffer& buffer)
{
    const Declaration* declaration = std::get_deleter<Declaration>(buffer);
    CHECK(declaration) << buffer->name << " is no declared tensor";
    TensorRef tensor = declaration->tensor->lock();
    CHECK(tensor) << buffer->name << " was declared and dropped";
    return tensor;
}

Tensors tensorsRead(const Expr& body)
{
    Tensors inputs;
    tir::visitExprs(body, [&](const Expr& expr) {
        if (expr->kind != tir::ExprKind::Load) return true;
        const TensorRef tensor = declarationOf(expr->buffer);
        if (std::find(inputs.begin(), inputs.end(), tensor) == inputs.end())
            inputs.push_back(tensor);
        return true;
    });
    return inputs;
}

/// Takes the list `axis_names` (spatial, then reduction) out of `attrs`.
std::vector<std::string> axisNames(Attrs& attrs, size_t spatial, size_t reduction)
{
    std::vector<std::string> names = attrs.strings("axis_names", {});
    attrs.erase("axis_names");
    CHECK(names.empty() || names.size() == spatial + reduction) << "axis_names of another rank";
    if (!names.empty()) return names;
    for (size_t i = 0; i < spatial; ++i) names.push_back("i" + std::to_string(i));
    for (size_t i = 0; i < reduction; ++i) names.push_back("k" + std::to_string(i));
    return names;
}

std::vector<Expr> asExprs(const std::vector<Var>& vars) { return {vars.begin(), vars.end()}; }

} // namespace

TensorRef placeholder(std::string name, std::vector<Expr> shape, DataType dtype)
{
    Buffer buffer = declareBuffer(name, std::move(shape), dtype);
    return declare(
        {.kind = TensorKind::Placeholder, .name = std::move(name), .buffer = std::move(buffer)});
}

TensorRef compute(std::string name, std::vector<Expr> shape, const ElementFn& fn, std::string tag,
                  Attrs attrs)
{
    std::vector<Var> axes;
    for (const std::string& axis : axisNames(attrs, shape.size(), 0))
        axes.push_back(tir::makeVar(axis));
    Expr body = fn(asExprs(axes));
    Buffer buffer = declareBuffer(name, std::move(shape), body->dtype);
    Tensors inputs = tensorsRead(body);
    return declare({.kind = TensorKind::Compute,
                    .name = std::move(name),
                    .buffer = std::move(buffer),
                    .axes = std::move(axes),
                    .body = std::move(body),
                    .inputs = std::move(inputs),
                    .tag = std::move(tag),
                    .attrs = std::move(attrs)});
}

TensorRef reduce(std::string name, std::vector<Expr> shape, std::vector<Expr> reduceExtents,
                 Combiner combiner, const ReduceFn& fn, std::string tag, Attrs attrs, Expr init)
{
    const std::vector<std::string> names = axisNames(attrs, shape.size(), reduceExtents.size());
    std::vector<Var> axes;
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(tir::makeVar(names[i]));
    std::vector<ReduceAxis> reduced;
    std::vector<Expr> reducedVars;
    for (size_t i = 0; i < reduceExtents.size(); ++i) {
        reduced.push_back({tir::makeVar(names[shape.size() + i]), reduceExtents[i]});
        reducedVars.emplace_back(reduced.back().var);
    }
    Expr body = fn(asExprs(axes), reducedVars);
    CHECK(init.get() == nullptr || init->dtype == body->dtype) << "init of another dtype";
    Buffer buffer = declareBuffer(name, std::move(shape), body->dtype);
    Tensors inputs = tensorsRead(body);
    for (const TensorRef& tensor : tensorsRead(init))
        if (std::find(inputs.begin(), inputs.end(), tensor) == inputs.end())
            inputs.push_back(tensor);
    return declare({.kind = TensorKind::Reduce,
                    .name = std::move(name),
                    .buffer = std::move(buffer),
                    .axes = std::move(axes),
                    .reduce = std::move(reduced),
                    .combiner = combiner,
                    .init = std::move(init),
                    .body = std::move(body),
                    .inputs = std::move(inputs),
                    .tag = std::move(tag),
                    .attrs = std::move(attrs)});
}

Tensors external(
    std::string name, Tensors inputs, std::vector<std::pair<std::vector<Expr>, DataType>> outputs,
    const std::function<Stmt(const std::vector<Buffer>& in, const std::vector<Buffer>& out)>& fn)
{
    CHECK(!outputs.empty()) << name << " computes nothing";
    std::vector<Buffer> read;
    for (const TensorRef& tensor : inputs) read.push_back(tensor->buffer);
    std::vector<Buffer> written;
    for (size_t i = 0; i < outputs.size(); ++i)
        written.push_back(declareBuffer(i == 0 ? name : name + "_" + std::to_string(i),
                                        std::move(outputs[i].first), outputs[i].second));
    const Stmt statement = fn(read, written);

    // The first output carries the computation; the others only lead to it as their input.
    Tensors siblings;
    for (size_t i = 0; i < written.size(); ++i)
        siblings.push_back(declare({.kind = TensorKind::Extern,
                                    .name = written[i]->name,
                                    .buffer = written[i],
                                    .inputs = i == 0 ? inputs : Tensors{siblings[0]},
                                    .statement = i == 0 ? statement : nullptr}));
    return siblings;
}

Expr at(const TensorRef& tensor, std::vector<Expr> indices)
{
    CHECK(indices.size() == tensor->shape().size())
        << tensor->name << " has rank " << tensor->shape().size() << ", read with "
        << indices.size() << " indices";
    return tir::load(tensor->buffer, std::move(indices));
}

} // namespace tenon::te
