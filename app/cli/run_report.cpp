// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of outputs.
#include "app/cli/run_report.h"

#include "app/runs/samples/ranking.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/printable.h"
#include "core/base/text.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace tenon::cli {
namespace {

struct Statistics
{
    double least = 0;
    double most = 0;
    double mean = 0;
};

Statistics statisticsOf(const Tensor& tensor)
{
    Statistics out;
    const std::vector<double> values = tensor.numbers();
    if (values.empty()) return out;
    out.least = *std::min_element(values.begin(), values.end());
    out.most = *std::max_element(values.begin(), values.end());
    out.mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    return out;
}

std::vector<int64_t> topIndices(const Tensor& tensor, int64_t count)
{
    const std::vector<double> values = tensor.numbers();
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + std::min<int64_t>(count, static_cast<int64_t>(order.size()));
    std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
        const double x = values[static_cast<size_t>(a)];
        const double y = values[static_cast<size_t>(b)];
        return x != y ? x > y : a < b;
    });
    return {order.begin(), end};
}

/// The largest of each example as classes; empty where the output holds none.
Json rankingsJson(const Tensor& value, const OutputsReport& options)
{
    Json examples = Json::array();
    for (const runs::Ranking& ranking : runs::rankingsOf(value, options.labels, options.top)) {
        Json classes = Json::array();
        for (const runs::RankedClass& ranked : ranking.classes)
            classes.push_back({{"index", ranked.index},
                               {"label", ranked.label},
                               {"value", ranked.value},
                               {"probability", ranked.probability}});
        examples.push_back({{"softmax", ranking.isSoftmax}, {"top", std::move(classes)}});
    }
    return examples;
}

std::string rankingsText(const Tensor& value, const OutputsReport& options)
{
    constexpr double kPercent = 100;
    std::vector<std::vector<std::string>> rows;
    bool isSoftmax = false;
    const auto rankings = runs::rankingsOf(value, options.labels, options.top);
    for (size_t i = 0; i < rankings.size(); ++i) {
        isSoftmax = isSoftmax || rankings[i].isSoftmax;
        for (const runs::RankedClass& ranked : rankings[i].classes)
            rows.push_back({rankings.size() > 1 ? "  " + std::to_string(i) : " ",
                            fixed(ranked.probability * kPercent, 2) + " %",
                            "class " + std::to_string(ranked.index), printable(ranked.label),
                            "(" + exact(ranked.value) + ")"});
    }
    return table(rows) + (isSoftmax ? "  probabilities are the softmax of these scores\n" : "");
}

Json outputJson(const ManifestTensor& spec, const Tensor& value, const OutputsReport& options)
{
    const Statistics statistics = statisticsOf(value);
    Json out{{"name", spec.name},       {"dtype", spec.dtype},    {"shape", value.shape()},
             {"min", statistics.least}, {"max", statistics.most}, {"mean", statistics.mean}};
    if (options.ranks && runs::isScores(value)) out["examples"] = rankingsJson(value, options);
    for (const int64_t index :
         options.top > 0 ? topIndices(value, options.top) : std::vector<int64_t>{})
        out["top"].push_back({{"index", index}, {"value", value.number(index)}});
    return out;
}

std::string outputText(const ManifestTensor& spec, const Tensor& value,
                       const OutputsReport& options)
{
    const Statistics statistics = statisticsOf(value);
    std::string out = elided(spec.name) + " " + value.typeText() + "  min " +
                      exact(statistics.least) + "  max " + exact(statistics.most) + "  mean " +
                      exact(statistics.mean) + "\n";
    if (options.top <= 0) return out;
    if (options.ranks && runs::isScores(value)) return out + rankingsText(value, options);
    for (const int64_t index : topIndices(value, options.top))
        out += "  " + std::to_string(index) + "  " + exact(value.number(index)) + "\n";
    return out;
}

remote::NamedTensors namedOutputs(const Manifest& manifest, const std::vector<Tensor>& outputs)
{
    remote::NamedTensors out;
    for (size_t i = 0; i < outputs.size() && i < manifest.outputs.size(); ++i)
        out.emplace_back(manifest.outputs[i].name, outputs[i]);
    return out;
}

} // namespace

Status writeTensors(const std::string& folder, const std::string& prefix,
                    const std::vector<std::string>& suffixes, const remote::NamedTensors& tensors)
{
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed)
        return makeError(DiagnosticCode::IoFailure, "cannot create the folder", {.file = folder});
    for (size_t i = 0; i < tensors.size(); ++i) {
        const std::string base = folder + "/" + prefix + std::to_string(i);
        for (const std::string& suffix : suffixes)
            if (Status s =
                    compiler::writeTensorFile(base + suffix, tensors[i].second, tensors[i].first);
                !s)
                return s;
    }
    return kDone;
}

int tellOutputs(const Manifest& manifest, const std::vector<Tensor>& outputs, const RunPlace& place,
                const OutputsReport& options)
{
    Json list = Json::array();
    for (size_t i = 0; i < outputs.size() && i < manifest.outputs.size(); ++i) {
        list.push_back(outputJson(manifest.outputs[i], outputs[i], options));
        if (!options.isJson) print(outputText(manifest.outputs[i], outputs[i], options));
    }
    if (options.isJson) {
        Json all{{"place", place.name}, {"sha256", place.sha256}, {"outputs", std::move(list)}};
        all.update(options.more);
        printJson(all);
    }
    if (options.folder.empty()) return kSuccess;
    const Status written =
        writeTensors(options.folder, "output_", {".pb", ".npy"}, namedOutputs(manifest, outputs));
    return written ? kSuccess : failure(written.error());
}

} // namespace tenon::cli
