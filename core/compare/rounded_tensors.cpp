// SPDX-License-Identifier: Apache-2.0
// Asks readers about clipping first, since they are judged by their own errors alone.
#include "core/compare/rounded_tensors.h"

#include "core/base/check.h"

#include <algorithm>

namespace tenon::core {
namespace {

bool isOwnFault(const ComparedTensor& tensor)
{
    return tensor.isolated && tensor.isolated->isOutside;
}

/// Whether nothing but clipping is wrong with it, and no reader is moved by that.
bool isClippedInVain(const Comparison& comparison, size_t index, const TensorReaders& readers)
{
    const ComparedTensor& tensor = comparison.tensors[index];
    if (!isOwnFault(tensor) || !tensor.isolated->steps) return false;
    if (tensor.isolated->steps->isBeyondInRange(comparison.limits)) return false;
    return !readers.isResult && !readers.hasOthers && !readers.tensors.empty() &&
           std::all_of(readers.tensors.begin(), readers.tensors.end(), [&](size_t reader) {
               const auto& alone = comparison.tensors[reader].isolated;
               return alone && !alone->isOutside;
           });
}

/// Down from integers that are a step off, as far as tensors are known.
void spreadSteps(Comparison& comparison, const std::vector<TensorReaders>& readers)
{
    for (size_t i = 0; i < readers.size(); ++i) { // in order of execution
        const TensorError& error = comparison.tensors[i].cumulative;
        if (!error.isSteppedInside && !error.isRounded) continue;
        for (const size_t reader : readers[i].tensors)
            comparison.tensors[reader].cumulative.isRounded = true;
    }
}

} // namespace

void judgeRounded(Comparison& comparison, const std::vector<TensorReaders>& readers)
{
    CHECK(readers.size() == comparison.tensors.size()) << "every tensor has its readers";
    spreadSteps(comparison, readers);
    std::vector<size_t> inVain;
    for (size_t i = 0; i < readers.size(); ++i)
        if (isClippedInVain(comparison, i, readers[i])) inVain.push_back(i);
    for (const size_t i : inVain) comparison.tensors[i].isolated->isOutside = false;
    for (size_t i = 0; i < readers.size(); ++i) {
        ComparedTensor& tensor = comparison.tensors[i];
        TensorError& all = tensor.cumulative;
        if (!all.isRounded) {
            all.isOutside |= isOwnFault(tensor);
            continue;
        }
        const bool isHeldToDecibels = !tensor.isolated || readers[i].isResult;
        all.isOutside =
            isOwnFault(tensor) || (isHeldToDecibels && all.sqnrDb < comparison.limits.leastMixedDb);
    }
}

} // namespace tenon::core
