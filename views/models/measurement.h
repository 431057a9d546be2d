// SPDX-License-Identifier: GPL-3.0-or-later
// Measurement: what a benchmark run of the compiled model gave, and what it is held against.
#pragma once

#include "views/models/format.h"

#include <QString>

#include <optional>
#include <vector>

namespace tenon::views {

/// The board gives medians per call; their spread is not known.
struct CallTime
{
    double medianUs = 0;
    double boundUs = 0;         ///< least time that this computer allows; 0: not known
    bool isMemoryBound = false; ///< for moving its bytes, not for computing
};

/// Another engine's times of the same model, inputs and threads, measured in turns.
struct PeerMeasurement
{
    QString name; ///< with its version
    double medianUs = 0;
    double lowUs = 0; ///< 95 % confidence interval of the median
    double highUs = 0;
    QString difference = {}; ///< how its outputs differ from ours; then its time is no comparison
};

/// What a benchmark run measured.
struct Measurement
{
    QString board;
    bool isEmulated = false;        ///< times of an emulated processor are not silicon's
    CostUnit unit = CostUnit::Time; ///< of all that is called Us here
    QString method;                 ///< for tooltips: how it was obtained
    QString hygiene; ///< governor, clock, temperature, load, and what makes it doubtful
    QString date;
    bool isOld = false; ///< a later measurement of the same code did not come about
    QString sha256;     ///< of the artifact that was measured
    int runs = 0;
    int threads = 1;
    double medianUs = 0;
    double madUs = 0;
    double p95Us = 0;
    double lowUs = 0; ///< 95 % confidence interval of the median
    double highUs = 0;
    std::vector<CallTime> calls; ///< parallel to Document::calls
    std::vector<double> runUs;
    /// What stands behind a `±`: so far the interval reaches to each side of the median.
    double halfUs() const { return highUs - medianUs; }
    QString peak; ///< what this computer can do at most, as measured; empty: not known
    std::optional<PeerMeasurement> peer;
};

} // namespace tenon::views
