// SPDX-License-Identifier: Apache-2.0
// Structural rules of the graph IR; operator rules are checked where the operators are known.
#pragma once

#include "core/base/result.h"
#include "core/ir/module.h"

#include <vector>

namespace tenon::core {

struct VerifyOptions
{
    bool types = true;        ///< every node has types; parameters always must
    bool allReachable = true; ///< every function is called or belongs to a loop-function call
};

/// Every violation found, as InvalidIr errors: definition before use, ids in one place only,
/// existing results, callees and kernels with fitting types, no recursion, sorted origins.
std::vector<Diagnostic> verifyModule(const Module& module, const VerifyOptions& options = {});

} // namespace tenon::core
