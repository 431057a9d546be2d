// SPDX-License-Identifier: Apache-2.0
// The pass runner: the one place that applies patches, verifies, times, stops and records.
#include "compiler/passes/constant_growth.h"
#include "compiler/passes/numeric_check.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/record_sharing.h"
#include "compiler/passes/single_patches.h"
#include "compiler/passes/use_index.h"
#include "compiler/passes/value_trail.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/ir/model_counts.h"
#include "core/ir/module_bytes.h"

#include <algorithm>
#include <chrono>

namespace tenon::compiler {
namespace {

/// A repeated pass that still changes something after so many rounds is left as it is.
constexpr int kMaxRounds = 32;

using Clock = std::chrono::steady_clock;

Diagnostic unknownPass(const std::string& name, const std::string& where)
{
    std::vector<std::string> names;
    for (const PassDef& pass : allPasses()) names.emplace_back(pass.name);
    Location location;
    location.detail = where;
    return makeError(DiagnosticCode::UnknownName,
                     "unknown pass " + core::quoted(name) + " in " + where + "; nearest is " +
                         core::quoted(nearestNames(name, names, 1).front()),
                     location);
}

class Runner
{
public:
    Runner(const Module& imported, const PassContext& context, const RunPassesOptions& options,
           ValueTrail* trail)
        : m_context(context)
        , m_options(options)
        , m_current(imported.withOwnIds())
        , m_rewritesLeft(options.maxRewrites)
        , m_trail(trail)
    {
        if (m_trail) m_trail->start(imported);
        m_trace.imported = imported;
        if (!m_context.job) m_context.job = &m_ownJob;
        m_sharing.adopt(imported);
    }

    Result<PassTrace> run()
    {
        if (const Status done = resolve(); !done) return done.error();
        if (m_options.verifyNumerics) {
            Result<NumericCheck> check =
                NumericCheck::start(m_trace.imported, m_options, m_context);
            if (!check) return check.error();
            m_numerics = std::move(*check);
        }
        if (const Status fits = checkConstantGrowth(m_trace.imported); !fits) return fits.error();
        for (size_t i = 0; i < m_pipeline.size(); ++i) {
            if (const Status go = m_context.job->checkStop(); !go) return go.error();
            const double fraction = static_cast<double>(i) / static_cast<double>(m_pipeline.size());
            m_context.job->progress(m_context.progressShare * fraction,
                                    std::string(m_pipeline[i]->name));
            const bool endsPhase =
                i + 1 == m_pipeline.size() || m_pipeline[i + 1]->phase != m_pipeline[i]->phase;
            m_position = i;
            if (const Status done = runOne(*m_pipeline[i], endsPhase); !done) return done.error();
            if (m_options.stopAfter == m_pipeline[i]->name ||
                m_options.stopAfter == m_pipeline[i]->cliName ||
                (endsPhase && m_options.stopAfter == m_pipeline[i]->phase))
                break;
        }
        countBytes();
        return std::move(m_trace);
    }

private:
    Status resolve()
    {
        std::vector<std::string> names = m_options.pipeline;
        if (names.empty())
            for (const std::string_view name : defaultPipeline()) names.emplace_back(name);
        for (const std::string& name : names) {
            const PassDef* pass = findPass(name);
            if (!pass) return unknownPass(name, "the pipeline");
            m_pipeline.push_back(pass);
        }
        for (const std::string& name : m_options.disabled)
            if (!findPass(name)) return unknownPass(name, "the list of disabled passes");
        const std::string& stop = m_options.stopAfter;
        const bool isPhase = std::any_of(m_pipeline.begin(), m_pipeline.end(),
                                         [&](const PassDef* pass) { return pass->phase == stop; });
        if (!stop.empty() && !isPhase && !findPass(stop)) return unknownPass(stop, "stop-after");
        return kDone;
    }

    bool isDisabled(const PassDef& pass) const
    {
        return std::any_of(
            m_options.disabled.begin(), m_options.disabled.end(),
            [&](const std::string& name) { return name == pass.name || name == pass.cliName; });
    }

    Status runOne(const PassDef& pass, bool endsPhase)
    {
        PassRecord record;
        record.name = pass.name;
        record.phase = pass.phase;
        record.nodesBefore = static_cast<size_t>(graphNodes(m_current));
        // Lowering needs groups: without fusion every operator is one.
        const bool isUnfused = pass.name == "FuseOps" && isDisabled(pass);
        record.skipped = pass.minOptLevel > m_context.optLevel || (isDisabled(pass) && !isUnfused);
        m_recordStart = Clock::now();
        const size_t firstRecord = m_trace.records.size();
        if (!record.skipped) {
            PassContext context = m_context;
            if (isUnfused) context.config["relay.FuseOps.max_depth"] = int64_t{1};
            const Status done = rewrite(pass, context, record);
            if (!done) return inPass(pass, done.error());
        }
        record.ms = millisecondsSince(m_recordStart);
        const bool verifies = m_options.verify == VerifyEach::Pass ||
                              (m_options.verify == VerifyEach::Phase && endsPhase);
        if (verifies && !record.skipped)
            if (const Status done = verify(record); !done) return done;
        const size_t rewrites = record.lastRewrite;
        const Status done = finish(pass, std::move(record));
        for (size_t i = firstRecord; i < m_trace.records.size(); ++i)
            m_trace.records[i].rewrites = rewrites;
        return done;
    }

    /// What it changed is known: the record becomes part of the trace.
    Status finish(const PassDef& pass, PassRecord record)
    {
        record.changes.shrink_to_fit();
        record.changed = !record.changes.empty();
        record.nodesAfter = static_cast<size_t>(graphNodes(m_current));
        record.after = m_current;
        if (m_numerics && record.changed) {
            const Result<double> error = m_numerics->compare(m_current, record);
            if (!error) return inPass(pass, error.error());
            record.maxAbsError = *error;
        }
        m_trace.records.push_back(std::move(record));
        return kDone;
    }

    /// A trail follows whole batches.
    bool isStepped(const PassDef& pass) const
    {
        return m_options.stepped && m_options.stepped->position == m_position && !pass.atomic &&
               !m_trail;
    }

    /// Whether a record ends behind that rewrite.
    bool isStep(size_t rewrite) const
    {
        const SteppedPass& stepped = *m_options.stepped;
        if (rewrite + 1 < stepped.first || rewrite > stepped.last) return false;
        return rewrite == stepped.last || (rewrite + 1 - stepped.first) % stepped.stride == 0;
    }

    /// The record of one step, and the next one in its place.
    Status endStep(const PassDef& pass, PassRecord& record)
    {
        m_isSettled = false;
        if (const Status done = settle(record); !done) return done;
        PassRecord next{.name = record.name, .phase = record.phase};
        next.nodesBefore = static_cast<size_t>(graphNodes(m_current));
        next.firstRewrite = record.lastRewrite + 1;
        next.lastRewrite = record.lastRewrite;
        record.ms = millisecondsSince(m_recordStart);
        m_recordStart = Clock::now();
        const Status done = finish(pass, std::move(record));
        record = std::move(next);
        return done;
    }

    /// As applyPatches() to m_current, with the records of all steps but the last.
    Result<AppliedPatches> applySingly(const PassDef& pass, const Patches& patches,
                                       PassRecord& record)
    {
        SinglePatches single(m_current, patches);
        AppliedPatches applied{.changes = {}, .dropped = single.dropped()};
        for (size_t i = 0; i < single.count(); ++i) {
            if (record.lastRewrite > 0 && isStep(record.lastRewrite)) {
                for (Change& change : applied.changes) record.changes.push_back(std::move(change));
                applied.changes.clear();
                if (const Status done = endStep(pass, record); !done) return done.error();
            }
            applied.changes.push_back(single.apply(m_current, i));
            ++record.lastRewrite;
            record.firstRewrite = std::max(record.firstRewrite, size_t{1});
        }
        if (single.count() > 0) single.takeOrder(m_current);
        return applied;
    }

    Status rewrite(const PassDef& pass, const PassContext& context, PassRecord& record)
    {
        for (int round = 0; round < kMaxRounds; ++round) {
            if (const Status go = m_context.job->checkStop(); !go) return go;
            Result<Patches> patches = pass.run(m_current, context);
            if (!patches) return patches.error();
            const bool isHeldBack = holdBack(pass, *patches);
            const std::optional<Module> before =
                m_trail ? std::optional<Module>(m_current) : std::nullopt;
            Result<AppliedPatches> done = isStepped(pass) ? applySingly(pass, *patches, record)
                                                          : applyPatches(m_current, *patches);
            if (!done) return done.error();
            AppliedPatches& applied = *done;
            const bool isAny = !applied.changes.empty();
            m_isSettled = m_isSettled && !isAny;
            for (Change& change : applied.changes)
                record.changes.push_back(m_trail ? change : std::move(change));
            if (const Status settled = settle(record); !settled) return settled;
            if (m_trail) m_trail->step(*before, *patches, applied, m_current);
            if (isHeldBack && pass.name == "FuseOps") return wrapTheRest(pass, record);
            if (!isAny || (!pass.repeat && applied.dropped == 0)) break;
        }
        return kDone;
    }

    /// Operators whose fusion was held back still need a function each.
    Status wrapTheRest(const PassDef& pass, PassRecord& record)
    {
        PassContext unfused = m_context;
        unfused.config["relay.FuseOps.max_depth"] = int64_t{1};
        Result<Patches> patches = pass.run(m_current, unfused);
        if (!patches) return patches.error();
        for (Change& change : applyPatches(m_current, *patches).changes)
            record.changes.push_back(std::move(change));
        m_isSettled = false;
        return settle(record);
    }

    /// Enforces --max-rewrites; true when patches were dropped.
    bool holdBack(const PassDef& pass, Patches& patches)
    {
        if (m_rewritesLeft < 0) return false;
        const auto isOptional = [](const Patch& patch) { return !isRequiredRule(patch.rule); };
        const auto count = std::count_if(patches.begin(), patches.end(), isOptional);
        if (count <= m_rewritesLeft) {
            m_rewritesLeft -= count;
            return false;
        }
        int64_t allowed = pass.atomic ? 0 : m_rewritesLeft;
        std::erase_if(patches,
                      [&](const Patch& patch) { return isOptional(patch) && allowed-- <= 0; });
        m_rewritesLeft = 0;
        return true;
    }

    /// Restores the order of nodes, completes types and shares what is equal after patches: most
    /// passes find nothing to do in most models.
    Status settle(PassRecord& record)
    {
        if (m_isSettled) return kDone;
        std::vector<FunctionId> open;
        for (const GraphFunction* function : openFunctions(m_current)) open.push_back(function->id);
        for (const FunctionId id : open) sortTopologically(m_current, id);
        if (const Status done = inferMissingTypes(m_current); !done) return done;
        const Result<Patches> finer = refineTypes(m_current);
        if (!finer) return finer.error();
        for (Change& change : applyPatches(m_current, *finer).changes)
            record.changes.push_back(std::move(change));
        m_isSettled = finer->empty();
        m_sharing.share(m_current);
        return kDone;
    }

    Status verify(const PassRecord& record)
    {
        std::vector<Diagnostic> errors = verifyGraph(m_current);
        if (errors.empty()) return kDone;
        Diagnostic error = std::move(errors.front());
        error.message = "after pass " + core::quoted(record.name) + ": " + error.message;
        if (!record.changes.empty()) {
            const Change& change = record.changes.front();
            Diagnostic note =
                makeError(error.code, "the pass made " + std::to_string(record.changes.size()) +
                                          " changes, first " + core::quoted(change.rule) + ": " +
                                          change.reason);
            note.severity = Severity::Note;
            error.notes.push_back(std::move(note));
        }
        return error;
    }

    static Diagnostic inPass(const PassDef& pass, Diagnostic error)
    {
        if (error.code == DiagnosticCode::Cancelled) return error;
        Diagnostic note = makeError(error.code, "in pass " + core::quoted(pass.name));
        note.severity = Severity::Note;
        error.notes.push_back(std::move(note));
        return error;
    }

    void countBytes()
    {
        ByteCount one;
        one.add(m_trace.imported);
        m_trace.moduleBytes = one.bytes();
        ByteCount all;
        all.add(m_trace.imported);
        for (const PassRecord& record : m_trace.records) all.add(record.after);
        m_trace.traceBytes = all.bytes();
    }

    JobContext m_ownJob;
    PassContext m_context;
    const RunPassesOptions& m_options;
    Module m_current;
    bool m_isSettled = false; ///< nothing changed since it was
    size_t m_position = 0;    ///< of the running pass in the pipeline
    Clock::time_point m_recordStart;
    int64_t m_rewritesLeft; ///< negative: unlimited
    std::vector<const PassDef*> m_pipeline;
    std::optional<NumericCheck> m_numerics;
    RecordSharing m_sharing;
    ValueTrail* m_trail; ///< null: nobody asks
    PassTrace m_trace;
};

} // namespace

bool isRequiredRule(std::string_view rule)
{
    return rule == "infer-type" || rule == "wrap-single-op" || rule == "lower-to-tir" ||
           rule == "alias" || rule == "refine-type";
}

Result<PassTrace> runPasses(const Module& imported, const PassContext& context,
                            const RunPassesOptions& options)
{
    return runPasses(imported, context, options, nullptr);
}

Result<PassTrace> runPasses(const Module& imported, const PassContext& context,
                            const RunPassesOptions& options, ValueTrail* trail)
{
    return Runner(imported, context, options, trail).run();
}

} // namespace tenon::compiler
