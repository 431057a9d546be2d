// SPDX-License-Identifier: Apache-2.0
// Sampling: how many samples of a time are enough, within a budget of time.
#pragma once

#include "remote/measure/statistics.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tenon::remote {

/// Where a measurement may end before it has its `samples`.
struct SamplingLimits
{
    int samples = 20;     ///< at most
    double budgetS = 0;   ///< seconds for all of it; 0: without end
    double precision = 0; ///< the interval may reach this share of the median to each side; 0: none
    bool areInstructions = false; ///< see Summary: one sample tells all
};

/// What bench and the window ask for when nobody says more.
inline constexpr SamplingLimits kUsualSampling{1000, 10, 0.02};

/// How far a measurement is.
struct SamplingState
{
    Summary summaryMs;          ///< of the samples so far
    std::vector<double> runsMs; ///< these samples
    double fraction = 0;        ///< of the whole
    double leftS = -1;          ///< until the budget is used up; -1: nobody knows
};
/// "12 samples, median 3.510 ms ± 0.102, at most 4 s left".
std::string samplingText(const SamplingState& state);
using SamplingWatch = std::function<void(const SamplingState&)>;

/// Samples are taken in portions: each costs a run before it that does not count, so they are not
/// small, and nobody hears anything in between, so they are not long.
class Sampling
{
public:
    using ClockS = std::function<double()>; ///< seconds, from any start

    /// `sampleS`: about what one sample takes. The budget runs from now.
    Sampling(const SamplingLimits& limits, double sampleS, ClockS clock);

    int next() const; ///< how many samples to take now; 0: it is enough
    void add(std::span<const double> runsMs);
    const std::vector<double>& runsMs() const { return m_runsMs; }
    SamplingState state() const;
    std::string ending() const; ///< why it is enough: "the interval is within 2 %"

private:
    double leftS() const;
    bool isPrecise() const;

    SamplingLimits m_limits;
    ClockS m_clock;
    double m_start;
    double m_sampleS;
    double m_asked; ///< when next() is asked, the last portion began
    std::vector<double> m_runsMs;
    Summary m_summary;
};

/// The monotonic clock of this computer.
double steadySeconds();

} // namespace tenon::remote
