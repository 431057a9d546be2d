// SPDX-License-Identifier: Apache-2.0
// The memories that emitted code takes, from what users say of them.
#pragma once

#include "compiler/driver/compile.h"
#include "compiler/memory/pools.h"

namespace tenon::compiler {

struct PoolLists
{
    PoolOptions workspace;
    PoolOptions constants;
};

/// Reads both for the options' target; the options stay as they are on error. Errors: those of
/// namedPools() and checkApart().
Status namePools(const PoolLists& lists, CompileOptions& how);

} // namespace tenon::compiler
