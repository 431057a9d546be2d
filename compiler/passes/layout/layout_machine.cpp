// SPDX-License-Identifier: Apache-2.0
// The facts of the target with what the model and the configuration allow.
#include "compiler/passes/layout/layout_machine.h"

#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/quantized_layout.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Channels of bytes side by side on cores without vectors, in words of four that loops unroll, or
/// with instructions that take them all for one sum.
constexpr int kWordLanes = 16;

} // namespace

bool multipliesRuns(const PassContext& context)
{
    return context.code.savesMemory && context.facts.vectorBytes >= 16;
}

int byteLanes(const PassContext& context)
{
    const bool hasWords = context.facts.vectorBytes < 16 || multipliesRuns(context);
    return hasWords ? kWordLanes : blockLanes(context.facts);
}

LayoutMachine layoutMachine(const Module& module, const GraphFunction& function,
                            const PassContext& context)
{
    constexpr int kMostLanes = 16;
    // Memory counts for more than time there; or the error would show.
    const bool isExact = context.code.savesMemory || hasFineSteps(module, function);
    return {std::min(context.facts.lanes(4), kMostLanes),
            isExact ? 0 : context.number("winograd.max_error", kWinogradMaxError),
            staysInCache(module, function, context.facts.l2Bytes), context.facts,
            byteLanes(context)};
}

} // namespace tenon::compiler
