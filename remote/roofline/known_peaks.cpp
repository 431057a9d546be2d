// SPDX-License-Identifier: Apache-2.0
// Measures what is asked for the first time.
#include "remote/roofline/known_peaks.h"

namespace tenon::remote {

MachinePeak KnownPeaks::of(unsigned threads)
{
    const std::lock_guard lock(m_mutex); // two measurements at a time would disturb each other
    const auto known = m_peaks.find(threads);
    return known != m_peaks.end() ? known->second
                                  : m_peaks.emplace(threads, measurePeak(threads)).first->second;
}

} // namespace tenon::remote
