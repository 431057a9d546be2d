// SPDX-License-Identifier: Apache-2.0
// Values to bytes in a file, a process, and bytes to values.
#include "remote/session/file_session.h"

#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "remote/session/tensor_specs.h"
#include "remote/virtual/run_program.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::remote {

using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
using core::Tensor;

namespace {

constexpr const char* kFailed = " failed: "; ///< behind the program, see runProgram()
constexpr const char* kDividedByZero = ": integer division by zero";

} // namespace

int64_t FileSession::bytesOf(const TensorSpec& spec)
{
    return core::elementCount(spec.shape) * spec.dtype.bytes();
}

namespace {

/// Cuts the bytes into the outputs.
Result<std::vector<Tensor>> tensorsOf(const std::string& bytes,
                                      const std::vector<TensorSpec>& specs)
{
    std::vector<Tensor> out;
    size_t at = 0;
    for (const TensorSpec& spec : specs) {
        const auto size = static_cast<size_t>(core::elementCount(spec.shape) * spec.dtype.bytes());
        if (size > bytes.size() - at)
            return makeError(DiagnosticCode::BoardFailure, "the run wrote too few bytes");
        out.push_back(Tensor::make(spec.dtype, spec.shape, [&](std::span<std::byte> to) {
            std::memcpy(to.data(), bytes.data() + at, size);
        }));
        at += size;
    }
    return out;
}

/// The one fault of its data that code without a runtime finds; what runs it said so last.
std::optional<core::Diagnostic> dataFault(const std::string& message)
{
    const size_t start = message.find(kFailed);
    if (start == std::string::npos || !message.ends_with(kDividedByZero)) return std::nullopt;
    return makeError(core::BoardCode::DataFault, message.substr(start + std::strlen(kFailed)));
}

} // namespace

Status FileSession::readManifest()
{
    Result<core::Manifest> manifest = core::readManifest(m_request.artifactPath);
    if (!manifest) return manifest.error();
    Result<std::vector<TensorSpec>> inputs = specsOf(manifest->inputs);
    Result<std::vector<TensorSpec>> outputs = specsOf(manifest->outputs);
    if (!inputs) return inputs.error();
    if (!outputs) return outputs.error();
    m_manifest = std::move(*manifest);
    m_values.resize(inputs->size());
    m_inputs = std::move(*inputs);
    m_outputs = std::move(*outputs);
    return core::kDone;
}

Status FileSession::setInputs(const NamedTensors& inputs, const JobContext&)
{
    return placeInputs(inputs, m_inputs, m_values);
}

Status FileSession::runToEnd(const std::vector<std::string>& command, const JobContext& job) const
{
    const Status ran = runProgram(command, job, m_request.timeout);
    if (!ran)
        if (auto fault = dataFault(ran.error().message)) return *fault;
    if (!ran && ran.error().code == DiagnosticCode::IoFailure)
        return makeError(DiagnosticCode::BoardFailure, ran.error().message,
                         {.file = m_request.artifactPath});
    return ran;
}

Result<Timing> FileSession::start(const TimingRequest& timing, std::vector<Tensor>& outputs,
                                  const JobContext& job)
{
    const Result<core::TemporaryFolder> folder = core::TemporaryFolder::make("tenon-run-");
    if (!folder) return folder.error();
    std::string given;
    for (size_t i = 0; i < m_inputs.size(); ++i) {
        if (m_values[i].isNull()) {
            given.append(static_cast<size_t>(bytesOf(m_inputs[i])), '\0');
            continue;
        }
        const auto bytes = m_values[i].bytes();
        given.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    if (Status done = core::writeFileAtomically(folder->file("input"), given); !done)
        return done.error();
    Result<Timing> out = runOn(*folder, timing, job);
    if (!out) return out.error();
    const Result<std::string> bytes = core::readFile(folder->file("output"));
    if (!bytes) return bytes.error();
    Result<std::vector<Tensor>> read = tensorsOf(*bytes, m_outputs);
    if (!read) return read.error();
    outputs = std::move(*read);
    return out;
}

Result<std::vector<Tensor>> FileSession::run(const JobContext& job)
{
    std::vector<Tensor> outputs;
    const Result<Timing> ran = start({.number = 1, .repeat = 0}, outputs, job);
    if (!ran) return ran.error();
    return outputs;
}

Status FileSession::execute(const JobContext& job)
{
    Result<std::vector<Tensor>> outputs = run(job);
    if (!outputs) return outputs.error();
    m_fetched = std::move(*outputs);
    return core::kDone;
}

Result<std::vector<Tensor>> FileSession::fetchOutputs(const JobContext&) { return m_fetched; }

/// Every portion is a process of its own; the first one also times the calls.
Result<Timing> FileSession::measure(const TimingRequest& request, const JobContext& job)
{
    std::vector<Tensor> outputs;
    const double begun = steadySeconds();
    if (const auto once = run(job); !once) return once.error();
    const double onceS = steadySeconds() - begun;
    SamplingLimits limits{request.repeat, request.budgetS, request.precision};
    limits.areInstructions = countsInstructions();
    if (limits.budgetS > 0) limits.budgetS = std::max(1e-3, limits.budgetS - onceS);
    Sampling sampling(limits, std::max(onceS, request.minRepeatMs / 1e3), steadySeconds);
    Result<Timing> timing = Timing{};
    TimingRequest portion = request;
    while ((portion.repeat = sampling.next()) > 0) {
        Result<Timing> taken = start(portion, outputs, job);
        if (!taken) return taken;
        sampling.add(taken->runsMs);
        if (portion.perCall) timing = std::move(*taken);
        portion.perCall = false;
        const SamplingState state = sampling.state();
        job.progress(state.fraction, samplingText(state));
        if (request.watch) request.watch(state);
    }
    timing->runsMs = sampling.runsMs();
    timing->ending = sampling.ending();
    timing->summaryMs = sampling.state().summaryMs;
    timing->hygiene.warnings.push_back(hygieneWarning());
    if (request.coldCache) timing->hygiene.warnings.push_back("caches were not emptied");
    return timing;
}

} // namespace tenon::remote
