// SPDX-License-Identifier: Apache-2.0
// If and Loop as nodes with bodies.
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "compiler/frontend/onnx/graph/squeezed_branch.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// True when the body hands its condition on unchanged, or says always.
bool keepsCondition(const Module& module, const GraphFunction& body)
{
    const ValueRef condition = body.results.at(0);
    if (condition.node == body.params.at(1)) return true;
    const NodeRecord& node = module.node(condition.node);
    return node.kind == NodeKind::Constant && node.constant->integer(0) != 0;
}

/// How many steps a loop runs whatever its data are; nothing when its condition may end it or only
/// the run knows the trip count.
std::optional<int64_t> stepsOf(const Module& module, const GraphFunction& body,
                               const OnnxNode& node)
{
    const Tensor* trips = node.constant(0);
    const Tensor* first = node.constant(1);
    const bool begins = !node.has(1) || (first && first->integer(0) != 0);
    if (!begins || (node.has(0) && !trips) || !keepsCondition(module, body)) return std::nullopt;
    return trips ? std::max<int64_t>(0, trips->integer(0)) : INT64_MAX;
}

/// Refuses what nobody waits for.
bool mayEnd(OnnxNode& node, const std::optional<int64_t>& steps)
{
    constexpr int64_t kMostSteps = int64_t{1} << 40;
    if (!steps || *steps <= kMostSteps) return true;
    node.fail(DiagnosticCode::BadModel,
              *steps == INT64_MAX
                  ? "the loop never ends: no step of it makes its condition false"
                  : "the loop would take " + std::to_string(*steps) + " steps, which is too many");
    return false;
}

/// Dimensions on which both branches agree stay.
std::optional<TensorType> joined(const TensorType& a, const TensorType& b, GraphState& state)
{
    if (a.dtype != b.dtype || a.shape.size() != b.shape.size()) return std::nullopt;
    TensorType out = a;
    for (size_t i = 0; i < out.shape.size(); ++i)
        if (!(a.shape[i] == b.shape[i])) out.shape[i] = Dim::symbol(state.newSize());
    return out;
}

bool needScalar(OnnxNode& node, size_t input, DataType dtype, const char* what)
{
    if (!node.has(input)) return true;
    const TensorType& type = node.type(input);
    const auto shape = constantShape(type.shape);
    if (type.dtype == dtype && shape && elementCount(*shape) == 1) return true;
    node.fail(DiagnosticCode::DtypeMismatch,
              std::string(what) + " is " + type.text() + " but must be one " + dtype.text());
    return false;
}

} // namespace

const OnnxGraph::GraphOperator* OnnxGraph::findGraphOperator(const std::string& key, int64_t opset)
{
    static constexpr GraphOperator kOperators[] = {
#define GRAPH_OPERATOR(op, since, function, becomes) {op, since, &OnnxGraph::function},
#include "compiler/frontend/onnx/graph/graph_operators.def"
#undef GRAPH_OPERATOR
    };
    const GraphOperator* found = nullptr;
    for (const GraphOperator& row : kOperators)
        if (row.op == key && row.sinceVersion <= opset) found = &row;
    return found;
}

void OnnxGraph::importByGraph(const GraphOperator& op, OnnxNode& node)
{
    for (size_t i = 0; i < node.inputCount(); ++i)
        if (const NarrowType* narrow = node.narrowType(i))
            node.fail(DiagnosticCode::UnsupportedDtype,
                      "computing with " + std::string(narrow->name) +
                          " is not supported; cast to a wider type first");
    refuseStacked(node);
    if (!node.hasFailed() && importCollecting(node)) return;
    if (!node.hasFailed()) (this->*op.import)(node);
    if (!node.hasFailed())
        m_state.foldReasons.try_emplace(node.source(), "it works on lists known at import");
    settleOrShow(node);
}

bool OnnxGraph::refusesSequences(OnnxNode& node) const
{
    const std::string name = node.firstSequence();
    if (name.empty()) return false;
    node.fail(DiagnosticCode::UnsupportedFeature,
              "input " + quoted(name) +
                  " is a sequence, which cannot be carried from step to step; export with tensors "
                  "that the steps collect");
    return true;
}

void OnnxGraph::importIf(OnnxNode& node)
{
    const Branches graphs{node.graphAttr("then_branch"), node.graphAttr("else_branch")};
    if (node.hasFailed() || !needScalar(node, 0, kBool, "the condition")) return;
    for (const tenon_onnx::GraphProto* graph : graphs)
        if (graph->input_size() != 0 ||
            graph->output_size() != static_cast<int>(node.outputCount()))
            return node.fail(DiagnosticCode::BadModel, "a branch must have no inputs and " +
                                                           std::to_string(node.outputCount()) +
                                                           " outputs");
    const Tensor* condition = node.constant(0);
    if (!condition) return importOpenIf(node, graphs);
    const size_t taken = condition->integer(0) != 0 ? 0 : 1;
    const auto body = importBranch(node, graphs, taken);
    if (body) takeInline(node, *body, {}, "its condition is known at import");
}

std::optional<OnnxGraph::Body> OnnxGraph::importBranch(OnnxNode& node, const Branches& graphs,
                                                       size_t which)
{
    const std::string& name = m_state.sources[node.source().value].name;
    auto body = importBody(*graphs[which], {}, name + (which == 0 ? ".then" : ".else"));
    if (!body) node.fail(DiagnosticCode::UnsupportedOperator, "a branch cannot be imported");
    return body;
}

void OnnxGraph::importOpenIf(OnnxNode& node, const Branches& graphs)
{
    const int64_t sizes = m_state.sizeCount();
    auto then = importBranch(node, graphs, 0);
    const ImportMark mark = this->mark();
    auto otherwise = importBranch(node, graphs, 1);
    if (!then || !otherwise) return;
    Types types;
    for (size_t i = 0; i < node.outputCount(); ++i) {
        const TensorType& a = then->results[i].type;
        const TensorType& b = otherwise->results[i].type;
        const auto type = joined(a, b, m_state);
        if (!type && a.shape.size() < b.shape.size() && isSqueezed(node, *then)) {
            takeBack(otherwise->function, mark);
            return takeInline(node, *then, {}, "it removes an axis that must be 1");
        }
        if (!type)
            return node.fail(DiagnosticCode::UnsupportedFeature,
                             "the branches give " + a.text() + " and " + b.text() +
                                 "; types and ranks must agree");
        types.push_back(typeOutside(*type, sizes));
    }
    unifyCaptures(*then, *otherwise);
    std::vector<ValueRef> operands{node.input(0)};
    const std::vector<ValueRef> captured = capturedOperands(*then);
    operands.insert(operands.end(), captured.begin(), captured.end());
    const NodeId id =
        node.emitControl("if", operands, {}, {then->function, otherwise->function}, types);
    for (uint32_t i = 0; i < types.size(); ++i) node.output(i, {id, i});
}

bool OnnxGraph::isSqueezed(OnnxNode& node, const Body& then)
{
    const auto size = sizeComparedToOne(m_state.module, node.input(0));
    if (!size || !removesAxis(m_state.module, then.function, *size)) return false;
    node.notes().push_back(
        makeWarning(DiagnosticCode::DynamicShape,
                    "the results have other ranks where " + quoted(size->text()) +
                        " is 1 than where it is not; it is taken as 1, and every run checks that"));
    return true;
}

void OnnxGraph::importLoop(OnnxNode& node)
{
    const tenon_onnx::GraphProto* graph = node.graphAttr("body");
    const auto carried = static_cast<size_t>(std::max(0, node.proto().input_size() - 2));
    if (node.hasFailed() || !needScalar(node, 0, kInt64, "the trip count") ||
        !needScalar(node, 1, kBool, "the condition"))
        return;
    const bool fits = graph->input_size() == static_cast<int>(2 + carried) &&
                      graph->output_size() == static_cast<int>(1 + node.outputCount()) &&
                      node.outputCount() >= carried;
    if (!fits)
        return node.fail(DiagnosticCode::BadModel,
                         "the body has " + std::to_string(graph->input_size()) + " inputs and " +
                             std::to_string(graph->output_size()) + " outputs, which do not fit " +
                             std::to_string(carried) + " carried values and " +
                             std::to_string(node.outputCount()) + " outputs");
    if (!node.firstSequence().empty()) return unrollLoop(node, *graph);
    const int64_t sizes = m_state.sizeCount();
    Types params{{kInt64, {}}, {kBool, {}}};
    std::vector<ValueRef> operands{node.optionalInput(0), node.optionalInput(1)};
    for (size_t i = 0; i < carried; ++i) {
        params.push_back(node.type(2 + i));
        operands.push_back(node.input(2 + i));
    }
    if (node.hasFailed()) return;
    const auto body = importLoopBody(node, *graph, params, 2, carried, 1);
    if (!body) return node.fail(DiagnosticCode::UnsupportedOperator, "the body cannot be imported");
    if (!(body->results[0].type.dtype == kBool))
        return node.fail(DiagnosticCode::DtypeMismatch,
                         "the body's condition is " + body->results[0].type.text());
    const auto steps = stepsOf(m_state.module, m_state.module.function(body->function), node);
    if (!mayEnd(node, steps)) return;
    const Dim count = steps ? Dim(*steps) : Dim::symbol(m_state.newSize());
    Types types;
    for (size_t i = 0; i < node.outputCount(); ++i) {
        TensorType type = i < carried ? params[2 + i] : body->results[1 + i].type;
        type = typeOutside(type, sizes);
        if (i >= carried) type.shape.insert(type.shape.begin(), count);
        types.push_back(std::move(type));
    }
    const std::vector<ValueRef> captured = capturedOperands(*body);
    operands.insert(operands.end(), captured.begin(), captured.end());
    const NodeId id = node.emitControl(
        "loop", operands, {{"carried", static_cast<int64_t>(carried)}}, {body->function}, types);
    for (uint32_t i = 0; i < types.size(); ++i) node.output(i, {id, i});
}

} // namespace tenon::compiler
