// SPDX-License-Identifier: GPL-3.0-or-later
// Footprint: what each executor takes of flash and RAM, split into parts, and how that is known.
#pragma once

#include <QString>

#include <vector>

namespace tenon::views {

/// One part of an image; negative bytes: not known in this way of counting.
struct FootprintPart
{
    static constexpr qint64 kUnknown = -1;
    QString name;
    qint64 bytes = kUnknown;
};

struct ExecutorFootprint
{
    QString name;
    std::vector<FootprintPart> flash; ///< kernels, constants, metadata, runtime
    std::vector<FootprintPart> ram;   ///< workspace, I/O, stack, heap, statics
    bool isExact = false;             ///< measured on the linked image, not estimated
    QString problem;                  ///< non-empty: why there are no numbers
};

struct Footprint
{
    QString target;
    QString method;     ///< how the numbers were obtained
    QString exclusions; ///< what is not in them
    std::vector<ExecutorFootprint> executors;
};

/// Sum of the known parts.
qint64 knownBytes(const std::vector<FootprintPart>& parts);
bool isComplete(const std::vector<FootprintPart>& parts);

/// What a board has; 0: no budget of this kind.
struct MemoryBudget
{
    QString name;
    QString title;
    qint64 flashBytes = 0;
    qint64 ramBytes = 0;
    QString target = {}; ///< what one compiles for the board
};

} // namespace tenon::views
