// SPDX-License-Identifier: Apache-2.0
// Static memory planning: where every buffer lies in which pool, and the table of planners.
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

enum class BufferKind : uint8_t
{
    Intermediate,
    Input,
    Output,
    Workspace ///< scratch inside one operator
};

/// A piece of memory and the program points at which it must keep its content.
struct BufferInfo
{
    std::string name;
    int64_t sizeBytes = 0;
    int64_t alignment = 64;
    int first = 0;          ///< first program point, inclusive
    int last = 0;           ///< last program point, inclusive
    std::vector<int> pools; ///< candidate pools in order of preference; empty: all, in order
    BufferKind kind = BufferKind::Intermediate;
};

/// A memory of the device. What is not known of its speed is -1, as TVM writes it.
struct Pool
{
    static constexpr int64_t kUnlimited = -1;
    std::string name = "global_workspace";
    int64_t sizeHintBytes = kUnlimited;
    std::string section = {}; ///< of the static array that it becomes, where that is named
    bool isCallers = false;   ///< whoever calls the model gives the memory
    int64_t clockHz = -1;
    int64_t readBytesPerCycle = -1;
    int64_t writeBytesPerCycle = -1;
    int64_t readLatencyCycles = 0;
    int64_t writeLatencyCycles = 0;
};

/// Which buffers must not overlap. `conflicts[i]` lists buffers in the order the planners visit
/// them; it comes from lifetimes (makeProblem) or is given outright.
struct PlanningProblem
{
    std::vector<BufferInfo> buffers;
    std::vector<Pool> pools = {Pool{}};
    std::vector<std::vector<int>> conflicts;
    bool hasLifetimes = true; ///< false: only `conflicts` counts, first and last mean nothing
    bool hasConflicts = true; ///< false: they are too many to list, lifetimes have to do
};

struct Placement
{
    int pool = -1;
    int64_t offset = 0;
    friend bool operator==(const Placement&, const Placement&) = default;
};

struct MemoryPlan
{
    std::string algorithm;
    std::vector<Placement> placements; ///< one per buffer
    std::vector<int64_t> peakBytes;    ///< one per pool: the highest end of a buffer
    int64_t lowerBoundBytes = 0;       ///< no plan over all pools together can be smaller
    bool isOptimal = false;            ///< proven: no plan is smaller
    double ms = 0;

    int64_t totalBytes() const; ///< sum of the peaks
};

/// Conflicts from lifetimes: two buffers conflict when they share a program point. Of more than
/// kMostConflicts none is listed.
inline constexpr size_t kMostConflicts = 4'000'000;
PlanningProblem makeProblem(std::vector<BufferInfo> buffers, std::vector<Pool> pools = {Pool{}});

/// The largest sum, over program points, of the live buffers' aligned sizes; the last buffer of
/// each pool needs no padding. 0 for a problem without lifetimes.
int64_t lowerBound(const PlanningProblem& problem);

/// How long a planner that improves its plan may go on. Nodes count steps of a search, so that the
/// same problem gives the same plan on every computer; the time limit is for the impatient.
struct PlannerLimits
{
    int64_t nodes = 4000;
    double seconds = 0; ///< 0: no limit
};

/// What a planner hands back.
struct PlannedBuffers
{
    std::vector<Placement> placements;
    bool isOptimal = false; ///< proven smallest, which the lower bound alone may not show
};

struct PlannerDef
{
    std::string_view name;
    std::string_view doc;
    bool needsLifetimes = false;
    core::Result<PlannedBuffers> (*place)(const PlanningProblem& problem,
                                          const PlannerLimits& limits);
};

/// What is planned with unless somebody says otherwise.
inline constexpr std::string_view kUsualPlanner = "hill_climb";
/// Every buffer in a place of its own: to see what planning saves, and for debuggers. In no list.
inline constexpr std::string_view kNoSharing = "no_sharing";

/// Every planner, in the order in which comparisons show them.
std::span<const PlannerDef> allPlanners();
const PlannerDef* findPlanner(std::string_view name);

/// Runs the named planner, or linear_scan where conflicts are too many to list, and checks its plan
/// with checkPlan. Errors: UnknownName with candidates,
/// OutOfMemory when a pool's size hint is too small.
core::Result<MemoryPlan> planMemory(std::string_view algorithm, const PlanningProblem& problem,
                                    const PlannerLimits& limits = {});

} // namespace tenon::compiler
