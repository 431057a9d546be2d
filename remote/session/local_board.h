// SPDX-License-Identifier: Apache-2.0
// "This computer" as a board: artifacts run in a server child, never in the calling process.
#pragma once

#include "core/jobs/job.h"
#include "core/tensor/tensor.h"
#include "remote/measure/hygiene.h"
#include "remote/measure/sampling.h"
#include "remote/measure/statistics.h"
#include "remote/roofline/machine_peak.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::remote {

using NamedTensors = std::vector<std::pair<std::string, core::Tensor>>;

/// What to run: a compiled shared library, WebAssembly module or program, its inputs by name, and
/// how.
struct RunRequest
{
    std::string artifactPath;
    std::string loadName; ///< what the server calls the artifact; empty: its path here
    NamedTensors inputs;
    unsigned threads = 1;
    /// The user asked for so many: also where the system gives fewer processors.
    bool mayExceedProcessors = false;
    std::chrono::milliseconds timeout{std::chrono::minutes(5)}; ///< of each single step
    bool poison = false; ///< memory a run has not written holds NaN: shows faults of memory plans
    std::string serverPath; ///< empty: tenon-rpc-server beside the running program
    /// An emulator with its options, in front of the server; empty: the server runs by itself.
    std::vector<std::string> emulator;
    bool isEmulated = false; ///< its times say nothing of the device
    /// Of an emulator that counts instructions: how long each takes there; 0: it takes real time.
    int instructionNs = 0;
};

class Peer;

/// How to measure; the meaning of the first three is that of TVM's time_evaluator.
struct TimingRequest
{
    int number = 1;
    int repeat = 20;
    int minRepeatMs = 0;
    double budgetS = 0;   ///< seconds for all of it, then fewer samples do; 0: without end
    double precision = 0; ///< fewer samples do for an interval as small; see SamplingLimits
    bool perCall = false;
    bool pin = true;
    bool coldCache = false; ///< empty the caches before each timed batch; use with number 1
    /// Takes turns with the artifact on the same machine; null: nobody.
    std::shared_ptr<Peer> peer = nullptr;
    double peerShare = 1e-4;  ///< of the largest output: as far may the peer's be from ours
    SamplingWatch watch = {}; ///< called after every portion of samples
};

/// What the peer of a TimingRequest took for the same.
struct PeerTiming
{
    std::string name;
    std::string version;
    std::vector<double> runsMs;
    Summary summaryMs;
    std::string difference = {}; ///< how its outputs differ from ours: then there is no ratio
};

struct Timing
{
    std::vector<double> runsMs; ///< one per repeat: milliseconds of a single run
    Summary summaryMs;          ///< of runsMs
    std::string ending;         ///< why there are not more: "the interval is within 2 %"
    /// Median of each kernel call in execution order (empty unless asked for and possible), from
    /// instrumented runs; their sum is to be compared with summaryMs.median.
    std::vector<double> callMs;
    double callSumMs = 0;
    unsigned threads = 1;
    unsigned threadsRan = 0; ///< that took part; 0: the server does not tell
    Hygiene hygiene;
    std::optional<PeerTiming> peer;
    std::optional<MachinePeak> peak; ///< of this computer, where that is what was measured
};

/// An input or output as the artifact declares it.
struct TensorSpec
{
    std::string name;
    core::DataType dtype;
    std::vector<int64_t> shape;
};

/// One artifact loaded in one server child, for many runs. Not thread-safe. After an error that
/// ended the child (crash, Cancelled, TimedOut) open a new one.
class LocalSession
{
public:
    /// Starts the child, loads the artifact and makes its executor. `request.inputs` are set when
    /// there are any.
    static core::Result<std::unique_ptr<LocalSession>> open(const RunRequest& request,
                                                            const core::JobContext& job);
    virtual ~LocalSession() = default;

    /// Inputs without the parameters the artifact holds itself may be any subset.
    virtual core::Status setInputs(const NamedTensors& inputs, const core::JobContext& job) = 0;
    virtual core::Result<std::vector<core::Tensor>> run(const core::JobContext& job) = 0;
    virtual core::Result<Timing> measure(const TimingRequest& request,
                                         const core::JobContext& job) = 0;

    virtual const std::vector<TensorSpec>& inputs() const = 0;
    virtual const std::vector<TensorSpec>& outputs() const = 0;
    virtual bool isBroken() const = 0; ///< the child is gone

    /// The two halves of run().
    virtual core::Status execute(const core::JobContext& job) = 0;
    virtual core::Result<std::vector<core::Tensor>> fetchOutputs(const core::JobContext& job) = 0;
    virtual void setTimeout(std::chrono::milliseconds timeout) = 0;
    /// Of the machine that runs the artifact; 0: it does not tell.
    virtual unsigned usableProcessors() const { return 0; }
    /// One run that says where a crash happens, as far as the artifact is instrumented.
    virtual core::Status runInstrumented(const core::JobContext& job) { return execute(job); }
    virtual int crashedCall() const { return -1; } ///< that the last crash named, or -1
    virtual bool hasEmulatorFailed() const { return false; }
};

class ArtifactSession;
class ChildProcess;
/// The server of `request` as a child, without anything loaded.
core::Result<ChildProcess> startLocalServer(const RunRequest& request);
/// The artifact loaded in it.
core::Result<std::unique_ptr<ArtifactSession>> openLocalSession(const RunRequest& request,
                                                                const core::JobContext& job);

/// One inference in a child of its own. A crash is a BoardFailure that names the signal and, where
/// it can be found out, the kernel call.
core::Result<std::vector<core::Tensor>> runArtifact(const RunRequest& request,
                                                    const core::JobContext& job);
core::Result<Timing> measureArtifact(const RunRequest& request, const TimingRequest& timing,
                                     const core::JobContext& job);

} // namespace tenon::remote
