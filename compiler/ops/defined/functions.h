// SPDX-License-Identifier: Apache-2.0
// The functions that definitions may call, and the combiners of their reductions.
#pragma once

#include "compiler/te/te.h"
#include "core/ir/tir/expr.h"

#include <string_view>

namespace tenon::compiler {

struct DefinedFunction
{
    std::string_view name;
    tir::Intrinsic intrinsic;
    bool onlyFloats = true;
};

/// By name, without min, max and clamp, which are no intrinsics; null when there is none.
const DefinedFunction* findDefinedFunction(std::string_view name);

struct DefinedCombiner
{
    std::string_view name;
    te::Combiner combiner;
};
const DefinedCombiner* findDefinedCombiner(std::string_view name);

} // namespace tenon::compiler
