// SPDX-License-Identifier: Apache-2.0
// Timing an artifact in a server: whole runs, single calls, and the state around them.
#include "remote/peer/peer.h"
#include "remote/session/artifact_session.h"

#include <algorithm>
#include <cstring>

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;

namespace {

/// Voluntary and involuntary context switches, minor and major page faults of the server; -1 when
/// it does not count.
Result<std::vector<int64_t>> countersOf(RpcSession& rpc)
{
    std::vector<int64_t> counters(4, -1);
    const Result<Reply> reply = rpc.callGlobal("tenon.rpc.server.usage", {});
    if (!reply && rpc.isBroken()) return reply.error();
    if (!reply) return counters;
    if (reply->text.size() == counters.size() * sizeof(int64_t))
        std::memcpy(counters.data(), reply->text.data(), reply->text.size());
    return counters;
}

/// As many samples of the peer; its failure costs the comparison only.
bool timePeer(Peer& peer, const TimingRequest& request, int samples, Timing& timing,
              const JobContext& job)
{
    const Result<std::vector<double>> ms =
        peer.time({samples, std::max(1, request.number), request.minRepeatMs}, job);
    if (!ms) {
        timing.peer.reset();
        timing.hygiene.warnings.push_back("no comparison: " + ms.error().message);
        return false;
    }
    timing.peer->runsMs.insert(timing.peer->runsMs.end(), ms->begin(), ms->end());
    return true;
}

/// What both give for the inputs that are set, before it matters how fast.
Result<PeerTiming> comparePeer(ArtifactSession& session, const TimingRequest& request,
                               const JobContext& job)
{
    Peer& peer = *request.peer;
    const auto outputs = session.run(job);
    if (!outputs) return outputs.error();
    const auto difference = peer.difference(*outputs, request.peerShare, job);
    if (!difference) return difference.error();
    return PeerTiming{peer.name(), peer.version(), {}, {}, *difference};
}

/// The peer when it computes the same, else null and a warning.
Peer* comparedPeer(ArtifactSession& session, const TimingRequest& request, Timing& timing,
                   const JobContext& job)
{
    if (!request.peer) return nullptr;
    auto compared = comparePeer(session, request, job);
    if (compared) {
        timing.peer = *std::move(compared);
        return request.peer.get();
    }
    timing.hygiene.warnings.push_back("no comparison: " + compared.error().message);
    return nullptr;
}

/// What is left of the budget for single calls, which run after the samples.
double callsShareS(const TimingRequest& request, double onceS)
{
    if (!request.perCall || request.budgetS <= 0) return 0;
    return std::min(request.budgetS / 2, std::max(request.budgetS / 10, 2.2 * onceS));
}

} // namespace

Result<RemoteHandle> ArtifactSession::makeEvaluator(const TimingRequest& request, int repeat)
{
    int64_t flushBytes = 0;
    if (request.coldCache) {
        const Result<int64_t> cache = countOf("tenon.last_cache_bytes"); // of the board
        if (!cache) return cache.error();
        flushBytes = std::max<int64_t>(2 * *cache, int64_t{64} << 20);
    }
    const PackedArgs arguments = PackedArgs()
                                     .handle(m_executor)
                                     .text("run")
                                     .integer(kDLCPU)
                                     .integer(0)
                                     .integer(std::max(1, request.number))
                                     .integer(repeat)
                                     .integer(request.minRepeatMs)
                                     .integer(100) // rounds without measurable time
                                     .integer(0)
                                     .integer(1)
                                     .integer(flushBytes)
                                     .text("");
    const Result<Reply> made = m_rpc->callGlobal("runtime.RPCTimeEvaluator", arguments);
    if (!made) return explain(made.error());
    return made->handle;
}

/// The first run tells what one takes; what it and the calls take is not there for samples.
Status ArtifactSession::timeRuns(const TimingRequest& request, Timing& timing,
                                 const JobContext& job)
{
    Peer* peer = comparedPeer(*this, request, timing, job);
    const double begun = steadySeconds();
    if (Status ran = execute(job); !ran) return ran;
    const double onceS = steadySeconds() - begun;
    SamplingLimits limits{request.repeat, request.budgetS, request.precision};
    if (limits.budgetS > 0)
        limits.budgetS = std::max(1e-3, limits.budgetS - onceS - callsShareS(request, onceS));
    Sampling sampling(limits,
                      std::max(onceS * std::max(1, request.number), request.minRepeatMs / 1e3),
                      steadySeconds);
    for (int portion = 0; (portion = sampling.next()) > 0;) {
        const Result<std::vector<double>> runsMs = timePortion(request, portion);
        if (!runsMs) return runsMs.error();
        if (peer && !timePeer(*peer, request, portion, timing, job)) peer = nullptr;
        sampling.add(*runsMs);
        const SamplingState state = sampling.state();
        job.progress(state.fraction, samplingText(state));
        if (request.watch) request.watch(state);
    }
    timing.runsMs = sampling.runsMs();
    timing.ending = sampling.ending();
    timing.summaryMs = summarize(timing.runsMs);
    if (timing.peer) timing.peer->summaryMs = summarize(timing.peer->runsMs);
    return core::kDone;
}

/// In milliseconds.
Result<std::vector<double>> ArtifactSession::timePortion(const TimingRequest& request, int samples)
{
    const Result<RemoteHandle> evaluator = makeEvaluator(request, samples);
    if (!evaluator) return evaluator.error();
    const Result<Reply> reply = m_rpc->call(*evaluator, {});
    if (!reply) return explain(reply.error());
    Result<std::vector<double>> runs = reply->doubles();
    if (!runs) return runs.error();
    for (double& seconds : *runs) seconds *= 1e3;
    const Status released = m_rpc->release(*evaluator);
    if (!released) return explain(released.error());
    return runs;
}

Status ArtifactSession::timeCalls(Timing& timing, int repeats)
{
    const Result<Reply> reply = callMethod("profile", PackedArgs().integer(repeats));
    if (!reply) {
        if (isBroken()) return reply.error();
        timing.hygiene.warnings.push_back("no times per call: " + reply.error().message);
        return core::kDone;
    }
    const Result<std::vector<double>> seconds = reply->doubles();
    if (!seconds) return seconds.error();
    for (const double value : *seconds) {
        timing.callMs.push_back(value * 1e3);
        timing.callSumMs += value * 1e3;
    }
    return core::kDone;
}

/// As the machine that runs the model tells it.
Result<Hygiene> ArtifactSession::hygiene()
{
    const Result<Reply> reply = m_rpc->callGlobal("tenon.rpc.server.probe", {});
    if (!reply && m_rpc->isBroken()) return explain(reply.error());
    const Result<BoardFacts> facts = parseProbe(reply ? reply->text : "");
    return facts ? hygieneOf(*facts) : Hygiene{};
}

Result<Timing> ArtifactSession::measure(const TimingRequest& request, const JobContext& job)
{
    start(job);
    Timing timing{.threads = m_threads};
    const Result<Hygiene> state = hygiene();
    if (!state) return state.error();
    timing.hygiene = *state;
    const Result<Reply> pinned =
        m_rpc->callGlobal("tenon.pin_threads", PackedArgs().integer(request.pin ? 1 : 0));
    if (!pinned && m_rpc->isBroken()) return explain(pinned.error());
    timing.hygiene.isPinned = request.pin && pinned;
    const Result<std::vector<int64_t>> before = countersOf(*m_rpc);
    if (!before) return explain(before.error());
    if (Status timed = timeRuns(request, timing, job); !timed) return timed.error();
    const Result<std::vector<int64_t>> after = countersOf(*m_rpc);
    if (!after) return explain(after.error());
    if ((*before)[1] >= 0) {
        timing.hygiene.involuntarySwitches = (*after)[1] - (*before)[1];
        timing.hygiene.majorFaults = (*after)[3] - (*before)[3];
    }
    if (timing.hygiene.involuntarySwitches > static_cast<int64_t>(timing.runsMs.size()))
        timing.hygiene.warnings.push_back("the measured process was interrupted " +
                                          std::to_string(timing.hygiene.involuntarySwitches) +
                                          " times");
    if (m_threads < m_wantedThreads)
        timing.hygiene.warnings.push_back(
            "the model is made for " + std::to_string(m_wantedThreads) +
            " threads, but the system lets only " + std::to_string(m_threads) +
            (m_threads == 1 ? " processor" : " processors") + " be used");
    const Result<int64_t> ran = countOf("tenon.threads_ran");
    if (!ran) return ran.error();
    timing.threadsRan = static_cast<unsigned>(std::clamp<int64_t>(*ran, 0, m_threads));
    if (request.perCall) {
        // About one second of instrumented runs, or a tenth of the budget.
        const double share = request.budgetS > 0 ? std::min(1.0, request.budgetS / 10) : 1;
        const double fit = 1000 * share / std::max(timing.summaryMs.median, 1e-3);
        if (Status timed = timeCalls(timing, static_cast<int>(std::clamp(fit, 1.0, 200.0))); !timed)
            return timed.error();
    }
    return timing;
}

} // namespace tenon::remote
