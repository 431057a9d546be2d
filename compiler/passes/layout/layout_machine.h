// SPDX-License-Identifier: Apache-2.0
// What passes that weigh forms of convolutions weigh them for.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "compiler/passes/pass.h"

namespace tenon::compiler {

/// Whether bytes side by side are multiplied for one sum.
bool multipliesRuns(const PassContext& context);

/// Channels of bytes that fill a block.
int byteLanes(const PassContext& context);

/// Of one function. Without Winograd's method where memory counts for more than time, or where its
/// error would show in whole numbers.
LayoutMachine layoutMachine(const Module& module, const GraphFunction& function,
                            const PassContext& context);

} // namespace tenon::compiler
