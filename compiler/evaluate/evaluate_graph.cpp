// SPDX-License-Identifier: Apache-2.0
// Walks a graph in order and evaluates node by node; values die with their last reader.
#include "compiler/evaluate/evaluate_graph.h"

#include "compiler/evaluate/evaluate.h"
#include "compiler/ops/ops.h"
#include "core/base/text.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace tenon::compiler {
namespace {

Diagnostic atNode(Diagnostic error, const NodeRecord& node)
{
    if (error.location.node.empty()) error.location.node = node.name;
    if (error.location.op.empty()) error.location.op = node.op;
    return error;
}

/// The values of all steps along a new first axis; `type` tells the shape when there was no step.
Result<Tensor> stacked(const std::vector<Tensor>& steps, const TensorType& type)
{
    std::vector<int64_t> shape;
    if (!steps.empty()) shape = steps[0].shape();
    for (size_t i = 1; i < type.shape.size() && steps.empty(); ++i)
        shape.push_back(type.shape[i].constant().value_or(0));
    for (const Tensor& step : steps)
        if (step.shape() != shape)
            return makeError(DiagnosticCode::ShapeMismatch,
                             "the steps of a loop collect values of different shapes");
    shape.insert(shape.begin(), static_cast<int64_t>(steps.size()));
    return Tensor::make(type.dtype, shape, [&](std::span<std::byte> out) {
        for (const Tensor& step : steps) {
            const auto bytes = step.bytes();
            std::copy(bytes.begin(), bytes.end(), out.begin());
            out = out.subspan(bytes.size());
        }
    });
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
        if (node.kind == NodeKind::Op && node.op == "if") return evaluateIf(node, inputs);
        if (node.kind == NodeKind::Op && node.op == "loop") return evaluateLoop(node, inputs);
        for (const TensorType& type : node.types)
            if (!constantShape(type.shape))
                return makeError(DiagnosticCode::DynamicShape,
                                 "a result is " + type.text() +
                                     ", whose size is known at run time only; it cannot be "
                                     "evaluated without compiling");
        if (node.kind == NodeKind::Op) return evaluateNode(m_module, node, inputs, m_job);
        if (node.kind == NodeKind::Call) return call(m_module.function(node.callee), inputs);
        if (node.kernel == kNopKernel) {
            const auto shape = constantShape(node.types.at(0).shape);
            CHECK(shape && inputs.size() == 1) << "an alias needs one operand and a known shape";
            return std::vector<Tensor>{inputs[0].reshaped(*shape)};
        }
        return evaluate(*m_module.kernels().at(node.kernel), inputs, m_job);
    }

    Result<std::vector<Tensor>> evaluateIf(const NodeRecord& node, std::vector<Tensor> inputs)
    {
        const bool isThen = inputs.at(0).integer(0) != 0;
        inputs.erase(inputs.begin());
        return call(m_module.function(node.bodies.at(isThen ? 0 : 1)), std::move(inputs));
    }

    /// Operands are the count, the condition (each may be absent), what is carried from step to
    /// step and what every step reads; results are what is carried and what each step collects.
    Result<std::vector<Tensor>> evaluateLoop(const NodeRecord& node, std::vector<Tensor> inputs)
    {
        const GraphFunction& body = m_module.function(node.bodies.at(0));
        const auto carried = static_cast<size_t>(node.attrs.integer("carried", 0));
        const int64_t count =
            inputs.at(0).isNull() ? std::numeric_limits<int64_t>::max() : inputs[0].integer(0);
        bool goesOn = inputs.at(1).isNull() || inputs[1].integer(0) != 0;
        std::vector<Tensor> state(inputs.begin() + 2, inputs.end());
        std::vector<std::vector<Tensor>> collected(node.types.size() - carried);
        for (int64_t step = 0; step < count && goesOn; ++step) {
            std::vector<Tensor> arguments{Tensor::of<int64_t>(kInt64, {}, {step}),
                                          Tensor::of<uint8_t>(kBool, {}, {1})};
            arguments.insert(arguments.end(), state.begin(), state.end());
            Result<std::vector<Tensor>> results = call(body, std::move(arguments));
            if (!results) return results;
            goesOn = results->at(0).integer(0) != 0;
            for (size_t i = 0; i < carried; ++i) state[i] = std::move((*results)[1 + i]);
            for (size_t i = 0; i < collected.size(); ++i)
                collected[i].push_back(std::move((*results)[1 + carried + i]));
        }
        state.resize(carried);
        for (size_t i = 0; i < collected.size(); ++i) {
            Result<Tensor> all = stacked(collected[i], node.types[carried + i]);
            if (!all) return all.error();
            state.push_back(std::move(*all));
        }
        return state;
    }

    const Module& m_module;
    const JobContext& m_job;
};

} // namespace

bool dividesByZero(const NodeRecord& node, const std::vector<Tensor>& inputs)
{
    if (!factsOf(node).divides) return false;
    const Tensor& divisor = inputs.at(1);
    bool found = false;
    for (int64_t i = 0; divisor.dtype().isInt() && !found && i < divisor.size(); ++i)
        found = divisor.integer(i) == 0;
    return found;
}

Result<std::vector<Tensor>> evaluateNode(const Module&, const NodeRecord& node,
                                         const std::vector<Tensor>& inputs, const JobContext& job)
{
    const OpDef* op = findOp(node.op);
    if (!op || !op->lower)
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "operator " + quoted(node.op) + " cannot be evaluated");
    if (dividesByZero(node, inputs))
        return makeError(DiagnosticCode::BadModel, "integer division by zero", {.node = node.name});
    // A reshape moves nothing; weights are reshaped often.
    if (isOp(node, reshapeOp) && !node.types.empty())
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
    const bool inOrder = true; // of sums, as the operator is defined
    const Result<te::Tensors> out = op->lower({node.op, node.attrs, types, results, inOrder}, in);
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
