// SPDX-License-Identifier: Apache-2.0
// The steps of post-training quantization in their order.
#include "compiler/quantize/quantize.h"

#include "compiler/quantize/chosen_ranges.h"
#include "compiler/quantize/equalize_layers.h"
#include "compiler/quantize/exceeded_ranges.h"
#include "compiler/quantize/fold_batch_norm.h"
#include "compiler/quantize/fold_constant_nodes.h"
#include "compiler/quantize/integer_ends.h"
#include "compiler/quantize/layer_precisions.h"
#include "compiler/quantize/measure_loss.h"
#include "compiler/quantize/observe.h"
#include "compiler/quantize/priced_files.h"
#include "compiler/quantize/quantize_checks.h"
#include "compiler/quantize/quantize_plan.h"
#include "compiler/quantize/raise_opset.h"
#include "compiler/quantize/write_qdq.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

constexpr size_t kShownParts = 64;

/// One quantization under way.
class Quantization
{
public:
    Quantization(const CalibrationData& data, const QuantizeOptions& options,
                 const OpenRunner& open, JobContext& job)
        : m_data(data)
        , m_options(options)
        , m_askedFloats(options.floatNodes.begin(), options.floatNodes.end())
        , m_job(job)
        , m_inner(&job)
        , m_open([this, &open](std::shared_ptr<const Loaded> model, JobContext&) {
            return open(std::move(model), m_inner); // runners keep it
        })
        , m_ranges(options.activations)
    {
    }

    Result<QuantizedModel> run(const std::string& path)
    {
        m_path = path;
        if (Status done = prepare(path); !done) return done.error();
        const FloatGraph graph(m_float.graph());
        m_plan = planQuantization(graph, m_options);
        if (Status done = checkPlan(graph); !done) return done.error();
        if (Status done = observe(m_plan); !done) return done.error();
        if (Status done = choose(graph); !done) return done.error();
        listFloats(graph);
        auto written = write(m_plan, m_options);
        if (!written) return written.error();
        m_quantized = std::move(written->first);
        m_names = std::move(written->second);
        m_quantized.set_producer_name("tenon");
        m_report.opset = opsetOf(m_quantized);
        account(graph);
        if (auto few = fewExamples(m_data.size())) m_report.remarks.push_back(*std::move(few));
        if (Status done = measure(); !done) return done.error();
        return finish();
    }

private:
    Status prepare(const std::string& path)
    {
        auto model = readOnnxDocument(path, m_options.sizes);
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
            const bool isHarmful =
                !m_askedFloats.contains(name) &&
                std::find(m_options.floatNodes.begin(), m_options.floatNodes.end(), name) !=
                    m_options.floatNodes.end();
            m_report.floats.push_back(
                {name, graph.node(i).op_type(),
                 isHarmful ? "it costs the model's outputs the most" : node.reason});
        }
    }

    Status checkPlan(const FloatGraph& graph)
    {
        listFloats(graph);
        if (m_report.quantizedNodes > 0) return kDone;
        Diagnostic error = makeError(DiagnosticCode::BadModel,
                                     "no operator of the model can compute with integers");
        if (const std::string reason = otherFloatsReason(m_float); !reason.empty())
            error.notes.push_back({Severity::Note, DiagnosticCode::BadModel, reason, {}});
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
        if (!names.empty()) {
            auto seen = observeValues(m_float, names, m_data, m_open, m_job);
            if (!seen) return seen.error();
            if (Status done = m_ranges.choose(names, *seen, m_job); !done) return done;
            m_seen.merge(*seen);
        }
        const FloatGraph graph(m_float.graph());
        const auto rangeOf = [&](const PlannedTensor& tensor) { return m_ranges.whole(tensor); };
        return m_ranges.narrow({m_float, graph, plan, rangeOf}, m_open, m_job);
    }

    std::map<std::string, RoundedTensor> rangesOf(const QuantizePlan& plan) const
    {
        std::map<std::string, RoundedTensor> out;
        for (const PlannedTensor& tensor : plan.tensors) {
            const bool isOwn = tensor.sameAs.empty();
            const std::string& root = isOwn ? tensor.name : tensor.sameAs;
            RoundedTensor rounded{.range = m_ranges.of(tensor), .channelMeans = {}};
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

    /// The model with its quantizers; 16 bits need a later version of the operators.
    Result<std::pair<ModelProto, QdqNames>> write(const QuantizePlan& plan,
                                                  const QuantizeOptions& options) const
    {
        ModelProto model = m_float;
        if (std::any_of(plan.tensors.begin(), plan.tensors.end(),
                        [](const PlannedTensor& tensor) { return tensor.isWide; }))
            if (Status done = raiseOpset(model, kWideOpset); !done) return done.error();
        QdqNames names = writeQdq(model, plan, rangesOf(plan), options);
        return std::pair{std::move(model), std::move(names)};
    }

    Result<ModelProto> written(const FloatGraph& graph, const QuantizeOptions& options)
    {
        const QuantizePlan plan = planQuantization(graph, options);
        if (Status done = observe(plan); !done) return done.error();
        auto made = write(plan, options);
        if (!made) return made.error();
        return std::move(made->first);
    }

    /// What the outputs lose, the largest of them.
    Result<double> lossOf(const ModelProto& model, const FloatValues& expected)
    {
        const auto loss = measureLoss(model, {}, expected, measuredData(), m_open, m_inner);
        if (!loss) return loss.error();
        double largest = 0;
        for (const auto& [name, of] : *loss) largest = std::max(largest, of.share());
        return largest;
    }

    /// Precisions of layers, where limits or the sensitivity were asked for.
    Status choose(const FloatGraph& graph)
    {
        if (!m_options.limits.isAny() && !m_options.measuresSensitivity) return kDone;
        const PrecisionCosts costs = layersOf(graph, m_options);
        const auto expected = expectedValues({}, measuredData());
        if (!expected) return expected.error();
        const MixQuestion question{
            .limits = m_options.limits,
            .measuresCurve = m_options.measuresSensitivity,
            .measures16Bits = measures16Bits(),
            .price = pricedAsFiles(m_options.price, sizesOf(m_float, m_data), m_inner)};
        const MixTools tools{
            .lossOf = [&](const PrecisionChoice& choice) -> Result<double> {
                const auto model = written(graph, optionsFor(m_options, costs, choice));
                return model ? lossOf(*model, *expected) : Result<double>(model.error());
            },
            .write = [&](const PrecisionChoice& choice) -> Result<std::string> {
                const auto model = written(graph, optionsFor(m_options, costs, choice));
                return model ? model->SerializeAsString() : Result<std::string>(model.error());
            }};
        auto chosen = choosePrecisions(costs, question, tools, m_job);
        if (!chosen) return chosen.error();
        m_options = optionsFor(m_options, costs, chosen->choice);
        m_report.precisions = *std::move(chosen);
        m_plan = planQuantization(graph, m_options);
        if (Status done = observe(m_plan); !done) return done;
        return checkChoice();
    }

    bool measures16Bits()
    {
        if (m_options.activations.dtype.bits > 8) return false;
        if (m_options.wider != Precision::Int16 && !m_options.measuresSensitivity) return false;
        ModelProto model = m_float;
        return static_cast<bool>(raiseOpset(model, kWideOpset));
    }

    Status checkChoice() const
    {
        for (const PlannedNode& node : m_plan.nodes)
            if (node.isQuantized()) return kDone;
        if (m_options.limits.loss <= 0)
            return makeError(DiagnosticCode::BadArgument,
                             "there is room for the whole model in float; lower the budget");
        double least = HUGE_VAL;
        for (const LayerCost& layer : m_report.precisions->costs.layers)
            least = std::min(least, layer.loss[0]);
        return makeError(DiagnosticCode::BadArgument,
                         "no layer can be quantized with a loss of at most " +
                             exact(m_options.limits.loss) + "; the least harmful one alone costs " +
                             exact(least));
    }

    void account(const FloatGraph& graph)
    {
        for (const PlannedTensor& tensor : m_plan.tensors) {
            const std::string& root = tensor.sameAs.empty() ? tensor.name : tensor.sameAs;
            const ValueHistogram& seen = m_seen.at(root).values;
            TensorAccount out{.name = tensor.name,
                              .least = seen.least(),
                              .greatest = seen.greatest(),
                              .range = m_ranges.of(tensor),
                              .sameAs = tensor.sameAs,
                              .counts = seen.counts(kShownParts)};
            m_ranges.addNoise(seen, out);
            if (tensor.producer >= 0) {
                out.node = graph.node(tensor.producer).name();
                out.op = graph.node(tensor.producer).op_type();
            }
            if (auto warning = sameForAll(out, seen))
                m_report.remarks.push_back(*std::move(warning));
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
        auto expected = expectedValues(names, some);
        if (!expected) return expected.error();
        expected->limits = m_ranges.limits();
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

    Status price(const std::string& bytes)
    {
        if (!m_options.price) return kDone;
        m_job.progress(0.95, "the models before and after: compiling, running");
        ImportOptions sizes = sizesOf(m_float, m_data);
        sizes.shapes.insert(m_options.sizes.shapes.begin(), m_options.sizes.shapes.end());
        const auto prices = pricesOf(m_options.price, m_path, bytes, sizes, m_inner);
        if (prices) {
            m_report.before = prices->before;
            m_report.after = prices->after;
        } else if (m_options.needsPrice || m_job.stopRequested()) {
            return prices.error();
        } else {
            m_report.remarks.push_back(priceIsNotTold(prices.error()));
        }
        return kDone;
    }

    /// The file, and what it takes where it is to run.
    Result<QuantizedModel> finish()
    {
        if (m_options.hasIntegerEnds) makeEndsInteger(m_quantized, m_report);
        QuantizedModel out{.bytes = m_quantized.SerializeAsString(), .report = {}};
        m_report.quantizedBytes = out.bytes.size();
        if (const Status known = price(out.bytes); !known) return known.error();
        out.report = std::move(m_report);
        return out;
    }

    const CalibrationData& m_data;
    QuantizeOptions m_options; ///< with the layers that turned out to be too harmful
    const std::set<std::string> m_askedFloats;
    JobContext& m_job;
    JobContext m_inner;      ///< of what is a part of something else, and reports nothing
    const OpenRunner m_open; ///< with that
    std::string m_path;
    std::optional<ModelProto> m_given; ///< before its layers were equalized
    ModelProto m_float, m_quantized;
    QuantizePlan m_plan;
    std::map<std::string, SeenTensor> m_seen;
    ChosenRanges m_ranges;
    QdqNames m_names;
    QuantizeReport m_report;
};

} // namespace

Result<QuantizedModel> quantizeModel(const std::string& path, const CalibrationData& data,
                                     const QuantizeOptions& options, const OpenRunner& open,
                                     JobContext& job)
{
    return Quantization(data, options, open, job).run(path);
}

} // namespace tenon::compiler
