// SPDX-License-Identifier: Apache-2.0
// Whether a model fits a board, and why: flash by layer, memory by pool, what is alive at the peak,
// and remedies with what they would save.
#pragma once

#include "remote/footprint/footprint.h"

namespace tenon::remote {

/// What a board has; 0: not known.
struct BoardBudget
{
    std::string board;
    int64_t flashBytes = 0;
    int64_t ramBytes = 0;
};

/// One call of a kernel and what it takes of flash.
struct LayerFlash
{
    std::string title;
    std::vector<std::string> fromNodes;
    int64_t codeBytes = -1;    ///< of its kernel by the linked image's symbols; -1: not linked
    int64_t constantBytes = 0; ///< weights that it reads first
    bool isShared = false;     ///< the kernel's code is counted at an earlier call
};

struct PoolUse
{
    std::string name;
    int64_t bytes = 0;
    int64_t limitBytes = -1; ///< -1: none
};

/// Something that lies in memory while the call at the peak runs.
struct PeakBuffer
{
    std::string name;
    std::string title; ///< for people: "result of dense + relu · fc1"; the name where there is none
    std::string kind;  ///< "intermediate", "scratch", "input", "output"
    int64_t bytes = 0;
};

struct Remedy
{
    std::string what;
    std::string detail;
    int64_t flashBytes = 0; ///< of the whole, with it
    int64_t ramBytes = 0;
    bool fits = false;
};

struct FitReport
{
    BoardBudget budget;
    std::string target;
    /// Lower limits from constants and plan before anything is linked; afterwards the image's.
    int64_t flashBytes = 0;
    int64_t ramBytes = 0;
    bool isLinked = false;
    std::vector<LayerFlash> layers;
    std::vector<PoolUse> pools; ///< memory: pools, then inputs and outputs, stack, statics
    std::string peakCall;
    int64_t peakBytes = 0;               ///< alive while it runs, in pools
    std::vector<PeakBuffer> peakBuffers; ///< largest first
    std::vector<Remedy> remedies;        ///< those that change something, the best first

    bool fitsFlash() const { return budget.flashBytes <= 0 || flashBytes <= budget.flashBytes; }
    bool fitsRam() const { return budget.ramBytes <= 0 || ramBytes <= budget.ramBytes; }
    bool fits() const { return fitsFlash() && fitsRam(); }
    /// "fits: ..." or "does not fit: ..., most of it ...", one sentence.
    std::string verdict() const;
};

/// From the plan of a compile alone; nothing is linked.
FitReport plannedFit(const compiler::CompileResult& result, const BoardBudget& budget);

/// The same, with what a linked image says where one could be linked (`measured` is of the AOT
/// executor in C), and remedies, each planned anew. Errors: Cancelled.
core::Result<FitReport> explainFit(const compiler::CompileResultPtr& result,
                                   const BoardBudget& budget, const ExecutorFootprint* measured,
                                   core::JobContext& job);

} // namespace tenon::remote
