// SPDX-License-Identifier: Apache-2.0
// When to stop measuring.
#include "remote/measure/sampling.h"

#include "core/base/text.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tenon::remote {

namespace {

constexpr int kLeastPortion = 5;
constexpr double kPortionS = 0.5;      ///< how long nobody hears anything, where runs are short
constexpr int kLeastForPrecision = 10; ///< fewer may agree by chance

std::string countText(size_t samples)
{
    return std::to_string(samples) + (samples == 1 ? " sample" : " samples");
}

} // namespace

std::string samplingText(const SamplingState& state)
{
    const Summary& summary = state.summaryMs;
    std::string out = countText(summary.samples);
    if (summary.samples > 0) out += ", " + medianText(summary);
    if (state.leftS >= 0) out += ", at most " + core::fixed(std::ceil(state.leftS), 0) + " s left";
    return out;
}

Sampling::Sampling(const SamplingLimits& limits, double sampleS, ClockS clock)
    : m_limits(limits)
    , m_clock(std::move(clock))
    , m_start(m_clock())
    , m_sampleS(std::max(sampleS, 1e-6))
    , m_asked(m_start)
{
    m_limits.samples = m_limits.areInstructions ? 1 : std::max(1, m_limits.samples);
}

double Sampling::leftS() const
{
    return m_limits.budgetS > 0 ? m_limits.budgetS - (m_clock() - m_start) : HUGE_VAL;
}

bool Sampling::isPrecise() const
{
    return m_limits.precision > 0 && m_summary.samples >= kLeastForPrecision &&
           m_summary.half <= m_limits.precision * m_summary.median;
}

int Sampling::next() const
{
    const int wanted = m_limits.samples - static_cast<int>(m_runsMs.size());
    if (wanted <= 0 || isPrecise()) return 0;
    const double heard = std::clamp(kPortionS / m_sampleS, 1.0, 1e6);
    const int tenth = (m_limits.samples + 9) / 10;
    int portion = std::max(kLeastPortion, std::min(static_cast<int>(heard), tenth));
    const double fit = leftS() / m_sampleS - 1; // the run before it takes time, too
    if (fit < 1 && !m_runsMs.empty()) return 0;
    portion = static_cast<int>(std::min<double>(portion, std::max(1.0, std::floor(fit))));
    return std::min(portion, wanted);
}

void Sampling::add(std::span<const double> runsMs)
{
    const double now = m_clock();
    if (!runsMs.empty())
        m_sampleS = std::max((now - m_asked) / static_cast<double>(runsMs.size() + 1), 1e-6);
    m_asked = now;
    const size_t room = static_cast<size_t>(m_limits.samples) - m_runsMs.size();
    const auto taken = runsMs.first(std::min(room, runsMs.size()));
    m_runsMs.insert(m_runsMs.end(), taken.begin(), taken.end());
    m_summary = summarize(m_runsMs);
    m_summary.areInstructions = m_limits.areInstructions;
}

SamplingState Sampling::state() const
{
    SamplingState out{.summaryMs = m_summary, .runsMs = m_runsMs};
    out.fraction = static_cast<double>(m_runsMs.size()) / m_limits.samples;
    if (m_limits.budgetS > 0) {
        out.leftS = std::max(0.0, leftS());
        out.fraction = std::max(out.fraction, 1 - out.leftS / m_limits.budgetS);
    }
    if (next() == 0) out.fraction = 1, out.leftS = m_limits.budgetS > 0 ? 0 : -1;
    return out;
}

std::string Sampling::ending() const
{
    if (m_limits.areInstructions) return "every run takes as many";
    if (isPrecise())
        return "the interval is within " + core::exact(m_limits.precision * 100) + " %";
    if (static_cast<int>(m_runsMs.size()) >= m_limits.samples)
        return countText(m_runsMs.size()) + " were taken";
    return "the time budget was used up";
}

double steadySeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace tenon::remote
