// SPDX-License-Identifier: Apache-2.0
// What a written program needs to run on this computer, and how that place is called.
#pragma once

#include "core/artifact/manifest.h"
#include "core/base/result.h"
#include "core/target/thread_choice.h"
#include "remote/session/local_board.h"

#include <chrono>
#include <string>

namespace tenon::runs {

using namespace core;

/// With how many threads it runs: as asked for, or as many as it was compiled for.
Result<ThreadChoice> threadsOf(const Manifest& manifest, unsigned asked);

/// A request to run the file on this computer; code for another processor is emulated. Errors:
/// UnsupportedTarget, BadModel for what does not fit the memory.
Result<remote::RunRequest> requestHere(const std::string& path, const Manifest& manifest,
                                       unsigned threads, std::chrono::seconds timeout);

/// "this computer", or the emulator with its options.
std::string placeOf(const remote::RunRequest& request);

} // namespace tenon::runs
