// SPDX-License-Identifier: Apache-2.0
// Loops that carry sequences, of which executors have none: steps are imported one after the other,
// or what they append is collected.
#include "compiler/frontend/onnx/graph/collecting_loop.h"
#include "compiler/frontend/onnx/graph/onnx_graph.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

constexpr int64_t kMostSteps = 1024;
constexpr int64_t kMostNodes = 1 << 14; ///< of all steps

std::string unknownLength(const OnnxNode& node)
{
    return "input " + quoted(node.firstSequence()) +
           " is a sequence, which can be carried from step to step only where it is known at "
           "import how many steps there are; export with tensors that the steps collect";
}

/// Positions of carried sequences that start empty; nothing where there are others, too.
std::optional<std::vector<int>> emptySequences(const OnnxNode& node)
{
    std::vector<int> out;
    for (size_t i = 2; i < node.inputCount(); ++i) {
        if (!node.elements(i)) continue;
        if (!node.elements(i)->empty()) return std::nullopt;
        out.push_back(static_cast<int>(i) - 2);
    }
    if (out.empty()) return std::nullopt;
    return out;
}

bool isShort(const OnnxNode& node)
{
    const Tensor *trips = node.constant(0), *first = node.constant(1);
    return trips && (first || !node.has(1)) && trips->size() == 1 &&
           trips->integer(0) <= kMostSteps;
}

} // namespace

void OnnxGraph::refuseStacked(OnnxNode& node)
{
    const std::string& op = node.op();
    for (size_t i = 0; i < node.inputCount(); ++i)
        if (node.isStacked(i) && op != "ConcatFromSequence" && op != "SequenceLength")
            node.fail(DiagnosticCode::UnsupportedFeature,
                      "input " + quoted(node.firstSequence()) +
                          " is a sequence that a loop made, of which only the run knows how many "
                          "tensors it has; it can be joined, but not taken apart");
}

bool OnnxGraph::importCollecting(OnnxNode& node)
{
    if (node.op() != "Loop" || isShort(node)) return false;
    const auto sequences = emptySequences(node);
    const auto made = sequences ? collectingLoop(node.proto(), *sequences) : std::nullopt;
    if (!made) return false;
    OnnxNode loop(m_state, made->loop, node.source(), node.opset(), m_storage);
    importLoop(loop);
    if (!settle(loop)) {
        importOpaque(node.proto(), node.source());
        return true;
    }
    for (const std::string& name : made->sequences)
        if (!name.empty() && !m_state.define({.name = name,
                                              .type = untypedValue(),
                                              .isTyped = true,
                                              .elements = {{stackedName(name)}},
                                              .isStacked = true}))
            report(makeError(DiagnosticCode::BadModel, "the name " + quoted(name) +
                                                           " is defined twice; names must be "
                                                           "unique in a graph"),
                   node.source());
    return true;
}

OnnxGraph::StepValue OnnxGraph::stepValueOf(const std::string& name)
{
    ImportedValue& value = *m_state.find(name);
    StepValue out{value, {}};
    if (value.elements)
        for (const std::string& element : *value.elements)
            out.elements.push_back(*m_state.find(element));
    return out;
}

void OnnxGraph::bindStepValue(const std::string& name, const StepValue& given,
                              std::vector<ValueRef>& arguments)
{
    const auto define = [&](const std::string& as, ImportedValue value) {
        value.name = as;
        if (!value.elements && value.ref.node.isValid()) {
            arguments.push_back(value.ref);
            value.ref = {m_state.addParameter(as, value.type), 0};
        }
        if (!m_state.define(std::move(value)))
            report(makeError(DiagnosticCode::BadModel,
                             "two inputs of the body are named " + quoted(as), {.detail = as}));
    };
    ImportedValue value = given.value;
    if (value.elements) value.elements->clear();
    for (size_t i = 0; value.elements && i < given.elements.size(); ++i) {
        value.elements->push_back(name + "[" + std::to_string(i) + "]");
        define(value.elements->back(), given.elements[i]);
    }
    define(name, std::move(value));
}

OnnxGraph::Body OnnxGraph::takeStep(std::vector<StepValue>& results)
{
    Body body{.function = m_state.function.id, .captures = {}, .results = {}};
    for (const std::string& name : outputNames()) {
        if (!m_state.find(name)) {
            report(makeError(DiagnosticCode::BadModel,
                             "the output " + quoted(name) + " of the body has no value",
                             {.detail = name}));
            continue;
        }
        results.push_back(stepValueOf(name));
        for (const ImportedValue& element : results.back().elements)
            body.results.push_back(element);
        body.results.push_back(results.back().value);
    }
    for (const ImportedValue& result : body.results)
        if (result.ref.node.isValid()) m_state.function.results.push_back(result.ref);
    body.captures = m_state.captures;
    m_state.giveBack();
    return body;
}

std::optional<std::vector<OnnxGraph::StepValue>>
OnnxGraph::importStep(const tenon_onnx::GraphProto& graph, const std::vector<StepValue>& inputs,
                      const std::string& label)
{
    OnnxGraph child(*this, graph, label);
    std::vector<ValueRef> arguments;
    child.importInitializers();
    for (size_t i = 0; i < inputs.size(); ++i)
        child.bindStepValue(graph.input(static_cast<int>(i)).name(), inputs[i], arguments);
    child.importBodyNodes();
    std::vector<StepValue> results;
    const auto body = adopted(child, child.takeStep(results));
    if (!body) return std::nullopt;
    const std::vector<ImportedValue> outside = inlineBody(*body, arguments);
    size_t next = 0;
    for (StepValue& result : results) {
        for (ImportedValue& element : result.elements) element = outside[next++];
        result.value = outside[next++];
    }
    return results;
}

void OnnxGraph::outputSteps(OnnxNode& node, const std::vector<StepValue>& carried,
                            std::vector<std::vector<ValueRef>> collected)
{
    for (size_t i = 0; i < carried.size() && !node.hasFailed(); ++i)
        if (carried[i].value.elements)
            outputElements(node, i, carried[i].elements);
        else
            node.outputValue(i, carried[i].value);
    for (size_t i = 0; i < collected.size() && !node.hasFailed(); ++i) {
        if (collected[i].empty())
            return node.fail(DiagnosticCode::UnsupportedFeature,
                             "a loop of no steps that carries a sequence collects nothing");
        for (ValueRef& part : collected[i])
            part = node.emit("expand_dims", {part},
                             {{"axis", int64_t{0}}, {"num_newaxis", int64_t{1}}});
        node.output(carried.size() + i,
                    collected[i].size() == 1
                        ? collected[i][0]
                        : node.emit("concatenate", collected[i], {{"axis", int64_t{0}}}));
    }
}

void OnnxGraph::unrollLoop(OnnxNode& node, const tenon_onnx::GraphProto& graph)
{
    const auto carried = static_cast<size_t>(node.proto().input_size() - 2);
    const Tensor *trips = node.constant(0), *first = node.constant(1);
    if ((node.has(0) && !trips) || (node.has(1) && !first))
        return node.fail(DiagnosticCode::UnsupportedFeature, unknownLength(node));
    const int64_t most = trips ? trips->integer(0) : INT64_MAX;
    bool goesOn = !first || first->integer(0) != 0;
    std::vector<StepValue> values;
    for (size_t i = 0; i < carried; ++i) {
        if (!node.has(2 + i)) return void(node.input(2 + i)); // says that it is missing
        values.push_back(stepValueOf(node.proto().input(static_cast<int>(2 + i))));
    }
    std::vector<std::vector<ValueRef>> collected(node.outputCount() - carried);
    const std::string label = m_state.sources[node.source().value].name + ".step";
    for (int64_t k = 0; k < most && goesOn; ++k) {
        if (k >= kMostSteps || (k + 1) * graph.node_size() > kMostNodes)
            return node.fail(DiagnosticCode::UnsupportedFeature,
                             unknownLength(node) + "; there are more than " + std::to_string(k));
        std::vector<StepValue> inputs{{constantValue({}, Tensor::of<int64_t>(kInt64, {}, {k})), {}},
                                      {constantValue({}, Tensor::of<uint8_t>(kBool, {}, {1})), {}}};
        inputs.insert(inputs.end(), values.begin(), values.end());
        auto results = importStep(graph, inputs, label + std::to_string(k));
        if (!results)
            return node.fail(DiagnosticCode::UnsupportedOperator, "the body cannot be imported");
        const ImportedValue& condition = results->front().value;
        if (!condition.constant)
            return node.fail(DiagnosticCode::UnsupportedFeature, unknownLength(node));
        goesOn = condition.constant->integer(0) != 0;
        for (size_t i = 0; i < collected.size(); ++i)
            collected[i].push_back(m_state.place((*results)[1 + carried + i].value));
        values.assign(results->begin() + 1, results->begin() + 1 + static_cast<long>(carried));
    }
    outputSteps(node, values, std::move(collected));
}

} // namespace tenon::compiler
