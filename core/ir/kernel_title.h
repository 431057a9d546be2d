// SPDX-License-Identifier: Apache-2.0
// KernelTitle: what a kernel does and for which part of the model, in words for people; symbols are
// for linkers.
#pragma once

#include "core/ir/module.h"

#include <string>

namespace tenon::core {

/// "conv 3x3 s2 + relu6 -> dw 3x3 -> conv 1x1" and "features.0-1"; either may be empty.
struct KernelTitle
{
    std::string work; ///< stages with "->" between them, what is done to a stage's results with "+"
    std::string place; ///< in the model's hierarchy, or names of its nodes
    /// Both, with " · " between them.
    std::string text() const;
};

/// Of a fused call, of the kernel call that was made of it, or of an operator.
KernelTitle kernelTitle(const Module& module, const NodeRecord& node);

/// One operator: "conv 3x3 s2", "dw 3x3", "max pool 2x2 s2", "relu6", "dense int8".
std::string operatorTitle(const Module& module, const NodeRecord& node);

} // namespace tenon::core
