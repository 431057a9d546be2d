// SPDX-License-Identifier: Apache-2.0
// The steps of post-training quantization in their order.
#include "compiler/quantize/quantize.h"

#include "compiler/quantize/equalize_layers.h"
#include "compiler/quantize/exceeded_ranges.h"
#include "compiler/quantize/fold_batch_norm.h"
#include "compiler/quantize/fold_constant_nodes.h"
#include "compiler/quantize/measure_loss.h"
#include "compiler/quantize/observe.h"
#include "compiler/quantize/quantize_plan.h"
#include "compiler/quantize/raise_opset.h"
#include "compiler/quantize/write_qdq.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

constexpr std::array<std::string_view, 10> kQuantizedOps{
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear",
    "QLinearConv",    "QLinearMatMul",    "ConvInteger",
    "MatMulInteger",  "QLinearAdd",       "QLinearMul",
    "QGemm"};

Status refuseQuantized(const ModelProto& model, const std::string& path)
{
    for (const NodeProto& node : model.graph().node())
        if (std::find(kQuantizedOps.begin(), kQuantizedOps.end(), node.op_type()) !=
            kQuantizedOps.end())
            return makeError(DiagnosticCode::BadModel,
                             "the model is quantized already; give the float model that it was "
                             "made from",
                             {.file = path, .node = node.name(), .op = node.op_type()});
    return kDone;
}

Status checkNames(const ModelProto& model, const QuantizeOptions& options)
{
    const auto& nodes = model.graph().node();
    for (const std::string& name : options.floatNodes)
        if (std::none_of(nodes.begin(), nodes.end(),
                         [&](const NodeProto& node) { return node.name() == name; }))
            return makeError(DiagnosticCode::UnknownName,
                             "there is no node " + quoted(name) +
                                 " to keep in float; `tenon inspect` lists the nodes");
    for (const std::string& op : options.floatOps)
        if (std::none_of(nodes.begin(), nodes.end(),
                         [&](const NodeProto& node) { return node.op_type() == op; }))
            return makeError(DiagnosticCode::UnknownName,
                             "the model has no operator " + quoted(op) + " to keep in float");
    return kDone;
}

/// One quantization under way.
class Quantization
{
public:
    Quantization(const CalibrationData& data, const QuantizeOptions& options,
                 const OpenRunner& open, JobContext& job)
        : m_data(data)
        , m_options(options)
        , m_open(open)
        , m_job(job)
    {
    }

    Result<QuantizedModel> run(const std::string& path)
    {
        if (Status done = prepare(path); !done) return done.error();
        const FloatGraph graph(m_float.graph());
        m_plan = planQuantization(graph, m_options);
        if (Status done = checkPlan(graph); !done) return done.error();
        if (Status done = observe(m_plan); !done) return done.error();
        if (Status done = keepWithinLoss(graph); !done) return done.error();
        listFloats(graph);
        m_quantized = m_float;
        m_names = writeQdq(m_quantized, m_plan, rangesOf(m_plan), m_options);
        m_quantized.set_producer_name("tenon");
        account(graph);
        if (Status done = measure(); !done) return done.error();
        QuantizedModel out{.bytes = m_quantized.SerializeAsString(), .report = {}};
        m_report.quantizedBytes = out.bytes.size();
        out.report = std::move(m_report);
        return out;
    }

private:
    Status prepare(const std::string& path)
    {
        auto model = readOnnxDocument(path);
        if (!model) return model.error();
        if (Status done = refuseQuantized(*model, path); !done) return done;
        m_report.floatBytes = model->ByteSizeLong();
        m_report.givenOpset = opsetOf(*model);
        const bool isWide = m_options.activations.dtype.bits > 8;
        if (Status done = raiseOpset(*model, isWide ? kWideOpset : kPerChannelOpset); !done) {
            Diagnostic error = done.error();
            error.location.file = path;
            return error;
        }
        if (Status done = checkNames(*model, m_options); !done) return done;
        if (Status done = checkData(*model, m_data); !done) return done;
        if (!m_options.evaluation.empty())
            if (Status done = checkData(*model, m_options.evaluation); !done) return done;
        m_report.opset = opsetOf(*model);
        foldConstantNodes(*model);
        m_report.foldedBatchNorms = foldBatchNorms(*model);
        m_report.dataSets = m_data.size();
        m_float = *std::move(model);
        return m_options.equalizes ? equalize() : Status(kDone);
    }

    /// By what the weights and the channels of the data between them are.
    Status equalize()
    {
        std::vector<std::string> names;
        for (const LayerPair& pair : equalizedPairs(m_float)) names.push_back(pair.tensor);
        if (names.empty()) {
            m_report.remarks.push_back(
                makeWarning(DiagnosticCode::BadArgument,
                            "no layers are equalized; there are no two that follow each other with "
                            "no more than a Relu or a pool between them"));
            return kDone;
        }
        auto seen = observeValues(m_float, names, m_data, m_open, m_job);
        if (!seen) return seen.error();
        std::map<std::string, std::vector<double>> peaks;
        for (auto& [name, tensor] : *seen) peaks[name] = std::move(tensor.channelPeaks);
        m_given = m_float;
        m_report.equalized = equalizeLayers(m_float, peaks);
        return kDone;
    }

    void listFloats(const FloatGraph& graph)
    {
        m_report.floats.clear();
        m_report.quantizedNodes = 0;
        for (int i = 0; i < graph.nodeCount(); ++i) {
            const PlannedNode& node = m_plan.nodes[static_cast<size_t>(i)];
            m_report.quantizedNodes += node.isQuantized();
            if (node.isQuantized() || node.reason.empty()) continue;
            const std::string& name = graph.node(i).name();
            const auto harmful = std::find_if(
                m_report.harms.begin(), m_report.harms.end(),
                [&](const LayerHarm& harm) { return harm.isFloat && harm.layer == name; });
            const std::string reason = harmful == m_report.harms.end()
                                           ? node.reason
                                           : "it costs the model's outputs the most";
            m_report.floats.push_back({name, graph.node(i).op_type(), reason});
        }
    }

    Status checkPlan(const FloatGraph& graph)
    {
        listFloats(graph);
        if (m_report.quantizedNodes > 0) return kDone;
        Diagnostic error = makeError(DiagnosticCode::BadModel,
                                     "no operator of the model can compute with integers");
        for (const FloatNode& node : m_report.floats)
            if (error.notes.size() < 20)
                error.notes.push_back({Severity::Note,
                                       DiagnosticCode::BadModel,
                                       node.reason,
                                       {.node = node.node, .op = node.op}});
        return error;
    }

    /// Of what was not seen yet.
    Status observe(const QuantizePlan& plan)
    {
        std::vector<std::string> names;
        for (const PlannedTensor& tensor : plan.tensors)
            if (tensor.sameAs.empty() && !m_seen.contains(tensor.name))
                names.push_back(tensor.name);
        if (names.empty()) return kDone;
        auto seen = observeValues(m_float, names, m_data, m_open, m_job);
        if (!seen) return seen.error();
        std::vector<LinearRange> ranges(names.size());
        const Status chosen = m_job.parallelFor(names.size(), [&](size_t i) {
            ranges[i] = chooseRange(seen->at(names[i]).values, m_options.activations);
            return Status(kDone);
        });
        if (!chosen) return chosen;
        for (size_t i = 0; i < names.size(); ++i) m_ranges[names[i]] = ranges[i];
        m_seen.merge(*seen);
        return kDone;
    }

    std::map<std::string, RoundedTensor> rangesOf(const QuantizePlan& plan) const
    {
        std::map<std::string, RoundedTensor> out;
        for (const PlannedTensor& tensor : plan.tensors) {
            const bool isOwn = tensor.sameAs.empty();
            const std::string& root = isOwn ? tensor.name : tensor.sameAs;
            RoundedTensor rounded{.range = m_ranges.at(root), .channelMeans = {}};
            // Moved values have other channels.
            if (isOwn && m_options.correctsBias)
                rounded.channelMeans = m_seen.at(root).channelMeans;
            out[tensor.name] = std::move(rounded);
        }
        return out;
    }

    CalibrationData measuredData() const
    {
        const CalibrationData& data = m_options.evaluation.empty() ? m_data : m_options.evaluation;
        const size_t count = std::min(data.size(), m_options.measuredSets);
        return {data.begin(), data.begin() + static_cast<ptrdiff_t>(count)};
    }

    /// Inner tensors are those of the equalized model, results those of the given one.
    Result<FloatValues> expectedValues(const std::vector<std::string>& names,
                                       const CalibrationData& data) const
    {
        auto out = floatValues(m_float, names, data, m_open, m_job);
        if (!out || !m_given) return out;
        auto given = floatValues(*m_given, {}, data, m_open, m_job);
        if (!given) return given.error();
        for (size_t set = 0; set < out->sets.size(); ++set)
            for (const std::string& result : out->results)
                out->sets[set][result] = std::move(given->sets[set][result]);
        return out;
    }

    /// What the outputs lose with these layers in float, the largest of them.
    Result<double> lossWith(const FloatGraph& graph, const FloatValues& expected,
                            const std::vector<std::string>& floatLayers)
    {
        QuantizeOptions options = m_options;
        options.floatNodes.insert(options.floatNodes.end(), floatLayers.begin(), floatLayers.end());
        const QuantizePlan plan = planQuantization(graph, options);
        if (Status done = observe(plan); !done) return done.error();
        ModelProto model = m_float;
        writeQdq(model, plan, rangesOf(plan), options);
        const auto loss = measureLoss(model, {}, expected, measuredData(), m_open, m_job);
        if (!loss) return loss.error();
        double largest = 0;
        for (const auto& [name, of] : *loss) largest = std::max(largest, of.share());
        return largest;
    }

    Status keepWithinLoss(const FloatGraph& graph)
    {
        if (m_options.largestLoss <= 0) return kDone;
        std::vector<std::string> layers;
        for (int i = 0; i < graph.nodeCount(); ++i)
            if (m_plan.nodes[static_cast<size_t>(i)].role == NodeRole::Layer)
                layers.push_back(graph.node(i).name());
        const auto expected = expectedValues({}, measuredData());
        if (!expected) return expected.error();
        auto harms = keepHarmfulInFloat(
            layers, m_options.largestLoss,
            [&](const std::vector<std::string>& floatLayers) {
                return lossWith(graph, *expected, floatLayers);
            },
            m_job);
        if (!harms) return harms.error();
        m_report.harms = *std::move(harms);
        for (const LayerHarm& harm : m_report.harms)
            if (harm.isFloat) m_options.floatNodes.push_back(harm.layer);
        m_plan = planQuantization(graph, m_options);
        const bool hasAny = std::any_of(m_plan.nodes.begin(), m_plan.nodes.end(),
                                        [](const PlannedNode& node) { return node.isQuantized(); });
        if (hasAny) return kDone;
        return makeError(DiagnosticCode::BadArgument,
                         "no layer can be quantized with a loss of at most " +
                             exact(m_options.largestLoss) + "; the least harmful one alone costs " +
                             exact(m_report.harms.back().loss));
    }

    void account(const FloatGraph& graph)
    {
        for (const PlannedTensor& tensor : m_plan.tensors) {
            const std::string& root = tensor.sameAs.empty() ? tensor.name : tensor.sameAs;
            const ValueHistogram& seen = m_seen.at(root).values;
            TensorAccount out{.name = tensor.name,
                              .least = seen.least(),
                              .greatest = seen.greatest(),
                              .range = m_ranges.at(root),
                              .expectedSqnrDb = expectedSqnrDb(seen, m_ranges.at(root)),
                              .sameAs = tensor.sameAs};
            if (tensor.producer >= 0) {
                out.node = graph.node(tensor.producer).name();
                out.op = graph.node(tensor.producer).op_type();
            }
            if (seen.least() == 0 && seen.greatest() == 0 && tensor.sameAs.empty())
                m_report.remarks.push_back(
                    makeWarning(DiagnosticCode::NumericMismatch,
                                quoted(tensor.name) +
                                    " is 0 for all data: what else it may be is rounded to whole "
                                    "numbers; give data that reach it",
                                {.node = out.node, .op = out.op}));
            m_report.tensors.push_back(std::move(out));
        }
        m_report.weights = std::move(m_names.weights);
    }

    Status measure()
    {
        const CalibrationData some = measuredData();
        m_report.measuredSets = some.size();
        if (some.empty()) return kDone;
        std::vector<std::string> names;
        for (const auto& [name, rounded] : m_names.dequantized) names.push_back(name);
        const auto expected = expectedValues(names, some);
        if (!expected) return expected.error();
        const auto loss =
            measureLoss(m_quantized, m_names.dequantized, *expected, some, m_open, m_job);
        if (!loss) return loss.error();
        for (TensorAccount& tensor : m_report.tensors)
            tensor.measuredSqnrDb = loss->at(tensor.name).sqnrDb();
        addMeasuredRanges(*expected, m_report.tensors);
        if (auto warning = exceededRanges(m_report.tensors, m_data.size(), some.size()))
            m_report.remarks.push_back(*std::move(warning));
        for (const std::string& result : expected->results) {
            const TensorLoss& of = loss->at(result);
            m_report.outputs.push_back({result, of.sqnrDb(), of.largest, of.cosine()});
        }
        return kDone;
    }

    const CalibrationData& m_data;
    QuantizeOptions m_options; ///< with the layers that turned out to be too harmful
    const OpenRunner& m_open;
    JobContext& m_job;
    std::optional<ModelProto> m_given; ///< before its layers were equalized
    ModelProto m_float, m_quantized;
    QuantizePlan m_plan;
    std::map<std::string, SeenTensor> m_seen;
    std::map<std::string, LinearRange> m_ranges;
    QdqNames m_names;
    QuantizeReport m_report;
};

} // namespace

std::optional<DataType> activationTypeOf(std::string_view name)
{
    for (const DataType dtype : {kInt8, kUInt8, kInt16, kUInt16})
        if (dtype.text() == name) return dtype;
    return std::nullopt;
}

Result<QuantizedModel> quantizeModel(const std::string& path, const CalibrationData& data,
                                     const QuantizeOptions& options, const OpenRunner& open,
                                     JobContext& job)
{
    return Quantization(data, options, open, job).run(path);
}

} // namespace tenon::compiler
