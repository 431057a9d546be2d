// SPDX-License-Identifier: Apache-2.0
// Who is to blame first, then every tensor, then what could not be compared.
#include "app/cli/compare_report.h"

#include "app/cli/short_title.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::cli {
namespace {

std::string digits(double value)
{
    if (!std::isfinite(value)) return exact(value);
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

std::string decibels(double sqnrDb)
{
    return sqnrDb == HUGE_VAL ? "exact" : std::isfinite(sqnrDb) ? fixed(sqnrDb, 1) : "none";
}

std::string cosineText(double cosine) { return fixed(cosine, cosine > 0.9999 ? 8 : 4); }

std::vector<std::string> rowOf(const Comparison& comparison, size_t index, bool hasNoise)
{
    const ComparedTensor& tensor = comparison.tensors[index];
    const TensorError& all = tensor.cumulative;
    std::string mark = all.isOutside ? (comparison.first() == index ? "first" : "out") : "";
    if (tensor.isolated && tensor.isolated->isOutside) mark += mark.empty() ? "own" : ", own";
    std::vector<std::string> out = {
        std::to_string(tensor.call),
        tensor.isInModel && tensor.isInReference ? tensor.name : "(" + tensor.name + ")",
        shortTitle(tensor.title.text().empty() ? tensor.function : tensor.title.text()),
        decibels(all.sqnrDb),
        digits(all.maxAbs),
        digits(all.maxUlps),
        cosineText(all.cosine),
        tensor.isolated ? decibels(tensor.isolated->sqnrDb) : "",
        tensor.isolated ? digits(tensor.isolated->maxAbs) : ""};
    if (hasNoise) out.push_back(tensor.noise ? decibels(tensor.noise->sqnrDb) : "");
    out.push_back(std::move(mark));
    return out;
}

std::string errorText(const TensorError& error)
{
    std::string out = decibels(error.sqnrDb) + (std::isfinite(error.sqnrDb) ? " dB" : "") +
                      ", largest difference " + digits(error.maxAbs);
    if (error.worst >= 0)
        out += " at element " + std::to_string(error.worst) + " (" + digits(error.worstGot) +
               " instead of " + digits(error.worstWanted) + ")";
    out +=
        ", " + thousands(error.outside) + " of " + thousands(error.elements) + " elements outside";
    if (error.saturated > 0) out += ", " + thousands(error.saturated) + " at an end of their type";
    if (error.steps)
        out += ", " + fixed(error.steps->mean, 1) + " steps of its own scale, in its worst part " +
               fixed(error.steps->part, 1);
    return out;
}

std::string histogramText(const TensorError& error)
{
    constexpr int kWidth = 40;
    const int64_t most = *std::max_element(error.histogram.begin(), error.histogram.end());
    std::vector<std::vector<std::string>> rows;
    for (int bin = 0; bin < kErrorBins; ++bin) {
        const int64_t count = error.histogram[static_cast<size_t>(bin)];
        if (count == 0) continue;
        const auto bar = static_cast<size_t>(
            std::ceil(kWidth * static_cast<double>(count) / static_cast<double>(most)));
        rows.push_back({"  " + errorBinText(bin), thousands(count), std::string(bar, '#')});
    }
    return "differences as shares of the tensor's root mean square, " + digits(error.referenceRms) +
           ":\n" + table(rows);
}

std::string noiseText(const ComparedTensor& tensor)
{
    return "  noise       " + errorText(*tensor.noise) + "\n" +
           (tensor.isNoise()
                ? "  sums in another order move this tensor as far: rounding alone can "
                  "explain the difference\n"
                : "  sums in another order alone move this tensor less\n");
}

/// Over all tensors, how many elements are outside, and how many rounding alone moves outside.
std::string noiseShareText(const Comparison::Share& share)
{
    const auto percent = [&](int64_t outside) {
        return fixed(100.0 * static_cast<double>(outside) / static_cast<double>(share.elements),
                     3) +
               " %";
    };
    return "of " + thousands(share.elements) + " elements " + percent(share.device) +
           " are outside; sums in another order alone move " + percent(share.noise) + " outside\n";
}

std::string verdict(const Comparison& comparison)
{
    const auto first = comparison.first();
    const std::vector<size_t> ranked = comparison.ranked();
    if (!first) {
        const bool hasFault = !ranked.empty() && comparison.tensors[ranked[0]].isolated &&
                              comparison.tensors[ranked[0]].isolated->isOutside;
        if (!hasFault) return "every tensor is within tolerance\n";
    }
    const ComparedTensor& tensor = comparison.tensors[first.value_or(ranked[0])];
    std::string out =
        (first ? "the first tensor outside tolerance is " : "outside on its own is ") +
        core::quoted(tensor.name) + ", " + tensor.type + "\n";
    out += "  kernel      " + tensor.title.text() + " (" + tensor.function + ")\n";
    out += "  nodes       " + join(tensor.nodes, ", ") + "\n";
    if (!tensor.form.empty()) out += "  held        " + tensor.form + "\n";
    if (tensor.units.scales.size() == 1)
        out += "  integers    scale " + digits(tensor.units.scales[0]) + ", zero point " +
               std::to_string(tensor.units.zeros[0]) + "\n";
    out += "  cumulative  " + errorText(tensor.cumulative) + "\n";
    if (tensor.isolated) out += "  isolated    " + errorText(*tensor.isolated) + "\n";
    const bool isOwn = tensor.isolated && tensor.isolated->isOutside;
    if (tensor.isolated)
        out += isOwn ? "  the kernel itself is off: its inputs were those of the reference\n"
                     : "  the kernel itself is within tolerance on the reference's inputs: the "
                       "error came to it\n";
    if (tensor.noise) out += noiseText(tensor);
    out += histogramText(tensor.cumulative);
    if (const ComparedTensor& worst = comparison.tensors[ranked[0]];
        &worst != &tensor && worst.isolated && worst.isolated->isOutside)
        out += "furthest off on its own is " + core::quoted(worst.name) + ": " +
               errorText(*worst.isolated) + "\n";
    return out;
}

Json errorJson(const TensorError& error)
{
    const auto number = [](double value) {
        return std::isfinite(value) ? Json(value) : Json(exact(value));
    };
    Json bins = Json::array();
    for (int bin = 0; bin < kErrorBins; ++bin)
        bins.push_back({{"share_of_rms", errorBinText(bin)},
                        {"elements", error.histogram[static_cast<size_t>(bin)]}});
    Json out{{"elements", error.elements},
             {"sqnr_db", number(error.sqnrDb)},
             {"rms_error", number(error.rms)},
             {"max_abs_error", number(error.maxAbs)},
             {"max_ulps", number(error.maxUlps)},
             {"cosine", number(error.cosine)},
             {"worst_element", error.worst},
             {"got", number(error.worstGot)},
             {"wanted", number(error.worstWanted)},
             {"outside", error.outside},
             {"saturated", error.saturated},
             {"reference_rms", number(error.referenceRms)},
             {"reference_largest", number(error.referenceLargest)},
             {"is_outside", error.isOutside},
             {"histogram", std::move(bins)}};
    if (error.steps)
        out["own_steps"] = {{"mean", number(error.steps->mean)},
                            {"part", number(error.steps->part)},
                            {"mean_in_range", number(error.steps->meanInRange)},
                            {"part_in_range", number(error.steps->partInRange)}};
    return out;
}

Json tensorJson(const ComparedTensor& tensor)
{
    Json out{{"name", tensor.name},
             {"in_model", tensor.isInModel},
             {"in_reference", tensor.isInReference},
             {"type", tensor.type},
             {"held", tensor.form},
             {"call", tensor.call},
             {"kernel", tensor.title.text()},
             {"function", tensor.function},
             {"nodes", tensor.nodes},
             {"set", tensor.set},
             {"cumulative", errorJson(tensor.cumulative)}};
    if (tensor.units.isQuantized()) {
        out["scales"] = tensor.units.scales;
        out["zero_points"] = tensor.units.zeros;
    }
    if (tensor.isolated) out["isolated"] = errorJson(*tensor.isolated);
    if (tensor.noise) out["noise"] = errorJson(*tensor.noise);
    return out;
}

/// A field of CSV: quoted where it must be.
std::string field(const std::string& text)
{
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    return "\"" + replaced(text, "\"", "\"\"") + "\"";
}

std::string absorbedText(const Comparison& comparison, bool isTold)
{
    if (comparison.absorbed.empty()) return {};
    std::string out = std::to_string(comparison.absorbed.size()) +
                      " tensors of the model are inside of fused kernels, in no memory of the "
                      "program: not compared" +
                      (isTold ? ":\n" : " (--absorbed lists them)\n");
    if (!isTold) return out;
    std::vector<std::vector<std::string>> rows;
    for (const AbsorbedValue& value : comparison.absorbed)
        rows.push_back({"  " + value.node, value.rule,
                        value.title.empty() ? value.reason : "inside of " + value.title});
    return out + table(rows);
}

} // namespace

std::string comparisonText(const Comparison& comparison, const CompareReport& report)
{
    std::vector<std::string> titles{"call", "tensor", "kernel",   "SQNR dB", "largest",
                                    "ulps", "cosine", "alone dB", "largest"};
    const auto noise = comparison.noiseShare();
    if (noise) titles.push_back("noise dB");
    titles.push_back("");
    std::vector<std::vector<std::string>> rows{std::move(titles)};
    std::vector<size_t> order = comparison.ranked();
    if (report.most == 0 || report.most >= order.size())
        std::sort(order.begin(), order.end());
    else
        order.resize(report.most);
    for (const size_t index : order) rows.push_back(rowOf(comparison, index, !!noise));
    std::string out = comparison.model + " " + comparison.place + " against " +
                      comparison.reference + ": " + std::to_string(comparison.tensors.size()) +
                      " tensors, " + std::to_string(comparison.sets) +
                      (comparison.sets == 1 ? " data set\n" : " data sets\n");
    out += table(rows) + absorbedText(comparison, report.tellsAbsorbed);
    for (const std::string& reason : comparison.notCompared) out += "note: " + reason + "\n";
    if (noise) out += noiseShareText(*noise);
    return out + verdict(comparison);
}

Json comparisonJson(const Comparison& comparison)
{
    Json tensors = Json::array(), absorbed = Json::array();
    for (const ComparedTensor& tensor : comparison.tensors) tensors.push_back(tensorJson(tensor));
    for (const AbsorbedValue& value : comparison.absorbed)
        absorbed.push_back({{"node", value.node},
                            {"kernel", value.title},
                            {"rule", value.rule},
                            {"reason", value.reason}});
    const auto first = comparison.first();
    return {{"model", comparison.model},
            {"target", comparison.target},
            {"executor", comparison.executor},
            {"opt_level", comparison.optLevel},
            {"place", comparison.place},
            {"reference", comparison.reference},
            {"sets", comparison.sets},
            {"builds", comparison.builds},
            {"first_outside", first ? Json(*first) : Json()},
            {"ranked", comparison.ranked()},
            {"tensors", std::move(tensors)},
            {"absorbed", std::move(absorbed)},
            {"not_compared", comparison.notCompared}};
}

std::string comparisonCsv(const Comparison& comparison)
{
    std::string out =
        "call,tensor,type,kernel,function,nodes,sqnr_db,max_abs_error,max_ulps,cosine,"
        "outside,elements,alone_sqnr_db,alone_max_abs_error,alone_outside,noise_sqnr_db,"
        "noise_outside\n";
    for (const ComparedTensor& tensor : comparison.tensors) {
        const TensorError& all = tensor.cumulative;
        std::vector<std::string> cells{std::to_string(tensor.call), field(tensor.name),
                                       field(tensor.type),          field(tensor.title.text()),
                                       field(tensor.function),      field(join(tensor.nodes, " ")),
                                       exact(all.sqnrDb),           exact(all.maxAbs),
                                       exact(all.maxUlps),          exact(all.cosine),
                                       std::to_string(all.outside), std::to_string(all.elements)};
        if (const auto& alone = tensor.isolated)
            cells.insert(cells.end(), {exact(alone->sqnrDb), exact(alone->maxAbs),
                                       std::to_string(alone->outside)});
        else
            cells.insert(cells.end(), {"", "", ""});
        if (const auto& noise = tensor.noise)
            cells.insert(cells.end(), {exact(noise->sqnrDb), std::to_string(noise->outside)});
        else
            cells.insert(cells.end(), {"", ""});
        out += join(cells, ",") + "\n";
    }
    return out;
}

} // namespace tenon::cli
