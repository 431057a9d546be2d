// SPDX-License-Identifier: Apache-2.0
// The import of a graph: initializers, inputs, nodes in order, outputs.
#include "compiler/frontend/onnx/import_graph.h"

#include "compiler/frontend/onnx/convert_narrow.h"
#include "compiler/frontend/onnx/converters.h"
#include "compiler/frontend/onnx/model_facts.h"
#include "compiler/frontend/onnx/operand_kinds.h"
#include "compiler/frontend/onnx/sparse_tensor.h"
#include "compiler/frontend/operator_table.h"
#include "core/base/text.h"

#include <queue>

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace tenon::compiler {
namespace {

/// Calls `fn` with the names that a node and its bodies read.
void forEachRead(const tenon_onnx::NodeProto& node,
                 const std::function<void(const std::string&)>& fn)
{
    for (const std::string& name : node.input()) fn(name);
    for (const auto& attr : node.attribute())
        for (const auto& inner : attr.g().node()) forEachRead(inner, fn);
    for (const auto& attr : node.attribute())
        for (const auto& output : attr.g().output()) fn(output.name());
}

bool isStandardDomain(const std::string& domain) { return domain.empty() || domain == "ai.onnx"; }

/// The operator as the converter table has it.
std::string keyOf(const tenon_onnx::NodeProto& node)
{
    return isStandardDomain(node.domain()) ? node.op_type() : node.domain() + "." + node.op_type();
}

Diagnostic unknownOperator(const tenon_onnx::NodeProto& node, int oldest, int64_t opset)
{
    const std::string key = keyOf(node);
    const std::string shown =
        isStandardDomain(node.domain()) ? key : node.domain() + "::" + node.op_type();
    const std::string_view declined = declinedReason(key);
    std::string why = " is not supported; it is shown but cannot be compiled";
    if (oldest > 0)
        why = " is known from opset " + std::to_string(oldest) +
              " on but the model imports opset " + std::to_string(opset) +
              "; export with a newer opset";
    else if (!declined.empty())
        why = " is not supported: it " + std::string(declined);
    else if (!isStandardDomain(node.domain()))
        why = " is not supported: it is an extension of ONNX; export with operators of ai.onnx, or "
              "with the operator's body as a function of the model, or declare it in a file beside "
              "the model (manual: extend.md)";
    return makeError(DiagnosticCode::UnsupportedOperator, "operator " + quoted(shown) + why);
}

} // namespace

GraphImport::GraphImport(const tenon_onnx::ModelProto& model, std::string file,
                         TensorStorage storage, const ImportOptions& options)
    : m_model(model)
    , m_graph(model.graph())
    , m_file(std::move(file))
    , m_storage(std::move(storage))
    , m_options(options)
    , m_dims(options.dims)
{
    for (const auto& opset : model.opset_import())
        if (isStandardDomain(opset.domain())) m_opset = std::max(m_opset, opset.version());
    noteNames();
}

void GraphImport::noteNames()
{
    for (const auto& info : m_graph.value_info()) m_declared[info.name()] = &info;
    for (const auto& info : m_graph.output()) {
        m_declared[info.name()] = &info;
        m_state.readNames.insert(info.name());
    }
    for (const auto& node : m_graph.node()) {
        forEachRead(node, [&](const std::string& name) { m_state.readNames.insert(name); });
        for (const std::string& output : node.output()) m_producers.emplace(output, &node);
    }
}

void GraphImport::report(Diagnostic diagnostic)
{
    diagnostic.location.file = m_file;
    diagnostic.location.graphPath = m_path;
    m_diagnostics.push_back(std::move(diagnostic));
}

void GraphImport::report(Diagnostic diagnostic, SourceId source)
{
    diagnostic.location.node = m_state.sources[source.value].name;
    diagnostic.location.op = m_state.sources[source.value].op;
    report(std::move(diagnostic));
}

int64_t GraphImport::opsetOf(const tenon_onnx::NodeProto& node) const
{
    if (node.has_opset()) return node.opset();
    if (isStandardDomain(node.domain())) return m_opset;
    int64_t version = 0;
    for (const auto& opset : m_model.opset_import())
        if (opset.domain() == node.domain()) version = std::max(version, opset.version());
    return version;
}

Loaded GraphImport::run()
{
    const bool needsStandard =
        std::any_of(m_graph.node().begin(), m_graph.node().end(),
                    [](const auto& node) { return isStandardDomain(node.domain()); });
    if (m_opset == 0 && needsStandard)
        report(makeError(DiagnosticCode::BadModel,
                         "the model imports no version of ai.onnx; opset_import must name one"));
    if (m_opset > kNewestOpset)
        report(makeWarning(DiagnosticCode::UnsupportedFeature,
                           "the model imports opset " + std::to_string(m_opset) +
                               "; operators are read as of opset " + std::to_string(kNewestOpset)));
    importInitializers();
    importInputs();
    m_state.sources.reserve(static_cast<size_t>(m_graph.node_size()));
    for (int i = 0; i < m_graph.node_size(); ++i)
        m_state.sources.push_back(sourceOf(m_graph.node(i), static_cast<size_t>(i)));
    for (const int i : sortedNodes())
        importNode(m_graph.node(i), SourceId(static_cast<uint32_t>(i)));
    importOutputs();

    Loaded loaded;
    loaded.changes = m_state.ledger();
    loaded.module = m_state.finish();
    loaded.diagnostics = std::move(m_diagnostics);
    loaded.neededValues = std::move(m_neededValues);
    return loaded;
}

void GraphImport::importInitializers()
{
    for (const auto& proto : m_graph.initializer()) {
        std::vector<Diagnostic> notes;
        auto tensor = readTensor(proto, m_storage, notes);
        for (Diagnostic& note : notes) report(std::move(note));
        ImportedValue value{.name = proto.name()};
        if (tensor) {
            value = constantValue(proto.name(), *std::move(tensor));
            if (narrowTypeOf(proto.data_type())) value.narrowType = proto.data_type();
        } else {
            report(tensor.error());
        }
        if (proto.name().empty())
            report(makeError(DiagnosticCode::BadModel, "an initializer has no name"));
        else if (!m_state.define(std::move(value)))
            report(makeError(DiagnosticCode::BadModel,
                             "two initializers are named " + quoted(proto.name()),
                             {.detail = proto.name()}));
    }
    for (const auto& proto : m_graph.sparse_initializer()) importSparse(proto);
}

void GraphImport::importSparse(const tenon_onnx::SparseTensorProto& proto)
{
    std::vector<Diagnostic> notes;
    auto tensor = readSparseTensor(proto, m_storage, notes);
    for (Diagnostic& note : notes) report(std::move(note));
    const std::string& name = proto.values().name();
    if (!tensor) {
        report(tensor.error());
        m_state.define({.name = name});
        return;
    }
    if (!m_state.define(constantValue(name, *std::move(tensor))))
        report(makeError(DiagnosticCode::BadModel, "two initializers are named " + quoted(name),
                         {.detail = name}));
}

std::vector<int> GraphImport::sortedNodes()
{
    // The file must be sorted already; accept any order without a cycle.
    std::unordered_map<std::string_view, int> producer;
    for (int i = 0; i < m_graph.node_size(); ++i)
        for (const std::string& output : m_graph.node(i).output())
            if (!output.empty()) producer.emplace(output, i);
    const auto count = static_cast<size_t>(m_graph.node_size());
    std::vector<size_t> waiting(count, 0);
    std::vector<std::vector<int>> users(count);
    bool isSorted = true;
    for (int i = 0; i < m_graph.node_size(); ++i)
        forEachRead(m_graph.node(i), [&](const std::string& input) {
            const auto found = producer.find(input);
            if (input.empty() || found == producer.end()) return;
            isSorted = isSorted && found->second < i;
            ++waiting[static_cast<size_t>(i)];
            users[static_cast<size_t>(found->second)].push_back(i);
        });
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (size_t i = 0; i < count; ++i)
        if (waiting[i] == 0) ready.push(static_cast<int>(i));
    std::vector<int> order;
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (const int user : users[static_cast<size_t>(order.back())])
            if (--waiting[static_cast<size_t>(user)] == 0) ready.push(user);
    }
    if (order.size() < count) {
        for (size_t i = 0; i < count; ++i)
            if (waiting[i] > 0) {
                report(makeError(DiagnosticCode::BadModel,
                                 "the node takes part in a cycle or depends on one"),
                       SourceId(m_firstSource + static_cast<uint32_t>(i)));
                order.push_back(static_cast<int>(i));
            }
    } else if (!isSorted) {
        report(makeWarning(DiagnosticCode::BadModel,
                           "the nodes are not in topological order; they were sorted"));
    }
    return order;
}

void GraphImport::reportUnknownInputs(const tenon_onnx::NodeProto& proto, SourceId source)
{
    std::set<std::string> reported;
    for (const std::string& name : proto.input()) {
        if (name.empty() || m_state.find(name) || !reported.insert(name).second) continue;
        // In a cycle the name is produced, only too late; that has been said.
        if (!m_producers.contains(name))
            report(makeError(DiagnosticCode::BadModel,
                             "the node reads " + quoted(name) + ", which nothing produces",
                             {.detail = name}),
                   source);
        m_state.define({.name = name, .type = untypedValue()});
    }
}

bool GraphImport::isFirstComplaint(SourceId source) const
{
    return m_diagnostics.empty() ||
           m_diagnostics.back().location.node != m_state.sources[source.value].name;
}

std::optional<TensorType> GraphImport::declaredType(const std::string& name) const
{
    const auto declared = m_declared.find(name);
    if (declared == m_declared.end() || !declared->second->type().has_tensor_type())
        return std::nullopt;
    const auto dtype = dataTypeOf(declared->second->type().tensor_type().elem_type());
    ValueFacts facts = valueFactsOf(*declared->second);
    for (Dim& dim : facts.shape) dim = dim.bind(m_dims);
    if (!dtype || !facts.hasShape || isTooLarge(facts.shape)) return std::nullopt;
    return TensorType{*dtype, facts.shape};
}

void GraphImport::importOpaque(const tenon_onnx::NodeProto& proto, SourceId source)
{
    std::vector<ValueRef> operands;
    for (const std::string& name : proto.input()) {
        ImportedValue* value = name.empty() ? nullptr : m_state.find(name);
        operands.push_back(value ? m_state.place(*value) : ValueRef{});
    }
    Types types;
    std::vector<bool> isTyped;
    for (const std::string& name : proto.output()) {
        const std::optional<TensorType> declared = declaredType(name);
        types.push_back(declared.value_or(untypedValue()));
        isTyped.push_back(declared.has_value());
    }
    const std::string domain = isStandardDomain(proto.domain()) ? "onnx" : proto.domain();
    const NodeId id =
        m_state.addOpaque(domain + "." + proto.op_type(), std::move(operands), types, source);
    for (int i = 0; i < proto.output_size(); ++i) {
        if (proto.output(i).empty()) continue;
        const auto at = static_cast<size_t>(i);
        ImportedValue value{.name = proto.output(i),
                            .ref = {id, static_cast<uint32_t>(i)},
                            .type = types[at],
                            .isTyped = isTyped[at]};
        ImportedValue* known = m_state.find(value.name);
        const bool isPlaceholder =
            known && !known->ref.node.isValid() && !known->constant && !known->dims;
        if (isPlaceholder)
            *known = std::move(value);
        else if (!m_state.define(std::move(value)) && isFirstComplaint(source))
            report(
                makeError(DiagnosticCode::BadModel, "the name " + quoted(proto.output(i)) +
                                                        " is defined twice; names must be unique "
                                                        "in a graph"),
                source);
    }
}

void GraphImport::importNode(const tenon_onnx::NodeProto& proto, SourceId source)
{
    reportUnknownInputs(proto, source);
    int oldest = 0;
    const int64_t opset = opsetOf(proto);
    const Converter* converter = findConverter(keyOf(proto), opset, &oldest);
    const GraphOperator* graphOperator = findGraphOperator(keyOf(proto), opset);
    const Definition* definition =
        m_options.operators ? m_options.operators->find(keyOf(proto)) : nullptr;
    if (!converter && !graphOperator && !definition) {
        report(unknownOperator(proto, oldest, opset), source);
        importOpaque(proto, source);
        return;
    }
    NodeImport folding(m_state, proto, source, opset, m_storage);
    // What follows something unknown is shown, without a complaint of its own.
    if (folding.hasUntypedInput()) {
        importOpaque(proto, source);
        return;
    }
    if (graphOperator) return importByGraph(*graphOperator, proto, source);
    if (!converter) {
        importDefined(*definition, folding);
        return settle(folding, proto, source);
    }
    NodeImport node(m_state, proto, source, opset, m_storage);
    if (const std::string name = node.firstSequence();
        !name.empty() && proto.op_type() != "Identity")
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "input " + quoted(name) +
                      " is a sequence, which only operators on sequences take");
    admitNarrowInputs(node);
    checkOperandKind(node, converter->op);
    if (!node.hasFailed() && foldAtImport(folding)) return;
    if (!node.hasFailed()) converter->convert(node);
    settle(node, proto, source);
}

void GraphImport::settle(NodeImport& node, const tenon_onnx::NodeProto& proto, SourceId source)
{
    node.checkInputsSeen();
    for (Diagnostic& note : node.notes()) report(std::move(note), source);
    if (!node.hasFailed()) {
        node.foldIntegers();
        node.finish();
        return;
    }
    // Of two branches that do not fit one another, or of which one cannot be imported, the value of
    // an input may choose the other.
    const bool isChoice = proto.op_type() == "If" && node.neededValue().empty() &&
                          (node.error().code == DiagnosticCode::UnsupportedFeature ||
                           node.error().code == DiagnosticCode::UnsupportedOperator) &&
                          proto.input_size() > 0 && !inputsBehind(proto.input(0)).empty();
    Diagnostic error = node.error();
    if (isChoice) error.message += ", unless it is known which one runs; that follows";
    report(withNeededValues(std::move(error), isChoice ? proto.input(0) : node.neededValue()),
           source);
    node.rollBack();
    importOpaque(proto, source);
}

void GraphImport::importOutputs()
{
    for (const auto& info : m_graph.output()) {
        ImportedValue* value = m_state.find(info.name());
        if (value && value->elements) {
            report(unsupportedSequence("output " + quoted(info.name())));
            continue;
        }
        const ValueRef ref = value ? m_state.place(*value) : ValueRef{};
        if (!ref.node.isValid()) {
            report(makeError(
                DiagnosticCode::BadModel,
                "the output " + quoted(info.name()) +
                    (value ? " has no value that can be computed" : " is produced by no node"),
                {.detail = info.name()}));
            continue;
        }
        m_state.function.results.push_back(ref);
        m_state.function.resultNames.push_back(info.name());
    }
    if (m_graph.output_size() == 0)
        report(makeError(DiagnosticCode::BadModel, "the graph has no outputs"));
}

} // namespace tenon::compiler
