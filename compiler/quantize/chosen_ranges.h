// SPDX-License-Identifier: Apache-2.0
// ChosenRanges: the ranges of tensors by what they were seen to hold and by who reads them.
#pragma once

#include "compiler/quantize/flat_ends.h"

#include <map>
#include <string>
#include <vector>

namespace tenon::compiler {

class ChosenRanges
{
public:
    explicit ChosenRanges(RangeOptions options);

    /// By what was seen, as the options say.
    Status choose(const std::vector<std::string>& names,
                  const std::map<std::string, SeenTensor>& seen, JobContext& job);
    /// Of a plan, without values that its functions do not tell apart.
    Status narrow(const FlatEndsSite& site, const OpenRunner& open, JobContext& job);

    /// Of the plan that was narrowed last.
    LinearRange of(const PlannedTensor& tensor) const;
    /// Before any was narrowed.
    const LinearRange& whole(const PlannedTensor& tensor) const;
    const std::map<std::string, ValueLimits>& limits() const { return m_limits; }
    /// What the range of a tensor costs of what was seen.
    void addNoise(const ValueHistogram& seen, TensorAccount& tensor) const;

private:
    RangeOptions m_options;
    std::map<std::string, LinearRange> m_ranges, m_wideRanges;
    FlatEnds m_flat;
    std::map<std::string, ValueLimits> m_limits;
};

} // namespace tenon::compiler
