// SPDX-License-Identifier: Apache-2.0
// Threads, emulator and memory of a run on this computer.
#include "app/runs/local_run.h"

#include "app/runs/memory_need.h"
#include "compiler/driver/target_cores.h"
#include "core/base/processors.h"
#include "core/base/text.h"
#include "remote/session/emulation.h"

#include <filesystem>

namespace tenon::runs {

Result<ThreadChoice> threadsOf(const Manifest& manifest, unsigned asked)
{
    const auto target = parseTarget(manifest.target);
    if (!target) return target.error();
    return chooseThreads(*target, {.asked = asked,
                                   .thisComputer = usableProcessors(),
                                   .artifact = manifest.threads,
                                   .hasThreads = compiler::hasThreads(*target)});
}

Result<remote::RunRequest> requestHere(const std::string& path, const Manifest& manifest,
                                       unsigned threads, std::chrono::seconds timeout)
{
    const auto chosen = threadsOf(manifest, threads);
    if (!chosen) return chosen.error();
    remote::RunRequest request{.artifactPath = path,
                               .threads = chosen->count,
                               .mayExceedProcessors = chosen->isAsked(),
                               .timeout = timeout};
    const auto target = parseTarget(manifest.target);
    if (!target) return target.error();
    if (Status found = remote::runHere(request, *target); !found) return found.error();
    if (Status fits = needFittingMemory(manifest); !fits) return fits.error();
    return request;
}

std::string placeOf(const remote::RunRequest& request)
{
    if (request.emulator.empty()) return "this computer";
    if (!request.isEmulated) return "node on this computer";
    if (request.instructionNs > 0) return "an emulated board that counts instructions";
    std::vector<std::string> words = request.emulator;
    words.front() = std::filesystem::path(words.front()).filename().string();
    return "emulated by " + join(words, " ");
}

} // namespace tenon::runs
