// SPDX-License-Identifier: Apache-2.0
// Ranges of 8 and of 16 bits beside each other: a plan takes either.
#include "compiler/quantize/chosen_ranges.h"

#include <algorithm>

namespace tenon::compiler {

ChosenRanges::ChosenRanges(RangeOptions options)
    : m_options(options)
{
}

Status ChosenRanges::choose(const std::vector<std::string>& names,
                            const std::map<std::string, SeenTensor>& seen, JobContext& job)
{
    std::vector<LinearRange> ranges(names.size());
    std::vector<LinearRange> wide(names.size());
    RangeOptions inWide = m_options;
    inWide.dtype = inWide.dtype.isSigned() ? kInt16 : kUInt16;
    const Status chosen = job.parallelFor(names.size(), [&](size_t i) {
        ranges[i] = chooseRange(seen.at(names[i]).values, m_options);
        wide[i] = chooseRange(seen.at(names[i]).values, inWide);
        return Status(kDone);
    });
    if (!chosen) return chosen;
    for (size_t i = 0; i < names.size(); ++i) {
        m_ranges[names[i]] = ranges[i];
        m_wideRanges[names[i]] = wide[i];
    }
    return kDone;
}

Status ChosenRanges::narrow(const FlatEndsSite& site, const OpenRunner& open, JobContext& job)
{
    auto limits = m_flat.of(site, open, job);
    if (!limits) return limits.error();
    m_limits = *std::move(limits);
    return kDone;
}

const LinearRange& ChosenRanges::whole(const PlannedTensor& tensor) const
{
    const std::string& root = tensor.sameAs.empty() ? tensor.name : tensor.sameAs;
    return tensor.isWide ? m_wideRanges.at(root) : m_ranges.at(root);
}

LinearRange ChosenRanges::of(const PlannedTensor& tensor) const
{
    const LinearRange& range = whole(tensor);
    const auto limits = m_limits.find(tensor.name);
    if (limits == m_limits.end()) return range;
    return linearRange(std::max(range.least(), limits->second.least),
                       std::min(range.greatest(), limits->second.greatest), range.dtype,
                       m_options.isSymmetric);
}

void ChosenRanges::addNoise(const ValueHistogram& seen, TensorAccount& tensor) const
{
    const auto found = m_limits.find(tensor.name);
    const ValueLimits limits = found == m_limits.end() ? ValueLimits{} : found->second;
    const double least = tensor.range.least(), greatest = tensor.range.greatest();
    const double step = tensor.range.scale; // that the ends are rounded by
    // What loses no more than any value by rounding is not clipped; the scale is rounded, too.
    const double reach = 0.501 * step;
    tensor.expectedSqnrDb = expectedSqnrDb(seen, tensor.range, limits);
    tensor.clippedShare =
        seen.shareBeyond(limits.least + step >= least ? -HUGE_VAL : least - reach,
                         limits.greatest - step <= greatest ? HUGE_VAL : greatest + reach);
}

} // namespace tenon::compiler
