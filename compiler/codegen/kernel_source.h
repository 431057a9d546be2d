// SPDX-License-Identifier: Apache-2.0
// What a back end makes code of: one kernel in flat loop IR.
#pragma once

#include "core/ir/tir/stmt.h"

#include <cstdint>
#include <string>

namespace tenon::compiler {

using namespace core;

enum class EmitForm : uint8_t
{
    Object,
    LlvmIr,
    Assembly
};

struct KernelSource
{
    const tir::PrimFunc& lowered; ///< output of lowerToLoops
    std::string symbol;           ///< hidden function symbol in the object
    int vectorBytes = 16;         ///< TargetFacts::vectorBytes of the machine
};

/// A kernel in another language, for another compiler.
struct SourceKernel
{
    std::string text;         ///< of one function, named by the kernel's symbol
    int64_t scratchBytes = 0; ///< memory the caller lends it for the call
};

} // namespace tenon::compiler
