// SPDX-License-Identifier: GPL-3.0-or-later
// MemoryPlan: where every buffer of a compiled program lies and when it is alive, as plain values.
#pragma once

#include <QString>

#include <vector>

namespace tenon::views {

/// A buffer of the memory plan; calls are program points.
struct PlannedBuffer
{
    QString name;
    QString type; ///< "float32 [1, 96, 112, 112]"
    int pool = 0;
    qint64 offset = 0; ///< in its pool
    qint64 bytes = 0;
    qint64 paddingBytes = 0; ///< up to the next multiple of the alignment
    int firstCall = 0;
    int lastCall = 0;
    int writer = -1;          ///< the first call that writes it
    std::vector<int> readers; ///< calls that read it, ascending
    bool isOutput = false;    ///< copied to the caller after the last call
};

struct MemoryPool
{
    static constexpr qint64 kUnlimited = -1;
    QString name;
    qint64 budgetBytes = kUnlimited;
    qint64 peakBytes = 0;
};

/// What one planner makes of the same buffers.
struct PlannerResult
{
    QString algorithm;
    QString doc;
    qint64 bytes = 0;
    double ms = 0;
    bool isProvenOptimal = false;
    QString problem; ///< non-empty: why it found no plan
};

struct MemoryPlan
{
    qint64 arenaBytes = 0; ///< all pools together
    qint64 lowerBoundBytes = 0;
    qint64 withoutReuseBytes = 0;
    qint64 constantBytes = 0;
    qint64 ioBytes = 0;      ///< inputs and outputs
    qint64 scratchBytes = 0; ///< the most that one kernel takes beside the arena
    int valuesAtRunTime = 0; ///< not in the plan: their size or their end is known only then
    qint64 alignment = 64;
    QString algorithm;
    std::vector<MemoryPool> pools;
    std::vector<PlannedBuffer> buffers;
    std::vector<qint64> liveBytes; ///< per call: what no plan can do without there
    std::vector<PlannerResult> planners;
};

/// What another plan of the same program shall be like.
struct MemoryQuestion
{
    QString algorithm;
    qint64 alignment = 64;
    QString pools; ///< "DTCM=128KiB,SRAM"; empty: one without limit

    friend bool operator==(const MemoryQuestion&, const MemoryQuestion&) = default;
};

} // namespace tenon::views
