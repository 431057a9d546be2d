// SPDX-License-Identifier: Apache-2.0
// Who decides the number of threads: the user, the target, the board or this computer, in this
// order, and the artifact where one is run.
#include "core/target/thread_choice.h"

#include "core/base/option_code.h"

#include <algorithm>

namespace tenon::core {
namespace {

std::string countText(unsigned count)
{
    return std::to_string(count) + (count == 1 ? " thread" : " threads");
}

unsigned coresOf(const Target& target)
{
    return static_cast<unsigned>(
        std::clamp<int64_t>(target.intOption("num-cores", 0), 0, kMostThreads));
}

const char* sourceText(ThreadSource source)
{
    switch (source) {
    case ThreadSource::Single: return "what is made for this target has no threads";
    case ThreadSource::Asked: return "--threads";
    case ThreadSource::Target: return "-num-cores of the target";
    case ThreadSource::ThisComputer: return "the processors that may be used of this computer";
    case ThreadSource::Probe: return "the processors that may be used of the board";
    case ThreadSource::Profile: return "the cores of such boards";
    case ThreadSource::Artifact: return "what the artifact was compiled for";
    case ThreadSource::Unknown: return "nothing says how many cores the target has";
    }
    return "";
}

} // namespace

std::string ThreadChoice::text() const
{
    std::string out = countText(running()) + ": ";
    if (running() < count)
        return out +
               "the system there lets no more processors be used; the kernels are shaped for " +
               std::to_string(count) + " (" + sourceText(source) + ")";
    out += sourceText(source);
    if (isAsked() && ofTarget > 0 && ofTarget != count)
        out += ", where the target has -num-cores=" + std::to_string(ofTarget);
    if (isShort()) out += ", on " + std::to_string(usable) + " that may be used there";
    if (source == ThreadSource::Unknown) out += "; add -num-cores or --threads";
    return out;
}

std::optional<Diagnostic> ThreadChoice::remark() const
{
    if (source == ThreadSource::Asked && ofTarget > 0 && count > ofTarget)
        return makeWarning(OptionCode::ThreadCount, text());
    if (source == ThreadSource::Unknown)
        return Diagnostic{Severity::Note, OptionCode::ThreadCount, text(), {}, {}};
    return std::nullopt;
}

ThreadChoice chooseThreads(const Target& target, const KnownCores& known)
{
    const unsigned ofTarget = coresOf(target);
    const auto chosen = [&](unsigned count, ThreadSource source) {
        return ThreadChoice{std::clamp(count, 1u, kMostThreads), source, ofTarget};
    };
    if (!known.hasThreads) return chosen(1, ThreadSource::Single);
    if (known.asked > 0) return chosen(known.asked, ThreadSource::Asked);
    ThreadChoice choice = chosen(1, ThreadSource::Unknown);
    if (ofTarget > 0)
        choice = chosen(ofTarget, ThreadSource::Target);
    else if (known.board > 0)
        choice = chosen(known.board, known.boardSource);
    else if (isThisComputer(target) && known.thisComputer > 0)
        choice = chosen(known.thisComputer, ThreadSource::ThisComputer);
    const bool agrees = choice.count == known.artifact && choice.source != ThreadSource::Unknown;
    if (known.artifact > 0 && !agrees) return chosen(known.artifact, ThreadSource::Artifact);
    return choice;
}

bool isThisComputer(const Target& target)
{
    return target.kind == "llvm" && (target.mtriple.empty() || target.mcpu == "native");
}

} // namespace tenon::core
