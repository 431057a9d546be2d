// SPDX-License-Identifier: Apache-2.0
// Walks a graph in order and evaluates node by node; values die with their last reader.
#include "compiler/te/evaluate_graph.h"

#include "compiler/ops/op.h"
#include "compiler/te/evaluate.h"
#include "core/base/text.h"

#include <unordered_map>

namespace tenon::compiler {
namespace {

Diagnostic atNode(Diagnostic error, const NodeRecord& node)
{
    if (error.location.node.empty()) error.location.node = node.name;
    if (error.location.op.empty()) error.location.op = node.op;
    return error;
}

class GraphEvaluator
{
public:
    GraphEvaluator(const Module& module, const JobContext& job)
        : m_module(module)
        , m_job(job)
    {
    }

    Result<std::vector<Tensor>> call(const GraphFunction& function, std::vector<Tensor> arguments)
    {
        std::unordered_map<ValueRef, Tensor> values;
        std::unordered_map<NodeId, size_t> lastUse;
        for (size_t i = 0; i < function.params.size(); ++i)
            values[{function.params[i], 0}] = std::move(arguments[i]);
        for (size_t i = 0; i < function.order.size(); ++i)
            for (const ValueRef& operand : m_module.node(function.order[i]).operands)
                lastUse[operand.node] = i;
        for (const ValueRef& result : function.results)
            lastUse[result.node] = function.order.size();

        for (size_t i = 0; i < function.order.size(); ++i) {
            if (const Status go = m_job.checkStop(); !go) return go.error();
            const NodeRecord& node = m_module.node(function.order[i]);
            Result<std::vector<Tensor>> results = evaluateOne(node, values);
            if (!results) return atNode(results.error(), node);
            for (size_t k = 0; k < results->size(); ++k)
                values[{node.id, static_cast<uint32_t>(k)}] = std::move((*results)[k]);
            for (const ValueRef& operand : node.operands)
                if (lastUse[operand.node] == i) values.erase(operand);
        }
        std::vector<Tensor> out;
        for (const ValueRef& result : function.results) out.push_back(values.at(result));
        return out;
    }

private:
    Result<std::vector<Tensor>> evaluateOne(const NodeRecord& node,
                                            const std::unordered_map<ValueRef, Tensor>& values)
    {
        if (node.kind == NodeKind::Constant) return std::vector<Tensor>{*node.constant};
        std::vector<Tensor> inputs;
        for (const ValueRef& operand : node.operands)
            inputs.push_back(operand.node.isValid() ? values.at(operand) : Tensor());
        if (node.kind == NodeKind::Op) return evaluateNode(m_module, node, inputs, m_job);
        if (node.kind == NodeKind::Call) return call(m_module.function(node.callee), inputs);
        if (node.kernel == kNopKernel) {
            const auto shape = constantShape(node.types.at(0).shape);
            CHECK(shape && inputs.size() == 1) << "an alias needs one operand and a known shape";
            return std::vector<Tensor>{inputs[0].reshaped(*shape)};
        }
        return evaluate(*m_module.kernels().at(node.kernel), inputs, m_job);
    }

    const Module& m_module;
    const JobContext& m_job;
};

} // namespace

Result<std::vector<Tensor>> evaluateNode(const Module&, const NodeRecord& node,
                                         const std::vector<Tensor>& inputs, const JobContext& job)
{
    const OpDef* op = findOp(node.op);
    if (!op || !op->lower)
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "operator " + quoted(node.op) + " cannot be evaluated");
    // A reshape moves nothing; weights are reshaped often.
    if (node.op == "reshape" && !node.types.empty())
        if (const auto shape = constantShape(node.types[0].shape))
            return std::vector<Tensor>{inputs.at(0).reshaped(*shape)};

    te::Tensors in;
    te::Tensors placeholders;
    Types types;
    std::vector<Tensor> present;
    for (const Tensor& input : inputs) {
        types.push_back(input.isNull() ? TensorType{kHandle, {}}
                                       : TensorType{input.dtype(), makeShape(input.shape())});
        in.push_back(nullptr);
        if (input.isNull()) continue;
        std::vector<tir::Expr> shape;
        for (const int64_t dim : input.shape()) shape.emplace_back(dim);
        in.back() = te::placeholder("p" + std::to_string(placeholders.size()), std::move(shape),
                                    input.dtype());
        placeholders.push_back(in.back());
        present.push_back(input);
    }
    Types results = node.types;
    if (results.empty()) {
        Result<Types> inferred = op->infer({node.op, node.attrs, types, {}});
        if (!inferred) return inferred.error();
        results = std::move(*inferred);
    }
    const Result<te::Tensors> out = op->lower({node.op, node.attrs, types, results}, in);
    if (!out) return out.error();
    const Result<tir::PrimFunc> function = te::createPrimFunc("main", placeholders, *out);
    if (!function) return function.error();
    return evaluate(*function, present, job);
}

Result<std::vector<Tensor>> evaluateGraph(const Module& module,
                                          const std::map<std::string, Tensor>& inputs,
                                          const JobContext& job)
{
    std::vector<Tensor> arguments;
    for (const NodeId id : module.main().params) {
        const NodeRecord& param = module.node(id);
        Location location;
        location.node = param.name;
        const auto found = inputs.find(param.name);
        if (found == inputs.end())
            return makeError(DiagnosticCode::BadArgument,
                             "no value for input " + quoted(param.name), location);
        const TensorType type{found->second.dtype(), makeShape(found->second.shape())};
        if (!(type == param.types.at(0)))
            return makeError(DiagnosticCode::ShapeMismatch,
                             "input " + quoted(param.name) + " is " + param.types[0].text() +
                                 " but the value is " + type.text(),
                             location);
        arguments.push_back(found->second);
    }
    return GraphEvaluator(module, job).call(module.main(), std::move(arguments));
}

} // namespace tenon::compiler
