// SPDX-License-Identifier: Apache-2.0
// FlatEnds: which values of a tensor need no integers of their own, because only functions read it
// that give the same integer for all of them: below -5 and further down SiLU rounds to 0.
#pragma once

#include "compiler/quantize/carried_limits.h"
#include "compiler/quantize/measure_loss.h"

#include <map>
#include <string>

namespace tenon::compiler {

class FlatEnds
{
public:
    /// By tensor, of those that lose values.
    Result<std::map<std::string, ValueLimits>> of(const FlatEndsSite& site, const OpenRunner& open,
                                                  JobContext& job);

private:
    /// By tensor, its results and their bits: plans differ in few.
    std::map<std::string, ValueLimits> m_known;
};

} // namespace tenon::compiler
