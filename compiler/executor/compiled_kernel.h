// SPDX-License-Identifier: Apache-2.0
// CompiledKernel: one distinct kernel with everything that led to its code.
#pragma once

#include "core/ir/module.h"

#include <memory>
#include <string>

namespace tenon::compiler {

/// Several calls of the program may use it.
struct CompiledKernel
{
    std::string name;     ///< in the lowered module
    std::string symbol;   ///< hash-named symbol of the object
    std::string function; ///< readable alias, e.g. "tvmgen_default_fused_nn_conv2d_nn_relu"
    std::string tirHash;
    core::PrimFuncPtr unscheduled;
    std::string scheduleRule;
    std::string refusal;                       ///< ScheduledKernel::refusal
    std::string scheduleTrace;                 ///< replayable text
    std::string scheduledText;                 ///< TIR after the schedule
    std::string loweredText;                   ///< flat TIR; what the object's line table refers to
    std::shared_ptr<const std::string> object; ///< or source
    bool fromCache = false;
    double compileMs = 0;
};

} // namespace tenon::compiler
