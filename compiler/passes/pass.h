// SPDX-License-Identifier: Apache-2.0
// PassDef, PassContext and the trace a pipeline run leaves: the compiler's and the window's common
// record.
#pragma once

#include "core/ir/change_set.h"
#include "core/jobs/job.h"
#include "core/target/code_traits.h"
#include "core/target/target.h"
#include "core/target/target_facts.h"

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// PassContext configuration in the manner of TVM: `relay.FuseOps.max_depth=16`. Unknown keys and
/// wrong types are errors.
using PassConfig = std::map<std::string, std::variant<bool, int64_t, double, std::string>>;
Result<PassConfig> parsePassConfig(const std::vector<std::string>& keyValues);

struct PassContext
{
    Target target;
    TargetFacts facts;
    CodeTraits code;
    int optLevel = 3;
    PassConfig config;
    const JobContext* job = nullptr; ///< never null while a pass runs
    double progressShare = 1;        ///< how far of the job's progress the passes take it

    bool flag(std::string_view key, bool fallback) const;
    int64_t integer(std::string_view key, int64_t fallback) const;
    double number(std::string_view key, double fallback) const;
};

using Patches = std::vector<Patch>;

/// A pass reads a module and returns patches; only the runner applies them. Deterministic; no
/// global state. `repeat`: run again on the result until it returns nothing (bounded by the
/// runner).
struct PassDef
{
    Result<Patches> (*run)(const Module&, const PassContext&) = nullptr;
    std::string_view name;    ///< TVM's name, e.g. "FuseOps"
    std::string_view cliName; ///< "fuse-ops"
    std::string_view phase;   ///< import, simplify, layout, fuse, lower, plan
    int minOptLevel = 0;
    std::string_view summary;
    std::string_view needs;      ///< of the module it gets
    std::string_view guarantees; ///< of the module it leaves
    std::string_view stands;     ///< where in the default pipeline, and why there
    bool repeat = false;
    bool atomic = false; ///< its patches only make sense together; --max-rewrites takes all or none
};

std::span<const PassDef> allPasses(); ///< from passes.def
const PassDef* findPass(std::string_view nameOrCliName);

/// The default pipeline: names of passes in order (a pass may occur several times).
std::vector<std::string_view> defaultPipeline();

struct PassRecord
{
    std::string name;
    std::string phase;
    bool skipped = false; ///< by opt level or --disable-pass
    bool changed = false;
    double ms = 0;
    size_t nodesBefore = 0;
    size_t nodesAfter = 0;
    std::vector<Change> changes;
    Module after; ///< structurally shared with its neighbours
    /// Of a pass that is stepped: the rewrites that this record is of, from 1, and how many there
    /// are; 0 where the record is of the whole pass.
    size_t firstRewrite = 0, lastRewrite = 0, rewrites = 0;
    std::optional<double> maxAbsError; ///< with verifyNumerics: against the module as imported
};

struct PassTrace
{
    Module imported;
    std::vector<PassRecord> records;
    size_t moduleBytes = 0; ///< one copy of the imported module without tensor data
    size_t traceBytes = 0;  ///< all versions together, shared parts once
    const Module& last() const { return records.empty() ? imported : records.back().after; }
};

enum class VerifyEach : uint8_t
{
    Off,
    Phase,
    Pass
};

/// A pass of which each rewrite becomes a record of its own, or every `stride` of those from
/// `first` to `last`, and one record each what stands before and behind these.
struct SteppedPass
{
    size_t position = 0; ///< in the pipeline
    size_t first = 1, last = std::numeric_limits<size_t>::max();
    size_t stride = 1;
    friend bool operator==(const SteppedPass&, const SteppedPass&) = default;
};

struct RunPassesOptions
{
    std::vector<std::string> pipeline; ///< empty: default
    std::string stopAfter;             ///< pass or phase name
    std::vector<std::string> disabled;
    int64_t maxRewrites = -1;
    std::optional<SteppedPass> stepped;
    VerifyEach verify = VerifyEach::Phase;
    bool verifyNumerics = false;
    double numericTolerance = 1e-3;              ///< relative to max |reference|
    std::map<std::string, Tensor> numericInputs; ///< by parameter name; empty: seeded random
};

Result<PassTrace> runPasses(const Module& imported, const PassContext& context,
                            const RunPassesOptions& options);

/// Every source node ends in exactly one kernel call or in the folding ledger unless a recorded
/// rule duplicated it.
struct Conservation
{
    std::vector<std::string> violations; ///< empty: holds
    size_t inKernels = 0;
    size_t inLedger = 0;
};
/// `importChanges`: what the frontend folded (Loaded::changes).
Conservation checkConservation(const PassTrace& trace,
                               const std::vector<Change>& importChanges = {});

} // namespace tenon::compiler
