// SPDX-License-Identifier: Apache-2.0
// Sorts scores; what does not add up to 1 is taken for logarithms.
#include "app/runs/samples/ranking.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenon::runs {

namespace {

std::string labelOf(int64_t index, int64_t classes, const std::vector<std::string>& labels)
{
    const auto known = static_cast<int64_t>(labels.size());
    if (known + 1 == classes) {
        if (index == 0) return "background";
        --index;
    }
    return index < known ? labels[static_cast<size_t>(index)] : std::string();
}

/// Scores as probabilities; false when they were ones.
bool toProbabilities(std::vector<double>& values)
{
    constexpr double kSumTolerance = 0.02;
    double sum = 0;
    bool isShare = true;
    for (const double value : values) {
        sum += value;
        isShare = isShare && value >= 0 && value <= 1 + kSumTolerance;
    }
    if (isShare && std::abs(sum - 1) <= kSumTolerance) return false;
    const double most = *std::max_element(values.begin(), values.end());
    sum = 0;
    for (double& value : values) sum += value = std::exp(value - most);
    for (double& value : values) value /= sum;
    return true;
}

Ranking rankingOf(const std::vector<double>& scores, const std::vector<std::string>& labels,
                  int64_t count)
{
    Ranking out;
    std::vector<double> shares = scores;
    out.isSoftmax = toProbabilities(shares);
    const auto classes = static_cast<int64_t>(scores.size());
    std::vector<int64_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    const auto end = order.begin() + std::min(count, classes);
    std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
        const double x = scores[static_cast<size_t>(a)], y = scores[static_cast<size_t>(b)];
        return x != y ? x > y : a < b;
    });
    for (auto i = order.begin(); i != end; ++i)
        out.classes.push_back({*i, scores[static_cast<size_t>(*i)], shares[static_cast<size_t>(*i)],
                               labelOf(*i, classes, labels)});
    return out;
}

} // namespace

Result<std::vector<std::string>> readLabels(const std::string& path)
{
    constexpr size_t kMostBytes = size_t{16} << 20;
    const auto text = readFile(path);
    if (!text) return text.error();
    if (text->size() > kMostBytes || text->find('\0') != std::string::npos)
        return makeError(DiagnosticCode::BadArgument,
                         "this is no list of labels; write a text with a line for each class",
                         {.file = path});
    std::string_view rest = *text;
    if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3); // a mark of the encoding
    std::vector<std::string> labels;
    for (const std::string& line : split(rest, '\n')) labels.emplace_back(trimmed(line));
    while (!labels.empty() && labels.back().empty()) labels.pop_back();
    if (labels.empty())
        return makeError(DiagnosticCode::BadArgument, "the file of labels is empty",
                         {.file = path});
    return labels;
}

bool isScores(const Tensor& output)
{
    const std::vector<int64_t>& shape = output.shape();
    if (shape.empty()) return false;
    // [1, K], [N, K], and with sizes of 1 in between or behind: [1, K, 1, 1]
    int64_t large = 0;
    for (size_t i = shape.size() > 1 ? 1 : 0; i < shape.size(); ++i) large += shape[i] > 1;
    return large == 1 && output.size() > 0;
}

std::vector<Ranking> rankingsOf(const Tensor& output, const std::vector<std::string>& labels,
                                int64_t count)
{
    std::vector<Ranking> out;
    if (!isScores(output)) return out;
    const int64_t examples = output.shape().size() > 1 ? output.shape()[0] : 1;
    const int64_t classes = output.size() / examples;
    const std::vector<double> values = output.numbers();
    for (int64_t i = 0; i < examples; ++i)
        out.push_back(rankingOf({values.begin() + i * classes, values.begin() + (i + 1) * classes},
                                labels, count));
    return out;
}

} // namespace tenon::runs
