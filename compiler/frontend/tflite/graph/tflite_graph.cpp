// SPDX-License-Identifier: Apache-2.0
// The walk over a graph of a .tflite file.
#include "compiler/frontend/tflite/graph/tflite_graph.h"

#include "compiler/frontend/operator_table.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/frontend/tflite/file/model_facts.h"
#include "compiler/frontend/tflite/file/tensor_reader.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Operators that hold the program which a compiler for an accelerator made of a part of the model.
constexpr std::pair<std::string_view, std::string_view> kAccelerators[] = {
    {"edgetpu-custom-op", "the Edge TPU"}, {"ethos-u", "an Ethos-U"}};

constexpr std::string_view kRandom =
                               "it draws random numbers, which a compiled model must not; feed "
                               "them as an input",
                           kTable = "it looks things up in tables that the run fills; do that "
                                    "before the model",
                           kStrings = "it works on strings; do that before the model",
                           kNoKernel = "TensorFlow Lite has no kernel for it either";
/// Operators of the schema that are not imported, and why.
constexpr std::pair<std::string_view, std::string_view> kDeclined[] = {
    {"CALL", kNoKernel},
    {"CONCAT_EMBEDDINGS", kNoKernel},
    {"HASHTABLE", kTable},
    {"HASHTABLE_FIND", kTable},
    {"HASHTABLE_IMPORT", kTable},
    {"HASHTABLE_SIZE", kTable},
    {"LSH_PROJECTION", kStrings},
    {"MULTINOMIAL", kRandom},
    {"RANDOM_STANDARD_NORMAL", kRandom},
    {"RANDOM_UNIFORM", kRandom},
    {"SKIP_GRAM", kStrings},
    {"STABLEHLO_RNG_BIT_GENERATOR", kRandom}};

Diagnostic unknownOperator(const TfliteOperator& op)
{
    std::string why = op.isCustom
                          ? " is a custom operator that is not known; it is shown but cannot be "
                            "compiled"
                          : " is not supported; it is shown but cannot be compiled";
    for (const auto& [name, reason] : kDeclined)
        if (!op.isCustom && op.name == name) why = " is not supported: " + std::string(reason);
    for (const auto& [name, accelerator] : kAccelerators)
        if (op.isCustom && op.name == name)
            why =
                " is a program for " + std::string(accelerator) +
                ", which is shown but cannot be compiled; open the model from before its compiler";
    return makeError(DiagnosticCode::UnsupportedOperator, "operator " + quoted(op.name) + why);
}

} // namespace

TfliteGraph::TfliteGraph(const TfliteModel& model, std::string file, const ImportOptions& options)
    : GraphImport(std::move(file), options)
    , m_model(model)
    , m_graph(model.subgraphs[0])
{
    noteNames();
}

void TfliteGraph::noteNames()
{
    for (const std::string& name : namesOf(m_graph, m_graph.inputs)) m_inputNames.insert(name);
    for (const std::string& name : outputNames()) addReadName(name);
    for (const TfliteOperator& op : m_graph.operators)
        addNames({.inputs = namesOf(m_graph, op.inputs),
                  .outputs = namesOf(m_graph, op.outputs),
                  .readInside = {},
                  .readsShapesOnly = op.name == "SHAPE" || op.name == "RANK"});
}

std::vector<std::string> TfliteGraph::outputNames() const
{
    std::vector<std::string> names;
    for (const int64_t id : m_graph.outputs)
        names.push_back(m_graph.tensors[static_cast<size_t>(id)].name);
    return names;
}

Loaded TfliteGraph::run()
{
    importConstants();
    importInputs();
    addSources();
    importNodes();
    for (const int64_t id : m_graph.outputs)
        if (const TfliteTensor& tensor = m_graph.tensors[static_cast<size_t>(id)];
            tensor.type == kTfliteComplex)
            report(makeError(DiagnosticCode::UnsupportedDtype,
                             "the output " + quoted(tensor.name) +
                                 " holds complex numbers, which results cannot be; read their "
                                 "parts by REAL and IMAG"));
    addOutputs(outputNames());
    return take();
}

void TfliteGraph::importConstants()
{
    const std::set<int64_t> inputs(m_graph.inputs.begin(), m_graph.inputs.end());
    std::set<int64_t> produced;
    for (const TfliteOperator& op : m_graph.operators)
        produced.insert(op.outputs.begin(), op.outputs.end());
    for (size_t i = 0; i < m_graph.tensors.size(); ++i) {
        const TfliteTensor& tensor = m_graph.tensors[i];
        if (tensor.isVariable || inputs.contains(static_cast<int64_t>(i)) ||
            tensor.buffer >= m_model.buffers.size())
            continue;
        // A tensor without elements has no bytes either: the shape of a scalar, say.
        const bool isEmpty =
            tensor.hasRank && !produced.contains(static_cast<int64_t>(i)) &&
            std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
        if (m_model.buffers[tensor.buffer].empty() && !isEmpty) continue;
        ImportedValue value{.name = tensor.name};
        auto read = readTfliteTensor(m_model, tensor);
        if (read) {
            value = constantValue(tensor.name, *std::move(read));
            value.narrowType = tfliteNarrowType(tensor.type);
        } else {
            report(read.error());
        }
        m_state.define(std::move(value));
    }
}

void TfliteGraph::importInputs()
{
    std::vector<DeclaredInput> inputs;
    std::set<int64_t> seen;
    for (const int64_t id : m_graph.inputs) {
        if (!seen.insert(id).second) continue;
        const TfliteTensor& tensor = m_graph.tensors[static_cast<size_t>(id)];
        const bool isBound =
            options().shapes.contains(tensor.name) || options().bounds.contains(tensor.name);
        inputs.push_back({.facts = valueFactsOf(tensor, isBound),
                          .dtype = tfliteDataType(tensor.type),
                          .narrow = tfliteNarrowType(tensor.type)});
    }
    addInputs(std::move(inputs));
}

void TfliteGraph::addSources()
{
    m_firstSource = static_cast<uint32_t>(m_state.sources.size());
    std::set<std::string> names;
    for (size_t i = 0; i < m_graph.operators.size(); ++i) {
        m_state.sources.push_back(sourceOf(m_graph, i));
        std::string& name = m_state.sources.back().name;
        if (m_firstSource > 0) name = m_state.function.name + "/" + name;
        if (!names.insert(name).second) name += "_" + std::to_string(i);
        names.insert(name);
    }
}

void TfliteGraph::importNodes()
{
    for (const int i : sortedNodes())
        importNode(m_graph.operators[static_cast<size_t>(i)],
                   SourceId(m_firstSource + static_cast<uint32_t>(i)));
    dropIdleMoves();
}

void TfliteGraph::dropIdleMoves()
{
    std::set<NodeId> used;
    for (const std::string& name : outputNames())
        if (ImportedValue* value = m_state.find(name)) used.insert(m_state.place(*value).node);
    std::vector<NodeId>& order = m_state.function.order;
    std::set<NodeId> idle;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        if (m_layouts.moves.contains(*id) && !used.contains(*id)) {
            idle.insert(*id);
            continue;
        }
        for (const ValueRef& operand : m_state.module.node(*id).operands) used.insert(operand.node);
    }
    for (const auto& [last, first] : m_layouts.first)
        if (idle.contains(last.node)) m_turned.insert(first);
    std::erase_if(order, [&](NodeId id) { return idle.contains(id); });
    for (const NodeId id : idle) m_state.module.eraseNode(id);
}

std::optional<TensorType> TfliteGraph::declaredType(int64_t id) const
{
    if (id < 0) return std::nullopt;
    const TfliteTensor& tensor = m_graph.tensors[static_cast<size_t>(id)];
    const auto dtype = tfliteDataType(tensor.type);
    const ValueFacts facts = valueFactsOf(tensor, false);
    if (!dtype || !facts.hasShape || isTooLarge(facts.shape)) return std::nullopt;
    return TensorType{*dtype, facts.shape};
}

void TfliteGraph::importOpaque(const TfliteOperator& op, SourceId source)
{
    std::vector<std::optional<TensorType>> declared;
    for (const int64_t id : op.outputs) declared.push_back(declaredType(id));
    const std::vector<std::string> inputs = namesOf(m_graph, op.inputs);
    addOpaque("tflite." + op.name, inputs, namesOf(m_graph, op.outputs), declared, source);
}

void TfliteGraph::importNode(const TfliteOperator& op, SourceId source)
{
    const std::vector<std::string> inputs = namesOf(m_graph, op.inputs);
    const TfliteConverter* converter = findTfliteConverter(op.name);
    const GraphOperator* graphOperator = findGraphOperator(op.name);
    const Definition* definition =
        op.isCustom && options().operators ? options().operators->find(op.name) : nullptr;
    if (!converter && !graphOperator && !definition) {
        if (op.isCustom) defineLentMemory(inputs);
        defineUnknownInputs(inputs, source);
        report(unknownOperator(op), source);
        return importOpaque(op, source);
    }
    defineUnknownInputs(inputs, source);
    TfliteNode node(m_state, m_layouts, m_graph, op, source);
    if (graphOperator) {
        (this->*graphOperator->import)(node);
        return settleOrShow(node);
    }
    // What follows something unknown is shown, without a complaint of its own.
    if (node.hasUntypedInput()) return importOpaque(op, source);
    if (!takesComplex(op.name) && hasComplex(op)) {
        node.fail(DiagnosticCode::UnsupportedDtype,
                  "complex numbers are taken from RFFT2D, given other shapes, and read by REAL, "
                  "IMAG and COMPLEX_ABS only");
        return settleOrShow(node);
    }
    if (converter)
        converter->convert(node);
    else
        importDefined(node, *definition, attrsOf(*definition));
    settleOrShow(node);
}

bool TfliteGraph::hasComplex(const TfliteOperator& op) const
{
    const auto isComplex = [&](int64_t id) {
        return id >= 0 && m_graph.tensors[static_cast<size_t>(id)].type == kTfliteComplex;
    };
    return std::any_of(op.inputs.begin(), op.inputs.end(), isComplex) ||
           std::any_of(op.outputs.begin(), op.outputs.end(), isComplex);
}

void TfliteGraph::settleOrShow(TfliteNode& node)
{
    if (settle(node)) return;
    node.forgetLayouts();
    importOpaque(node.file(), node.source());
}

} // namespace tenon::compiler
