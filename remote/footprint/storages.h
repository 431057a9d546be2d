// SPDX-License-Identifier: Apache-2.0
// Memory of the graph executor by what it holds.
#pragma once

#include "compiler/driver/compile.h"

namespace tenon::remote {

/// Storages that lie in the executor's memory; constants do not.
struct Storages
{
    int64_t io = 0;     ///< that hold an input or output
    int64_t others = 0; ///< that hold intermediates only
};

Storages storagesOf(const compiler::ExecutorProgram& program);

} // namespace tenon::remote
