// SPDX-License-Identifier: Apache-2.0
// ThreadChoice: how many threads a model is compiled for and run with, and who says so. The only
// place that decides it.
#pragma once

#include "core/target/target.h"

#include <optional>
#include <string>

namespace tenon::core {

/// As many as a pool of threads can have.
inline constexpr unsigned kMostThreads = 256;

/// Who said how many threads.
enum class ThreadSource : uint8_t
{
    Single,       ///< what is made for the target runs on one thread
    Asked,        ///< --threads
    Target,       ///< -num-cores
    ThisComputer, ///< the processors that this process may use
    Probe,        ///< the board, when it was last asked
    Profile,      ///< the description of boards of its kind
    Artifact,     ///< it was compiled for so many
    Unknown       ///< nobody: one
};

/// What is known beside the target; 0: not known, not asked.
struct KnownCores
{
    unsigned asked = 0;
    unsigned thisComputer = 0;
    unsigned board = 0;
    ThreadSource boardSource = ThreadSource::Probe; ///< or Profile
    unsigned artifact = 0;                          ///< of a model compiled before
    bool hasThreads = true;                         ///< what is made for the target can have any
};

struct ThreadChoice
{
    unsigned count = 1;
    ThreadSource source = ThreadSource::Unknown;
    unsigned ofTarget = 0; ///< -num-cores; 0: none
    unsigned usable = 0;   ///< processors of the machine that runs it; 0: not known

    bool isAsked() const { return source == ThreadSource::Asked; }
    /// True where the machine gives fewer than the kernels are shaped for.
    bool isShort() const { return usable > 0 && usable < count; }
    /// That run: as many as were chosen, unless the machine gives fewer and nobody insists.
    unsigned running() const { return isShort() && !isAsked() ? usable : count; }
    /// "4 threads: -num-cores of the target".
    std::string text() const;
    /// A warning where --threads and the target contradict one another, a note where nobody knows
    /// how many cores there are.
    std::optional<Diagnostic> remark() const;
};

/// --threads over what the artifact was compiled for over -num-cores over what is known of the
/// place where the model runs.
ThreadChoice chooseThreads(const Target& target, const KnownCores& known);

/// True for a target that means the computer that compiles.
bool isThisComputer(const Target& target);
} // namespace tenon::core
