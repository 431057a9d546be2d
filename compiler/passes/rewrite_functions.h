// SPDX-License-Identifier: Apache-2.0
// What a pass that is one class per function does with it.
#pragma once

#include "compiler/passes/pass.h"
#include "compiler/passes/use_index.h"

#include <utility>

namespace tenon::compiler {

/// Patches of `Rewriter(module, function, arguments...).run()` for every open function.
template <class Rewriter, class... Arguments>
Patches rewriteFunctions(const Module& module, const Arguments&... arguments)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module))
        for (Patch& patch : Rewriter(module, *function, arguments...).run())
            patches.push_back(std::move(patch));
    return patches;
}

} // namespace tenon::compiler
