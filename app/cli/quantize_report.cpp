// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of a quantization.
#include "app/cli/quantize_report.h"

#include "app/cli/precision_report.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace tenon::cli {
namespace {

using compiler::QuantizeReport;
using compiler::TensorAccount;

constexpr size_t kMostChosen = 5;

std::string digits(double value, const char* format)
{
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string db(double value) { return digits(value, "%.1f"); }
std::string number(double value) { return digits(value, "%.6g"); }

/// Exporters join names of what they fused: the ends tell most.
std::string shortened(const std::string& name)
{
    constexpr size_t kMost = 44, kEnd = 20;
    if (name.size() <= kMost) return name;
    return name.substr(0, kMost - kEnd - 2) + ".." + name.substr(name.size() - kEnd);
}

std::vector<std::string> tensorRow(const TensorAccount& tensor)
{
    return {shortened(tensor.name),
            tensor.op.empty() ? "(input)" : tensor.op,
            number(tensor.least),
            number(tensor.greatest),
            number(tensor.range.least()),
            number(tensor.range.greatest()),
            tensor.range.dtype.text(),
            number(static_cast<double>(tensor.range.scale)),
            std::to_string(tensor.range.zero),
            db(tensor.expectedSqnrDb),
            db(tensor.measuredSqnrDb)};
}

std::string endsText(const QuantizeReport& report)
{
    std::string out;
    for (const compiler::IntegerEnd& end : report.ends)
        out += std::string(end.isInput ? "input " : "output ") + end.name + " is " +
               end.range.dtype.text() + ": scale " + number(static_cast<double>(end.range.scale)) +
               ", zero point " + std::to_string(end.range.zero) + "\n";
    return out.empty() ? out : "\n" + out;
}

Json endsJson(const QuantizeReport& report)
{
    Json out = Json::array();
    for (const compiler::IntegerEnd& end : report.ends)
        out.push_back({{"name", end.name},
                       {"is_input", end.isInput},
                       {"dtype", end.range.dtype.text()},
                       {"scale", end.range.scale},
                       {"zero_point", end.range.zero}});
    return out;
}

std::string tensorTable(const std::vector<const TensorAccount*>& tensors)
{
    std::vector<std::vector<std::string>> rows{{"tensor", "made by", "least", "greatest", "from",
                                                "to", "type", "scale", "zero", "expected dB",
                                                "measured dB"}};
    for (const TensorAccount* tensor : tensors) rows.push_back(tensorRow(*tensor));
    return table(rows);
}

/// All in the order of computation, or the worst that have a range of their own.
std::string tensorsText(const QuantizeReport& report, int verbosity)
{
    std::vector<const TensorAccount*> chosen;
    for (const TensorAccount& tensor : report.tensors)
        if (verbosity > 0 || tensor.sameAs.empty()) chosen.push_back(&tensor);
    if (verbosity > 0) return tensorTable(chosen);
    std::stable_sort(chosen.begin(), chosen.end(), [](const auto* a, const auto* b) {
        return a->measuredSqnrDb < b->measuredSqnrDb;
    });
    const size_t all = chosen.size();
    if (chosen.size() > kMostChosen) chosen.resize(kMostChosen);
    return "the worst " + std::to_string(chosen.size()) + " of " + std::to_string(all) +
           " tensors; -v lists all\n" + tensorTable(chosen);
}

std::string weightsText(const QuantizeReport& report)
{
    std::vector<std::vector<std::string>> rows{
        {"weight", "of", "type", "scales", "least scale", "greatest scale", "dB"}};
    for (const compiler::WeightAccount& weight : report.weights)
        rows.push_back({shortened(weight.name), shortened(weight.node), weight.dtype.text(),
                        std::to_string(weight.channels), number(weight.leastScale),
                        number(weight.greatestScale), db(weight.sqnrDb)});
    return rows.size() > 1 ? "\n" + table(rows) : "";
}

std::string floatsText(const QuantizeReport& report, int verbosity)
{
    if (report.floats.empty()) return "every operator computes with integers\n";
    std::string out = std::to_string(report.floats.size()) + " operators stay in float:\n";
    if (verbosity > 0) {
        for (const compiler::FloatNode& node : report.floats)
            out += "  " + node.node + " (" + node.op + "): " + node.reason + "\n";
        return out;
    }
    std::map<std::pair<std::string, std::string>, size_t> counts;
    for (const compiler::FloatNode& node : report.floats) ++counts[{node.op, node.reason}];
    for (const auto& [what, count] : counts)
        out += "  " + std::to_string(count) + " " + what.first + ": " + what.second + "\n";
    return out;
}

std::string equalizedText(const QuantizeReport& report, int verbosity)
{
    if (report.equalized.empty()) return {};
    if (verbosity == 0)
        return "pairs of layers that are equalized: " + std::to_string(report.equalized.size()) +
               "\n";
    std::vector<std::vector<std::string>> rows{
        {"equalized", "with", "channels", "least factor", "greatest factor"}};
    for (const compiler::EqualizedPair& pair : report.equalized)
        rows.push_back({shortened(pair.first), shortened(pair.second),
                        std::to_string(pair.channels), number(pair.least), number(pair.greatest)});
    return "\n" + table(rows);
}

Json tensorJson(const TensorAccount& tensor)
{
    Json out{{"name", tensor.name},
             {"node", tensor.node},
             {"op", tensor.op},
             {"least", tensor.least},
             {"greatest", tensor.greatest},
             {"from", tensor.range.least()},
             {"to", tensor.range.greatest()},
             {"dtype", tensor.range.dtype.text()},
             {"scale", tensor.range.scale},
             {"zero_point", tensor.range.zero},
             {"expected_sqnr_db", tensor.expectedSqnrDb},
             {"measured_sqnr_db", tensor.measuredSqnrDb},
             {"measured_least", tensor.measuredLeast},
             {"measured_greatest", tensor.measuredGreatest},
             {"exceeding_share", tensor.exceedingShare},
             {"clipped_share", tensor.clippedShare},
             {"histogram", tensor.counts}};
    if (!tensor.sameAs.empty()) out["same_as"] = tensor.sameAs;
    return out;
}

Json equalizedJson(const QuantizeReport& report)
{
    Json out = Json::array();
    for (const compiler::EqualizedPair& pair : report.equalized)
        out.push_back({{"first", pair.first},
                       {"second", pair.second},
                       {"channels", pair.channels},
                       {"least_factor", pair.least},
                       {"greatest_factor", pair.greatest}});
    return out;
}

} // namespace

std::string quantizeText(const QuantizeReport& report, int verbosity)
{
    std::string out = std::to_string(report.quantizedNodes) + " operators compute with integers, " +
                      std::to_string(report.dataSets) + " data sets";
    if (report.foldedBatchNorms > 0)
        out += ", " + std::to_string(report.foldedBatchNorms) + " batch normalizations folded";
    if (report.opset != report.givenOpset)
        out +=
            ", opset " + std::to_string(report.givenOpset) + " -> " + std::to_string(report.opset);
    out += "\n" + floatsText(report, verbosity);
    if (verbosity == 0) out += equalizedText(report, verbosity);
    out += "\n" + tensorsText(report, verbosity);
    if (verbosity > 0) out += weightsText(report) + equalizedText(report, verbosity);
    if (report.precisions) out += precisionsText(*report.precisions, verbosity);
    out += endsText(report);
    out += "\n";
    for (const compiler::OutputAccount& output : report.outputs)
        out += "output " + output.name + ": " + db(output.sqnrDb) +
               " dB against the float model, largest error " + number(output.largestError) +
               ", cosine " + digits(output.cosine, "%.6f") + "\n";
    return out + std::to_string(report.quantizedBytes) + " bytes, " +
           std::to_string(report.floatBytes) + " before\n" + pricesText(report);
}

Json quantizeJson(const QuantizeReport& report)
{
    Json tensors = Json::array(), weights = Json::array(), floats = Json::array(),
         outputs = Json::array(), remarks = Json::array();
    for (const TensorAccount& tensor : report.tensors) tensors.push_back(tensorJson(tensor));
    for (const compiler::WeightAccount& weight : report.weights)
        weights.push_back({{"name", weight.name},
                           {"node", weight.node},
                           {"op", weight.op},
                           {"dtype", weight.dtype.text()},
                           {"scales", weight.channels},
                           {"least_scale", weight.leastScale},
                           {"greatest_scale", weight.greatestScale},
                           {"sqnr_db", weight.sqnrDb}});
    for (const compiler::FloatNode& node : report.floats)
        floats.push_back({{"node", node.node}, {"op", node.op}, {"reason", node.reason}});
    for (const compiler::OutputAccount& output : report.outputs)
        outputs.push_back({{"name", output.name},
                           {"sqnr_db", output.sqnrDb},
                           {"largest_error", output.largestError},
                           {"cosine", output.cosine}});
    for (const Diagnostic& remark : report.remarks) remarks.push_back(diagnosticJson(remark));
    Json out{{"data_sets", report.dataSets},
             {"measured_sets", report.measuredSets},
             {"quantized_nodes", report.quantizedNodes},
             {"folded_batch_norms", report.foldedBatchNorms},
             {"opset", report.opset},
             {"given_opset", report.givenOpset},
             {"bytes", report.quantizedBytes},
             {"float_bytes", report.floatBytes},
             {"tensors", std::move(tensors)},
             {"weights", std::move(weights)},
             {"float_nodes", std::move(floats)},
             {"outputs", std::move(outputs)},
             {"equalized", equalizedJson(report)},
             {"integer_ends", endsJson(report)},
             {"remarks", std::move(remarks)}};
    if (report.precisions) out["precisions"] = precisionsJson(*report.precisions);
    if (report.before) out["before"] = pricedJson(*report.before);
    if (report.after) out["after"] = pricedJson(*report.after);
    return out;
}

} // namespace tenon::cli
