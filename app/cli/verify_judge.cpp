// SPDX-License-Identifier: Apache-2.0
// Compares outputs with expected ones element by element, within a tolerance by type.
#include "app/cli/verify_judge.h"

#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace tenon::cli {
namespace {

struct Element
{
    double difference = 0; ///< infinite where only one of them is finite
    double excess = 0;     ///< beyond the tolerance; 0 or less: within
};

Element compare(double have, double want, double allowed)
{
    if (want == have || (std::isnan(want) && std::isnan(have))) return {0, -1};
    const double difference = std::fabs(want - have);
    if (!std::isfinite(difference)) return {HUGE_VAL, HUGE_VAL};
    return {difference, difference <= allowed ? -1 : difference - allowed};
}

double allowedAt(const Tensor& wanted, int64_t i, const Tolerance& tolerance)
{
    if (!wanted.dtype().isFloat()) return static_cast<double>(tolerance.steps);
    return tolerance.relative * std::fabs(wanted.number(i)) + tolerance.absolute;
}

/// How far one step moves element i.
double reachAt(const StepEffect& effect, int64_t i)
{
    double reach = 0;
    const double exact = effect.exact.number(i);
    for (const Tensor& moved : effect.moved) {
        const double difference = std::fabs(moved.number(i) - exact);
        if (std::isfinite(difference)) reach = std::max(reach, difference);
    }
    return reach;
}

/// An integer that no quantized tensor itself is (an index, a class) must be one that a step gives.
bool isExplained(const StepEffect& effect, const Tensor& got, int64_t i, double excess)
{
    const double reach = reachAt(effect, i);
    if (got.dtype().isFloat()) return excess <= reach;
    if (excess <= 1) return reach >= 1;
    return std::any_of(effect.moved.begin(), effect.moved.end(),
                       [&](const Tensor& moved) { return moved.number(i) == got.number(i); });
}

int64_t mayStepOf(const StepEffect& effect, int64_t elements)
{
    const double movable =
        std::max(1.0, std::floor(kStepShare * static_cast<double>(effect.elements)));
    return static_cast<int64_t>(
        std::min(movable * static_cast<double>(effect.spread), static_cast<double>(elements)));
}

std::string elementsText(int64_t some, int64_t all)
{
    return std::to_string(some) + " of " + std::to_string(all) + " elements";
}

Judgement judgeAll(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance,
                   const StepEffect* effect)
{
    if (got.shape() != wanted.shape() || got.dtype() != wanted.dtype())
        return {.reason = "got " + got.typeText() + " instead of " + wanted.typeText()};
    if (effect && (effect->exact.shape() != got.shape() || effect->exact.dtype() != got.dtype()))
        effect = nullptr;
    Judgement out{.elements = wanted.size()};
    if (effect) out.mayStep = mayStepOf(*effect, out.elements);
    int64_t worst = -1;
    double worstExcess = 0, sum = 0;
    for (int64_t i = 0; i < wanted.size(); ++i) {
        const double want = wanted.number(i), have = got.number(i);
        const Element element = compare(have, want, allowedAt(wanted, i, tolerance));
        if (std::isfinite(element.difference))
            out.maxAbsError = std::max(out.maxAbsError, element.difference);
        sum += element.difference;
        if (element.excess <= 0) continue;
        ++out.outside;
        if (effect && isExplained(*effect, got, i, element.excess)) {
            ++out.steps;
            out.allowed = std::max(out.allowed, reachAt(*effect, i));
            continue;
        }
        if (worst < 0 || element.excess > worstExcess) worst = i, worstExcess = element.excess;
    }
    const double elements = static_cast<double>(std::max<int64_t>(out.elements, 1));
    if (const double share = static_cast<double>(out.outside) / elements;
        share <= tolerance.mayDiffer)
        worst = -1;
    if (tolerance.meanAbsolute && sum / elements > *tolerance.meanAbsolute)
        out.reason = "the mean absolute difference is " + exact(sum / elements) + " but at most " +
                     exact(*tolerance.meanAbsolute) + " is allowed";
    else if (worst >= 0)
        out.reason = elementsText(out.outside - out.steps, out.elements) + " differ" +
                     (effect ? " by more than one step of the last quantized tensors" : "") +
                     ", worst at " + std::to_string(worst) + ": got " + exact(got.number(worst)) +
                     " instead of " + exact(wanted.number(worst));
    else if (out.steps > out.mayStep)
        out.reason = elementsText(out.steps, out.elements) +
                     " are one step of the last quantized tensors off, but at most " +
                     std::to_string(out.mayStep) + " may be";
    return out;
}

} // namespace

Judgement judge(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance)
{
    return judgeAll(got, wanted, tolerance, nullptr);
}

Judgement judge(const Tensor& got, const Tensor& wanted, const Tolerance& tolerance,
                const StepEffect& effect)
{
    return judgeAll(got, wanted, tolerance, &effect);
}

} // namespace tenon::cli
