// SPDX-License-Identifier: Apache-2.0
// The program's request is three counts in front of the inputs, its times are nanoseconds.
#include "remote/session/program_session.h"

#include "core/base/file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace tenon::remote {

using core::JobContext;
using core::Result;
using core::Status;

namespace {

constexpr int kProfiledInferences = 5;

/// One program's run: `repeat` times of `number` inferences, then the profiled ones.
struct Counts
{
    int32_t number;
    int32_t repeat;
    int32_t profiles;
};

std::vector<int64_t> numbersOf(const std::string& bytes)
{
    std::vector<int64_t> out(bytes.size() / sizeof(int64_t));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(int64_t));
    return out;
}

} // namespace

double ProgramSession::milliseconds(int64_t nanoseconds) const
{
    return static_cast<double>(nanoseconds) / std::max(1, m_request.instructionNs) / 1e6;
}

/// From the instants at the calls and at the end of each profiled inference.
void ProgramSession::addCalls(std::span<const int64_t> instants, Timing& timing) const
{
    const size_t calls = m_manifest.calls.size();
    for (size_t call = 0; call < calls; ++call) {
        std::vector<double> taken;
        for (size_t at = call; at + 1 < instants.size(); at += calls + 1)
            taken.push_back(milliseconds(instants[at + 1] - instants[at]));
        timing.callMs.push_back(summarize(std::move(taken)).median);
        timing.callSumMs += timing.callMs.back();
    }
}

/// Whole systems get no words: they find the files where they run.
std::vector<std::string> ProgramSession::command(const core::TemporaryFolder& folder) const
{
    std::vector<std::string> words = m_request.emulator;
    if (m_request.instructionNs == 0) {
        words.insert(words.end(), {m_request.artifactPath, folder.file("request"),
                                   folder.file("output"), folder.file("times")});
        return words;
    }
    std::error_code ignored;
    words.insert(words.begin(), {"env", "-C", folder.path()});
    words.push_back(std::filesystem::absolute(m_request.artifactPath, ignored).string());
    return words;
}

Result<std::unique_ptr<LocalSession>> ProgramSession::open(const RunRequest& request)
{
    std::unique_ptr<ProgramSession> session(new ProgramSession(request));
    if (Status read = session->readManifest(); !read) return read.error();
    return std::unique_ptr<LocalSession>(std::move(session));
}

Result<Timing> ProgramSession::runOn(const core::TemporaryFolder& folder,
                                     const TimingRequest& timing, const JobContext& job)
{
    const Result<std::string> inputs = core::readFile(folder.file("input"));
    if (!inputs) return inputs.error();
    // The graph executor of bare boards calls its kernels without marks; counts never differ.
    const bool hasMarks = m_request.instructionNs == 0 || m_manifest.executor != "graph";
    const int profiles = m_request.instructionNs > 0 ? 1 : kProfiledInferences;
    Counts counts{std::max(1, timing.number), timing.repeat,
                  timing.perCall && hasMarks ? profiles : 0};
    for (;;) {
        const std::string head(reinterpret_cast<const char*>(&counts), sizeof counts);
        if (Status done = core::writeFileAtomically(folder.file("request"), head + *inputs); !done)
            return done.error();
        if (Status ran = runToEnd(command(folder), job); !ran) return ran.error();
        const Result<std::string> bytes = core::readFile(folder.file("times"));
        if (!bytes) return bytes.error();
        const std::vector<int64_t> numbers = numbersOf(*bytes);
        const auto repeats = static_cast<size_t>(counts.repeat);
        const size_t instants =
            (m_manifest.calls.size() + 1) * static_cast<size_t>(counts.profiles);
        if (numbers.size() != repeats + instants)
            return core::makeError(core::DiagnosticCode::BoardFailure,
                                   "the run wrote too few times", {.file = m_request.artifactPath});
        Timing out;
        for (size_t i = 0; i < repeats; ++i)
            out.runsMs.push_back(milliseconds(numbers[i]) / counts.number);
        const double shortest =
            repeats > 0 && m_request.instructionNs == 0
                ? *std::min_element(out.runsMs.begin(), out.runsMs.end()) * counts.number
                : timing.minRepeatMs;
        if (shortest < timing.minRepeatMs) {
            counts.number *= 2;
            continue;
        }
        if (counts.profiles > 0) addCalls(std::span(numbers).subspan(repeats), out);
        return out;
    }
}

std::string ProgramSession::hygieneWarning() const
{
    if (m_request.instructionNs > 0)
        return "instructions, counted by the emulated board: each takes a cycle or more of silicon";
    return "timed inside the program, on one thread and tied to no CPU";
}

} // namespace tenon::remote
