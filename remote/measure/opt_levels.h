// SPDX-License-Identifier: Apache-2.0
// One model compiled at every optimization level and measured on this computer: what the levels are
// worth.
#pragma once

#include "compiler/driver/compile.h"
#include "remote/session/local_board.h"

#include <functional>

namespace tenon::remote {

struct OptLevel
{
    int level = 0;
    size_t calls = 0;
    size_t kernels = 0;
    core::ManifestMemory memory;
    int64_t fileBytes = 0; ///< of the library
    Timing timing;
    bool isEmulated = false; ///< its times say nothing of the device
};

/// What measureLevels() compiles and how it measures; `options.optLevel` is each in turn.
struct LevelsRequest
{
    std::shared_ptr<const compiler::Loaded> loaded;
    compiler::CompileOptions options;
    TimingRequest timing;
    std::vector<int> levels{0, 1, 2, 3};
    std::function<void(const OptLevel&)> done = {}; ///< called after each
};

core::Result<std::vector<OptLevel>> measureLevels(const LevelsRequest& request,
                                                  core::JobContext& job);

} // namespace tenon::remote
