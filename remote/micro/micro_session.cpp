// SPDX-License-Identifier: Apache-2.0
// Values over the line, times by the board's clock.
#include "remote/micro/micro_session.h"

#include "compiler/driver/board_image.h"
#include "core/base/board_code.h"
#include "core/base/text.h"
#include "remote/footprint/symbol_at.h"
#include "remote/micro/board_words.h"
#include "remote/session/tensor_specs.h"

#include <algorithm>
#include <cstring>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using core::Tensor;

namespace {

constexpr int kMostSamples = 64; ///< their times fit a packet
constexpr int kProfiles = 3;
/// A board that was flashed just now may still start.
constexpr std::chrono::seconds kStart{8};

Tensor zerosOf(const TensorSpec& spec)
{
    return Tensor::make(spec.dtype, spec.shape,
                        [](std::span<std::byte> to) { std::memset(to.data(), 0, to.size()); });
}

Status checkImage(const std::string& path, const MicroBoard& board)
{
    const auto wanted = compiler::imageName(path);
    if (!wanted) return wanted.error();
    if (wanted->empty() || board.image == *wanted) return core::kDone;
    return makeError(DiagnosticCode::BadArtifact,
                     "the board runs another image than the one that was brought to it; did "
                     "flashing work, and does the port belong to this board?",
                     {.file = path});
}

} // namespace

MicroSession::MicroSession(std::unique_ptr<MicroModel> model, core::Manifest manifest,
                           const RunRequest& request)
    : m_model(std::move(model))
    , m_manifest(std::move(manifest))
    , m_image(request.artifactPath)
    , m_timeout(request.timeout)
{
}

Result<std::unique_ptr<LocalSession>> MicroSession::open(std::unique_ptr<MicroLine> line,
                                                         const RunRequest& request,
                                                         const JobContext& job)
{
    Result<core::Manifest> manifest = core::readManifest(request.artifactPath);
    if (!manifest) return manifest.error();
    const Result<std::vector<TensorSpec>> inputs = specsOf(manifest->inputs);
    const Result<std::vector<TensorSpec>> outputs = specsOf(manifest->outputs);
    if (!inputs) return inputs.error();
    if (!outputs) return outputs.error();
    auto model = MicroModel::open(std::move(line), manifest->moduleName, {kStart, &job});
    if (!model) return model.error();
    std::unique_ptr<MicroSession> out(
        new MicroSession(std::move(*model), std::move(*manifest), request));
    out->start(job);
    Result<MicroBoard> board = out->m_model->board();
    if (!board) return board.error();
    if (Status same = checkImage(request.artifactPath, *board); !same) return same.error();
    out->m_board = std::move(*board);
    out->m_inputs = *inputs;
    out->m_outputs = *outputs;
    for (const TensorSpec& spec : out->m_inputs) out->m_values.push_back(zerosOf(spec));
    if (Status set = out->setInputs(request.inputs, job); !set) return set.error();
    return std::unique_ptr<LocalSession>(std::move(out));
}

Status MicroSession::setInputs(const NamedTensors& inputs, const JobContext&)
{
    return placeInputs(inputs, m_inputs, m_values);
}

/// A fault's place by the image's symbols.
core::Diagnostic MicroSession::explained(core::Diagnostic error) const
{
    const auto& fault = m_model->fault();
    if (!fault || error.code != DiagnosticCode::BoardFailure) return error;
    error.message = faultText(*fault, symbolAt(m_image, fault->pc));
    return error;
}

/// Paint that is gone to the end tells that more was used.
Status MicroSession::checkStack()
{
    const auto counted = m_model->statistics();
    if (!counted) return counted.error();
    if (counted->stackBytes == 0 || counted->stackPeakBytes < counted->stackBytes)
        return core::kDone;
    return makeError(DiagnosticCode::BoardFailure,
                     "the stack overflowed: all of its " +
                         core::thousands(static_cast<int64_t>(counted->stackBytes)) +
                         " bytes were written, so memory below them may be, too; give it more "
                         "(-DSTACK_BYTES in the board's project)");
}

Result<std::vector<Tensor>> MicroSession::run(const JobContext& job)
{
    start(job);
    Result<std::vector<Tensor>> outputs = m_model->infer(m_values);
    if (!outputs) return explained(outputs.error());
    if (Status fine = checkStack(); !fine) return fine.error();
    return outputs;
}

Status MicroSession::execute(const JobContext& job)
{
    Result<std::vector<Tensor>> outputs = run(job);
    if (!outputs) return outputs.error();
    m_fetched = std::move(*outputs);
    return core::kDone;
}

Result<std::vector<Tensor>> MicroSession::fetchOutputs(const JobContext&) { return m_fetched; }

Status MicroSession::timeRuns(const TimingRequest& request, Timing& timing, const JobContext& job)
{
    const double begun = steadySeconds();
    if (const auto once = run(job); !once) return once.error();
    const double onceS = steadySeconds() - begun;
    SamplingLimits limits{request.repeat, request.budgetS, request.precision};
    if (limits.budgetS > 0) limits.budgetS = std::max(1e-3, limits.budgetS - onceS);
    Sampling sampling(limits, std::max(onceS, request.minRepeatMs / 1e3), steadySeconds);
    while (const int portion = std::min(sampling.next(), kMostSamples)) {
        const auto seconds = m_model->time(request.number, portion, request.minRepeatMs);
        if (!seconds) return explained(seconds.error());
        std::vector<double> runsMs;
        for (const double each : *seconds) runsMs.push_back(each * 1e3);
        sampling.add(runsMs);
        const SamplingState state = sampling.state();
        job.progress(state.fraction, samplingText(state));
        if (request.watch) request.watch(state);
    }
    timing.runsMs = sampling.runsMs();
    timing.ending = sampling.ending();
    timing.summaryMs = sampling.state().summaryMs;
    return core::kDone;
}

Status MicroSession::timeCalls(Timing& timing)
{
    std::vector<std::vector<double>> taken(m_manifest.calls.size());
    for (int i = 0; i < kProfiles; ++i) {
        const auto ns = m_model->profile();
        if (!ns && ns.error().code == core::BoardCode::DataFault) return core::kDone; // notes none
        if (!ns) return explained(ns.error());
        if (ns->size() != taken.size()) return core::kDone;
        for (size_t call = 0; call < taken.size(); ++call)
            taken[call].push_back(static_cast<double>((*ns)[call]) / 1e6);
    }
    for (std::vector<double>& each : taken) {
        timing.callMs.push_back(summarize(std::move(each)).median);
        timing.callSumMs += timing.callMs.back();
    }
    return core::kDone;
}

Result<Timing> MicroSession::measure(const TimingRequest& request, const JobContext& job)
{
    start(job);
    Timing timing;
    if (Status timed = timeRuns(request, timing, job); !timed) return timed.error();
    if (request.perCall)
        if (Status timed = timeCalls(timing); !timed) return timed.error();
    if (Status fine = checkStack(); !fine) return fine.error();
    timing.hygiene.cpuModel = coreOf(m_board);
    timing.hygiene.settings = settingsOf(m_board);
    if (request.coldCache) timing.hygiene.warnings.push_back("caches were not emptied");
    return timing;
}

} // namespace tenon::remote
