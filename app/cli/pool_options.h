// SPDX-License-Identifier: Apache-2.0
// The memories that emitted code takes, as options of the command line.
#pragma once

#include "app/cli/command.h"
#include "compiler/memory/pools.h"

namespace tenon::cli {

struct PoolLists
{
    compiler::PoolOptions workspace;
    compiler::PoolOptions constants;
};

/// Adds --workspace-pools, --constant-pools and what tvmc says of single pools.
void addPoolOptions(CLI::App& command, PoolLists& lists);

/// Reads both for the options' target. Errors: those of namedPools() and checkApart().
Status namePools(const PoolLists& lists, compiler::CompileOptions& how);

} // namespace tenon::cli
