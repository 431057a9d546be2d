// SPDX-License-Identifier: Apache-2.0
// KnownPeaks: what this computer can do stays what it is, and is measured once.
#pragma once

#include "remote/roofline/machine_peak.h"

#include <map>
#include <mutex>

namespace tenon::remote {

/// For each number of threads. Thread-safe.
class KnownPeaks
{
public:
    MachinePeak of(unsigned threads);

private:
    std::mutex m_mutex;
    std::map<unsigned, MachinePeak> m_peaks;
};

} // namespace tenon::remote
