// SPDX-License-Identifier: Apache-2.0
// One operator after the other.
#include "compiler/quantize/tflite_document.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "compiler/quantize/bind_sizes.h"
#include "compiler/quantize/tflite_operators.h"
#include "core/base/text.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;

constexpr int kIrVersion = 8, kOpset = 13;

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
            (this->*handlerOf(op))();
            if (m_problem) return *m_problem;
        }
        for (const int64_t output : m_graph.outputs) {
            asGiven(output);
            declare(output, *graph.add_output());
        }
        return std::move(m_out);
    }

    /// All that stands against it at once.
    Status checkAll() const
    {
        if (m_model.subgraphs.size() != 1)
            return makeError(DiagnosticCode::UnsupportedOperator,
                             "the model has control flow, which quantizing does not take",
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
            if (!handlerOf(op) || op.outputs.empty()) unknown.insert(op.name);
        }
        if (unknown.empty()) return kDone;
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "quantizing a TensorFlow Lite model does not take these operators: " +
                             join(std::vector<std::string>(unknown.begin(), unknown.end()), ", ") +
                             "; quantize its ONNX form",
                         {.file = m_path});
    }
};

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
    auto made = document.run();
    return made && !sizes.shapes.empty() ? checkResults(*loaded, *std::move(made), path) : made;
}

} // namespace tenon::compiler
