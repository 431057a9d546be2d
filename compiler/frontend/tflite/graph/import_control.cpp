// SPDX-License-Identifier: Apache-2.0
// IF, WHILE and CALL_ONCE, whose bodies are graphs of the file, and variables, whose values start
// anew with every run.
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/frontend/tflite/file/tensor_reader.h"
#include "compiler/frontend/tflite/graph/tflite_graph.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

bool needCondition(TfliteNode& node, const TensorType& type)
{
    const auto shape = constantShape(type.shape);
    if (type.dtype == kBool && shape && elementCount(*shape) == 1) return true;
    node.fail(DiagnosticCode::DtypeMismatch,
              "the condition is " + type.text() + " but must be one bool");
    return false;
}

ValueRef asScalar(TfliteNode& node, ValueRef value)
{
    if (node.hasFailed() || node.typeOf(value).shape.empty()) return value;
    return node.emit("reshape", {value}, {{"newshape", std::vector<int64_t>{}}});
}

std::vector<ValueRef> operandsFrom(TfliteNode& node, size_t first)
{
    std::vector<ValueRef> out;
    for (size_t i = first; i < node.file().inputs.size(); ++i) out.push_back(node.input(i));
    return out;
}

Types typesFrom(TfliteNode& node, size_t first)
{
    Types out;
    for (size_t i = first; i < node.file().inputs.size(); ++i) out.push_back(node.type(i));
    return out;
}

} // namespace

const TfliteGraph::GraphOperator* TfliteGraph::findGraphOperator(std::string_view op)
{
    static constexpr GraphOperator kOperators[] = {
        {"ASSIGN_VARIABLE", &TfliteGraph::importAssignVariable},
        {"CALL_ONCE", &TfliteGraph::importCallOnce},
        {"IF", &TfliteGraph::importIf},
        {"READ_VARIABLE", &TfliteGraph::importReadVariable},
        {"STABLEHLO_COMPOSITE", &TfliteGraph::importComposite},
        {"VAR_HANDLE", &TfliteGraph::importVarHandle},
        {"WHILE", &TfliteGraph::importWhile}};
    for (const GraphOperator& row : kOperators)
        if (row.op == op) return &row;
    return nullptr;
}

TfliteGraph::TfliteGraph(TfliteGraph& parent, const TfliteSubgraph& graph, const std::string& label)
    : GraphImport(parent, label)
    , m_model(parent.m_model)
    , m_graph(graph)
    , m_depth(parent.m_depth + 1)
{
    noteNames();
}

const TfliteSubgraph* TfliteGraph::bodyAt(TfliteNode& node, int64_t index, size_t inputs,
                                          size_t outputs)
{
    constexpr int kMostDeep = 16; // graphs may name one another in a circle
    const auto count = static_cast<int64_t>(m_model.subgraphs.size());
    if (index < 0 || index >= count || m_depth >= kMostDeep) {
        node.fail(DiagnosticCode::BadModel,
                  m_depth >= kMostDeep
                      ? "graphs are nested too deeply"
                      : "it names graph " + std::to_string(index) + " of " + std::to_string(count));
        return nullptr;
    }
    const TfliteSubgraph& graph = m_model.subgraphs[static_cast<size_t>(index)];
    if (graph.inputs.size() == inputs && graph.outputs.size() == outputs) return &graph;
    node.fail(DiagnosticCode::BadModel,
              "graph " + std::to_string(index) + " has " + std::to_string(graph.inputs.size()) +
                  " inputs and " + std::to_string(graph.outputs.size()) + " outputs but " +
                  std::to_string(inputs) + " and " + std::to_string(outputs) + " are needed");
    return nullptr;
}

void TfliteGraph::importBodyInputs(const Types& params, size_t first)
{
    for (size_t i = 0; i < m_graph.inputs.size(); ++i) {
        const std::string& name = m_graph.tensors[static_cast<size_t>(m_graph.inputs[i])].name;
        ImportedValue value{.name = name, .type = params[first + i], .isTyped = true};
        value.ref = {m_state.addParameter(name, value.type), 0};
        if (!m_state.define(std::move(value)))
            report(makeError(DiagnosticCode::BadModel,
                             "two inputs of the body are named " + quoted(name), {.detail = name}));
    }
}

std::optional<ImportedBody> TfliteGraph::importBody(const TfliteSubgraph& graph,
                                                    const Types& params, const std::string& label)
{
    TfliteGraph child(*this, graph, label);
    child.importConstants();
    child.importBodyInputs(params, 0);
    child.addSources();
    child.importNodes();
    ImportedBody body = child.takeBody(child.outputNames());
    return adopted(child, std::move(body));
}

/// A part of a model that was exported as one, with its name and its attributes: what it does is
/// said by a graph of its own.
void TfliteGraph::importComposite(TfliteNode& node)
{
    const TfliteSubgraph* graph =
        bodyAt(node, node.integer(1), node.file().inputs.size(), node.outputCount());
    const Types params = typesFrom(node, 0);
    if (node.hasFailed()) return;
    const std::vector<ValueRef> operands = operandsFrom(node, 0);
    if (node.hasFailed()) return;
    const auto body = importBody(*graph, params, m_state.sources[node.source().value].name);
    if (!body)
        return node.fail(DiagnosticCode::UnsupportedOperator, "what it does cannot be imported");
    takeInline(node, *body, operands, "its own graph says what it does");
}

void TfliteGraph::importIf(TfliteNode& node)
{
    const size_t args = node.file().inputs.empty() ? 0 : node.file().inputs.size() - 1;
    const TfliteSubgraph* graphs[] = {bodyAt(node, node.integer(0), args, node.outputCount()),
                                      bodyAt(node, node.integer(1), args, node.outputCount())};
    const TensorType condition = node.type(0);
    const Types params = typesFrom(node, 1);
    if (node.hasFailed() || !needCondition(node, condition)) return;
    const std::string name = m_state.sources[node.source().value].name;
    const auto bad = [&] {
        node.fail(DiagnosticCode::UnsupportedOperator, "a branch cannot be imported");
    };
    std::vector<ValueRef> operands = operandsFrom(node, 1);
    if (node.hasFailed()) return;
    if (const Tensor* known = node.constant(0)) {
        const bool isThen = known->integer(0) != 0;
        const auto body =
            importBody(*graphs[isThen ? 0 : 1], params, name + (isThen ? ".then" : ".else"));
        if (!body) return bad();
        return takeInline(node, *body, operands, "its condition is known at import");
    }
    const auto then = importBody(*graphs[0], params, name + ".then");
    const auto otherwise = importBody(*graphs[1], params, name + ".else");
    if (!then || !otherwise) return bad();
    Types types;
    for (size_t i = 0; i < node.outputCount(); ++i) {
        const TensorType& a = then->results[i].type;
        const TensorType& b = otherwise->results[i].type;
        if (a.dtype != b.dtype || a.shape != b.shape)
            return node.fail(DiagnosticCode::UnsupportedFeature, "the branches give " + a.text() +
                                                                     " and " + b.text() +
                                                                     "; they must agree");
        types.push_back(a);
    }
    operands.insert(operands.begin(), asScalar(node, node.input(0)));
    if (node.hasFailed()) return;
    const NodeId id =
        node.emitControl("if", operands, {}, {then->function, otherwise->function}, types);
    for (uint32_t i = 0; i < types.size(); ++i) node.output(i, {id, i});
}

/// One step: the values of the next step, and whether there is one.
std::optional<ImportedBody> TfliteGraph::importStep(const TfliteSubgraph& step,
                                                    const TfliteSubgraph& condition,
                                                    const Types& params, const std::string& label)
{
    constexpr const char* kGoesOn = "goes on";
    TfliteGraph child(*this, step, label);
    child.m_state.addParameter("step", params[0]);
    child.m_state.addParameter("condition", params[1]);
    child.importConstants();
    child.importBodyInputs(params, 2);
    child.addSources();
    child.importNodes();
    Types types;
    std::vector<ValueRef> values;
    for (const std::string& name : child.outputNames()) {
        ImportedValue* value = child.m_state.find(name);
        if (!value) continue;
        values.push_back(child.m_state.place(*value));
        types.push_back(value->type);
    }
    std::vector<std::string> results = child.outputNames();
    if (types.size() == results.size())
        if (const auto test = child.importBody(condition, types, label + ".condition")) {
            ImportedValue goesOn = child.inlineBody(*test, values).at(0);
            goesOn.name = kGoesOn;
            child.m_state.define(std::move(goesOn));
        }
    results.insert(results.begin(), kGoesOn);
    ImportedBody body = child.takeBody(results);
    return adopted(child, std::move(body));
}

void TfliteGraph::importWhile(TfliteNode& node)
{
    const size_t carried = node.file().inputs.size();
    const TfliteSubgraph* condition = bodyAt(node, node.integer(0), carried, 1);
    const TfliteSubgraph* step = bodyAt(node, node.integer(1), carried, carried);
    const Types arguments = typesFrom(node, 0);
    const std::vector<ValueRef> values = operandsFrom(node, 0);
    if (node.hasFailed() || node.outputCount() != carried) return;
    const std::string name = m_state.sources[node.source().value].name;
    const int64_t sizes = m_state.sizeCount();
    const auto first = importBody(*condition, arguments, name + ".condition");
    if (!first)
        return node.fail(DiagnosticCode::UnsupportedOperator, "the condition cannot be imported");
    if (!needCondition(node, first->results[0].type)) return;
    const ImportedValue begins = inlineBody(*first, values).at(0);
    Types params{{kInt64, {}}, {kBool, begins.type.shape}};
    params.insert(params.end(), arguments.begin(), arguments.end());
    const auto body = importLoopBody(
        node,
        [&](const Types& types) { return importStep(*step, *condition, types, name + ".body"); },
        params, 2, carried, 1);
    if (!body) return node.fail(DiagnosticCode::UnsupportedOperator, "the body cannot be imported");
    Types types;
    for (size_t i = 0; i < carried; ++i) types.push_back(typeOutside(params[2 + i], sizes));
    std::vector<ValueRef> operands{{}, begins.ref};
    operands.insert(operands.end(), values.begin(), values.end());
    const NodeId id = node.emitControl(
        "loop", operands, {{"carried", static_cast<int64_t>(carried)}}, {body->function}, types);
    for (uint32_t i = 0; i < types.size(); ++i) node.output(i, {id, i});
}

namespace {

std::string variableKey(const TfliteOperator& handle)
{
    return handle.options.string(0) + "/" + handle.options.string(1);
}

} // namespace

/// The file's initial values: a graph that assigns constants.
void TfliteGraph::importCallOnce(TfliteNode& node)
{
    const TfliteSubgraph* graph = bodyAt(node, node.integer(0), 0, 0);
    if (!graph) return;
    std::map<int64_t, std::string> handles;
    for (const TfliteOperator& op : graph->operators) {
        if (op.name == "VAR_HANDLE" && op.outputs.size() == 1) {
            handles[op.outputs[0]] = variableKey(op);
            continue;
        }
        const bool isAssignment = op.name == "ASSIGN_VARIABLE" && op.inputs.size() == 2 &&
                                  handles.contains(op.inputs[0]) && op.inputs[1] >= 0;
        const TfliteTensor* value =
            isAssignment ? &graph->tensors[static_cast<size_t>(op.inputs[1])] : nullptr;
        if (!value || value->buffer >= m_model.buffers.size() ||
            m_model.buffers[value->buffer].empty())
            return node.fail(DiagnosticCode::UnsupportedFeature,
                             "its graph does more than assign constants to variables");
        auto tensor = readTfliteTensor(m_model, *value);
        if (!tensor) return node.fail(tensor.error().code, tensor.error().message);
        const std::string& key = handles[op.inputs[0]];
        const std::string name = "initial value of " + key;
        m_state.define(constantValue(name, *std::move(tensor)));
        m_variables[key] = name;
    }
    m_state.foldReasons[node.source()] = "it gives variables their first values";
}

void TfliteGraph::importVarHandle(TfliteNode& node)
{
    if (m_depth > 0)
        return node.fail(DiagnosticCode::UnsupportedFeature,
                         "variables inside of a body are not supported");
    const std::string key = variableKey(node.file());
    if (const TfliteTensor* out = node.outputTensor(0)) m_handles[out->name] = key;
    node.outputConstant(0, Tensor::of<int32_t>(kInt32, {}, {0})); // stands for the handle
    node.notes().push_back(
        makeWarning(DiagnosticCode::UnsupportedFeature,
                    "the variable " + quoted(key) + " starts anew with every run; it is not kept"));
    m_state.foldReasons[node.source()] = "it names a variable";
}

void TfliteGraph::importReadVariable(TfliteNode& node)
{
    const TfliteTensor* handle = node.inputTensor(0);
    static_cast<void>(node.has(0));
    const auto key = handle ? m_handles.find(handle->name) : m_handles.end();
    if (key == m_handles.end())
        return node.fail(DiagnosticCode::BadModel, "it reads what is no variable");
    const auto held = m_variables.find(key->second);
    if (ImportedValue* value = held == m_variables.end() ? nullptr : m_state.find(held->second))
        return node.forward(0, *value, "the variable's value is known");
    const TfliteTensor* out = node.outputTensor(0);
    const auto type = out ? declaredType(node.file().outputs[0]) : std::nullopt;
    const auto shape = type ? constantShape(type->shape) : std::nullopt;
    constexpr int64_t kMost = int64_t{1} << 24;
    if (!shape || elementCount(*shape) > kMost)
        return node.fail(DiagnosticCode::BadModel, "the size of its variable is not known");
    const std::vector<int64_t>& zeros = out->quantization.zeros;
    const int64_t zero = zeros.empty() ? 0 : zeros[0];
    node.outputConstant(0, Tensor::make(type->dtype, *shape, [&](std::span<std::byte> bytes) {
                            const int64_t count = elementCount(*shape);
                            for (int64_t i = 0; zero != 0 && i < count; ++i)
                                storeInteger(type->dtype, bytes, i, zero);
                        }));
}

void TfliteGraph::importAssignVariable(TfliteNode& node)
{
    const TfliteTensor* handle = node.inputTensor(0);
    const TfliteTensor* value = node.inputTensor(1);
    static_cast<void>(node.has(0) && node.has(1));
    const auto key = handle ? m_handles.find(handle->name) : m_handles.end();
    if (key == m_handles.end() || !value)
        return node.fail(DiagnosticCode::BadModel, "it assigns to what is no variable");
    m_variables[key->second] = value->name;
    m_state.foldReasons[node.source()] = "it names a value for what reads the variable later";
}

} // namespace tenon::compiler
