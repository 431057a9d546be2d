// SPDX-License-Identifier: Apache-2.0
// The memories that emitted code takes, as options of the command line.
#pragma once

#include "app/cli/command.h"
#include "compiler/driver/named_pools.h"

namespace tenon::cli {

/// Adds --workspace-pools, --constant-pools and what tvmc says of single pools.
void addPoolOptions(CLI::App& command, compiler::PoolLists& lists);

} // namespace tenon::cli
