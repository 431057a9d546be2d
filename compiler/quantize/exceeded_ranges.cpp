// SPDX-License-Identifier: Apache-2.0
// Counting data sets that go beyond.
#include "compiler/quantize/exceeded_ranges.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tenon::compiler {
namespace {

/// A set goes beyond when more of its values do: single ones say little.
constexpr double kShareOfValues = 0.001;
/// From here on less than a fifth of others go beyond; a hundred leave a fiftieth.
constexpr size_t kEnoughSets = 10;
constexpr double kDeviations = 4, kSlack = 0.02, kMostShare = 0.75;

/// That one more of the same kind is the least or the greatest.
double chanceToExceed(size_t dataSets)
{
    return std::min(2 / static_cast<double>(dataSets + 1), 1.0);
}

std::string rangeText(double least, double greatest)
{
    std::array<char, 60> text{};
    std::snprintf(text.data(), text.size(), "%.4g to %.4g", least, greatest);
    return text.data();
}

} // namespace

void addMeasuredRanges(const FloatValues& measured, std::vector<TensorAccount>& tensors)
{
    for (TensorAccount& tensor : tensors) {
        tensor.measuredLeast = HUGE_VAL;
        tensor.measuredGreatest = -HUGE_VAL;
        const double slack = static_cast<double>(tensor.range.scale) / 2;
        size_t exceeding = 0;
        for (const auto& set : measured.sets) {
            const std::span<const float> values = set.at(tensor.name).as<float>();
            size_t beyond = 0;
            for (const float value : values) {
                const auto x = static_cast<double>(value);
                tensor.measuredLeast = std::min(tensor.measuredLeast, x);
                tensor.measuredGreatest = std::max(tensor.measuredGreatest, x);
                beyond += x < tensor.least - slack || x > tensor.greatest + slack;
            }
            exceeding +=
                static_cast<double>(beyond) > kShareOfValues * static_cast<double>(values.size());
        }
        tensor.exceedingShare =
            static_cast<double>(exceeding) / static_cast<double>(measured.sets.size());
    }
}

std::optional<Diagnostic> fewExamples(size_t dataSets)
{
    if (dataSets >= kEnoughSets) return std::nullopt;
    return makeWarning(DiagnosticCode::NumericMismatch,
                       "ranges come from " + std::to_string(dataSets) +
                           (dataSets == 1 ? " example" : " examples") +
                           " only; any other goes beyond that of a tensor with a chance of " +
                           fixed(chanceToExceed(dataSets) * 100, 0) +
                           " % and is clipped there; 100 examples leave 2 %");
}

std::optional<Diagnostic> exceededRanges(const std::vector<TensorAccount>& tensors, size_t dataSets,
                                         size_t measuredSets)
{
    const double chance = chanceToExceed(dataSets);
    const double deviation = std::sqrt(chance * (1 - chance) / static_cast<double>(measuredSets));
    const double limit = std::min(chance + kDeviations * deviation + kSlack, kMostShare);
    const TensorAccount* first = nullptr;
    size_t count = 0, all = 0;
    for (const TensorAccount& tensor : tensors) {
        if (!tensor.sameAs.empty()) continue;
        ++all;
        if (tensor.exceedingShare <= limit) continue;
        ++count;
        if (!first) first = &tensor;
    }
    if (!first) return std::nullopt;
    return makeWarning(
        DiagnosticCode::NumericMismatch,
        "the data to calibrate with do not represent those that were measured: " +
            std::to_string(count) + " of " + std::to_string(all) +
            " tensors go beyond what was seen, the first one " + quoted(first->name) + ", " +
            rangeText(first->measuredLeast, first->measuredGreatest) + " where " +
            rangeText(first->least, first->greatest) + " was seen, in " +
            fixed(first->exceedingShare * 100, 0) +
            " % of the examples; calibrate with examples like those that the model will see",
        {.node = first->node, .op = first->op});
}

std::optional<Diagnostic> sameForAll(const TensorAccount& tensor, const ValueHistogram& seen)
{
    if (!tensor.sameAs.empty() || seen.least() != seen.greatest()) return std::nullopt;
    const bool isZero = seen.least() == 0;
    if (!isZero && !tensor.node.empty()) return std::nullopt;
    return makeWarning(DiagnosticCode::NumericMismatch,
                       quoted(tensor.name) + " is " + exact(seen.least()) + " for all data: " +
                           (isZero ? "what else it may be is rounded to whole numbers"
                                   : "what lies beyond that and 0 is clipped") +
                           "; give data that reach it",
                       {.node = tensor.node, .op = tensor.op});
}

} // namespace tenon::compiler
