// SPDX-License-Identifier: Apache-2.0
// One operator after the other.
#include "compiler/quantize/tflite_document.h"

#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "compiler/quantize/bind_sizes.h"
#include "compiler/quantize/fold_constant_nodes.h"
#include "compiler/quantize/tflite_operators.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;

constexpr int kIrVersion = 8, kOpset = 13;
/// Elements of what is computed here; larger constants are left to the nodes that make them.
constexpr int64_t kMostKnown = int64_t{1} << 20;

class Document : private TfliteOperators
{
public:
    using TfliteOperators::TfliteOperators;

    Result<ModelProto> run()
    {
        m_out.set_ir_version(kIrVersion);
        m_out.set_producer_name("tenon");
        m_out.add_opset_import()->set_version(kOpset);
        GraphProto& graph = *m_out.mutable_graph();
        graph.set_name(m_graph.name.empty() ? "main" : m_graph.name);
        for (const int64_t input : m_graph.inputs) declare(input, *graph.add_input());
        for (const TfliteOperator& op : m_graph.operators) {
            m_op = &op;
            if (isJoined(op)) continue;
            const int made = m_into->node_size();
            (this->*handlerOf(op))();
            if (m_problem) return *m_problem;
            if (m_into->node_size() > made && isKnown(op)) fold(made);
        }
        std::set<int64_t> declared;
        for (const int64_t output : m_graph.outputs) {
            asGiven(output);
            auto& result = *graph.add_output();
            declare(output, result);
            if (declared.insert(output).second) continue;
            // Listed once more: ONNX gives each name once.
            const std::string name = nameOf(output) + "/" + std::to_string(graph.output_size());
            node("Identity", {nameOf(output)}, name, name);
            result.set_name(name);
        }
        return std::move(m_out);
    }

    /// Computes from shapes and other constants only.
    bool isKnown(const TfliteOperator& op) const
    {
        const auto isSmall = [&](int64_t output) {
            return output >= 0 && limitedCount(tensor(output).shape) <= kMostKnown;
        };
        return std::all_of(op.inputs.begin(), op.inputs.end(),
                           [&](int64_t input) { return input < 0 || isConstant(input); }) &&
               std::all_of(op.outputs.begin(), op.outputs.end(), isSmall);
    }

    /// The nodes from `first` on, which compute a known operator, as constants: sizes that a file
    /// computes from a shape are operands that must be known.
    void fold(int first)
    {
        ModelProto alone;
        alone.set_ir_version(kIrVersion);
        *alone.mutable_opset_import() = m_out.opset_import();
        for (const int64_t output : m_op->outputs) {
            asGiven(output);
            auto& result = *alone.mutable_graph()->add_output();
            declare(output, result);
            result.mutable_type()->mutable_tensor_type()->clear_shape();
        }
        std::set<std::string> read;
        for (int i = first; i < m_into->node_size(); ++i) {
            *alone.mutable_graph()->add_node() = m_into->node(i);
            read.insert(m_into->node(i).input().begin(), m_into->node(i).input().end());
        }
        for (const auto& constant : m_into->initializer())
            if (read.contains(constant.name()))
                *alone.mutable_graph()->add_initializer() = constant;
        const std::vector<Tensor> values = resultsOf(alone, kMostKnown);
        if (values.size() != m_op->outputs.size()) return;
        m_into->mutable_node()->DeleteSubrange(first, m_into->node_size() - first);
        for (size_t i = 0; i < values.size(); ++i) settle(m_op->outputs[i], values[i]);
    }

    /// All that stands against it at once.
    Status checkAll() const
    {
        if (m_model.subgraphs.size() != 1)
            return makeError(DiagnosticCode::UnsupportedOperator,
                             "the model has control flow, which is not written as ONNX here",
                             {.file = m_path});
        std::set<std::string> unknown;
        for (const TfliteOperator& op : m_graph.operators) {
            const bool isInteger =
                std::any_of(op.inputs.begin(), op.inputs.end(), [&](int64_t input) {
                    return input >= 0 && !tensor(input).quantization.scales.empty() &&
                           tfliteDataType(tensor(input).type) != kFloat32;
                });
            if (isInteger)
                return makeError(DiagnosticCode::BadModel,
                                 "the model is quantized already; give the float model that it was "
                                 "made from",
                                 {.file = m_path, .op = op.name});
            if (handlerOf(op) && std::any_of(op.outputs.begin(), op.outputs.end(),
                                             [](int64_t result) { return result < 0; }))
                return makeError(DiagnosticCode::UnsupportedOperator,
                                 "it leaves out one of its results, which is not written as ONNX "
                                 "here",
                                 {.file = m_path, .op = op.name});
            if (!handlerOf(op) || op.outputs.empty()) unknown.insert(op.name);
        }
        if (unknown.empty()) return kDone;
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "these operators of TensorFlow Lite are not written as ONNX here: " +
                             join(std::vector<std::string>(unknown.begin(), unknown.end()), ", ") +
                             "; take the model as its exporter writes ONNX",
                         {.file = m_path});
    }
};

/// Results of custom operators may have no sizes in the file; pictures, whose axes have another
/// order here, do.
void declareResults(const Loaded& loaded, TfliteModel& model)
{
    TfliteSubgraph& graph = model.subgraphs.front();
    const std::vector<ValueRef>& results = loaded.module.main().results;
    for (size_t i = 0; i < results.size() && i < graph.outputs.size(); ++i) {
        std::vector<int64_t>& shape = graph.tensors.at(static_cast<size_t>(graph.outputs[i])).shape;
        const auto found = constantShape(loaded.module.type(results[i]).shape);
        if (shape.empty() && found && found->size() <= 3) shape = *found;
    }
}

/// Sizes of inner tensors that a bound one changes, as the file says, are those that it does.
Result<ModelProto> checkResults(const Loaded& loaded, ModelProto made, const std::string& path)
{
    const GraphFunction& main = loaded.module.main();
    for (size_t i = 0; i < main.results.size(); ++i) {
        const auto& output = made.graph().output(static_cast<int>(i));
        Shape declared;
        for (const auto& dim : output.type().tensor_type().shape().dim())
            declared.push_back(Dim(dim.dim_value()));
        if (loaded.module.type(main.results[i]).shape == declared) continue;
        return makeError(DiagnosticCode::ShapeMismatch,
                         "the sizes cannot be bound; the file does not say which sizes of " +
                             quoted(output.name()) + " follow them",
                         {.file = path});
    }
    return made;
}

} // namespace

Result<ModelProto> readTfliteDocument(std::span<const std::byte> bytes, const std::string& path,
                                      const ImportOptions& sizes)
{
    // What the importer refuses has options and operands that nothing here is prepared for.
    const auto loaded = loadTfliteBytes(bytes, nullptr, path, sizes);
    if (!loaded) return loaded.error();
    auto model = readTfliteModel(bytes, nullptr, path);
    if (!model) return model.error();
    if (model->subgraphs.empty())
        return makeError(DiagnosticCode::BadModel, "the model has no graph", {.file = path});
    if (Status bound = bindSizes(*model, sizes); !bound) return bound.error();
    Document document(*model, path);
    if (Status fits = document.checkAll(); !fits) return fits.error();
    for (const Diagnostic& diagnostic : loaded->diagnostics)
        if (diagnostic.severity == Severity::Error) return diagnostic;
    declareResults(*loaded, *model);
    auto made = document.run();
    return made && !sizes.shapes.empty() ? checkResults(*loaded, *std::move(made), path) : made;
}

} // namespace tenon::compiler
