// SPDX-License-Identifier: Apache-2.0
// The import of an ONNX graph: initializers, inputs, nodes in order, outputs.
#include "compiler/frontend/onnx/graph/onnx_graph.h"

#include "compiler/frontend/onnx/converters/convert_narrow.h"
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/operand_kinds.h"
#include "compiler/frontend/onnx/file/element_types.h"
#include "compiler/frontend/onnx/file/model_facts.h"
#include "compiler/frontend/onnx/file/sparse_tensor.h"
#include "compiler/frontend/operator_table.h"
#include "core/base/text.h"

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

/// The names that a node's bodies read and return.
void addReadInside(const tenon_onnx::NodeProto& node, std::vector<std::string>& names)
{
    for (const auto& attr : node.attribute())
        for (const auto& inner : attr.g().node()) {
            names.insert(names.end(), inner.input().begin(), inner.input().end());
            addReadInside(inner, names);
        }
    for (const auto& attr : node.attribute())
        for (const auto& output : attr.g().output()) names.push_back(output.name());
}

std::vector<std::string> inputNames(const tenon_onnx::NodeProto& node)
{
    return {node.input().begin(), node.input().end()};
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

OnnxGraph::OnnxGraph(const tenon_onnx::ModelProto& model, std::string file, TensorStorage storage,
                     const ImportOptions& options)
    : GraphImport(std::move(file), options)
    , m_model(model)
    , m_graph(model.graph())
    , m_storage(std::move(storage))
{
    for (const auto& opset : model.opset_import())
        if (isStandardDomain(opset.domain())) m_opset = std::max(m_opset, opset.version());
    noteNames();
}

void OnnxGraph::noteNames()
{
    for (const auto& info : m_graph.input()) m_inputNames.insert(info.name());
    for (const auto& info : m_graph.value_info()) m_declared[info.name()] = &info;
    for (const auto& info : m_graph.output()) {
        m_declared[info.name()] = &info;
        addReadName(info.name());
    }
    for (const auto& node : m_graph.node()) {
        const std::string& op = node.op_type();
        NodeNames names{.inputs = inputNames(node),
                        .outputs = {node.output().begin(), node.output().end()},
                        .readInside = {},
                        .readsShapesOnly = op == "Shape" || op == "Size"};
        addReadInside(node, names.readInside);
        addNames(std::move(names));
    }
}

int64_t OnnxGraph::opsetOf(const tenon_onnx::NodeProto& node) const
{
    if (node.has_opset()) return node.opset();
    if (isStandardDomain(node.domain())) return m_opset;
    int64_t version = 0;
    for (const auto& opset : m_model.opset_import())
        if (opset.domain() == node.domain()) version = std::max(version, opset.version());
    return version;
}

Loaded OnnxGraph::run()
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
    addOutputs(outputNames());
    return take();
}

std::vector<std::string> OnnxGraph::outputNames() const
{
    std::vector<std::string> names;
    for (const auto& info : m_graph.output()) names.push_back(info.name());
    return names;
}

void OnnxGraph::importInputs()
{
    const std::set<std::string> initializers = initializerNames(m_graph);
    std::vector<DeclaredInput> inputs;
    for (const auto& info : m_graph.input()) {
        if (initializers.contains(info.name())) continue;
        const int32_t type =
            info.type().has_tensor_type() ? info.type().tensor_type().elem_type() : 0;
        const NarrowType* narrow = narrowTypeOf(type);
        inputs.push_back({.facts = valueFactsOf(info),
                          .dtype = narrow ? narrow->held : dataTypeOf(type),
                          .narrow = narrow});
    }
    addInputs(std::move(inputs));
}

void OnnxGraph::importInitializers()
{
    for (const auto& proto : m_graph.initializer()) {
        std::vector<Diagnostic> notes;
        auto tensor = readTensor(proto, m_storage, notes);
        for (Diagnostic& note : notes) report(std::move(note));
        ImportedValue value{.name = proto.name()};
        if (tensor) {
            value = constantValue(proto.name(), *std::move(tensor));
            value.narrowType = narrowTypeOf(proto.data_type());
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

void OnnxGraph::importSparse(const tenon_onnx::SparseTensorProto& proto)
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

std::optional<TensorType> OnnxGraph::declaredType(const std::string& name) const
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

void OnnxGraph::importOpaque(const tenon_onnx::NodeProto& proto, SourceId source)
{
    std::vector<std::optional<TensorType>> declared;
    for (const std::string& name : proto.output()) declared.push_back(declaredType(name));
    const std::string domain = isStandardDomain(proto.domain()) ? "onnx" : proto.domain();
    addOpaque(domain + "." + proto.op_type(), inputNames(proto),
              {proto.output().begin(), proto.output().end()}, declared, source);
}

void OnnxGraph::importNode(const tenon_onnx::NodeProto& proto, SourceId source)
{
    defineUnknownInputs(inputNames(proto), source);
    int oldest = 0;
    const int64_t opset = opsetOf(proto);
    const Converter* converter = findConverter(keyOf(proto), opset, &oldest);
    const GraphOperator* graphOperator = findGraphOperator(keyOf(proto), opset);
    const Definition* definition =
        options().operators ? options().operators->find(keyOf(proto)) : nullptr;
    if (!converter && !graphOperator && !definition) {
        report(unknownOperator(proto, oldest, opset), source);
        return importOpaque(proto, source);
    }
    OnnxNode folding(m_state, proto, source, opset, m_storage);
    // What follows something unknown is shown, without a complaint of its own.
    if (folding.hasUntypedInput()) return importOpaque(proto, source);
    if (graphOperator) return importByGraph(*graphOperator, folding);
    if (!converter) {
        importDefinedNode(folding, *definition);
        return settleOrShow(folding);
    }
    OnnxNode node(m_state, proto, source, opset, m_storage);
    if (const std::string name = node.firstSequence();
        !name.empty() && proto.op_type() != "Identity")
        node.fail(DiagnosticCode::UnsupportedFeature,
                  "input " + quoted(name) +
                      " is a sequence, which only operators on sequences take");
    admitNarrowInputs(node);
    checkOperandKind(node, converter->op);
    if (!node.hasFailed() && foldAtImport(folding)) return;
    if (!node.hasFailed()) converter->convert(node);
    settleOrShow(node);
}

void OnnxGraph::settleOrShow(OnnxNode& node)
{
    const tenon_onnx::NodeProto& proto = node.proto();
    const bool chooses = proto.op_type() == "If" && proto.input_size() > 0;
    if (!settle(node, chooses ? proto.input(0) : "")) importOpaque(proto, node.source());
}

} // namespace tenon::compiler
