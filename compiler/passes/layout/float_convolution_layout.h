// SPDX-License-Identifier: Apache-2.0
// Convolutions of floats in blocks of channels: direct ones, Winograd's, and products of halves.
#pragma once

#include "compiler/passes/error/error_budget.h"
#include "compiler/passes/layout/layout_plan.h"
#include "compiler/passes/layout/layout_values.h"
#include "compiler/passes/use_index.h"

namespace tenon::compiler {

/// What AlterOpLayout hands over for one nn.conv2d.
struct FloatConvolutionSite
{
    const Module& module;
    const NodeRecord& node;
    LayoutValues& values;
    const LayoutMachine& machine;
    const ErrorBudget& budget;
    const LayoutPlan& plan;
    const UseIndex& uses;
};

/// Writes it in the form that the budget chose, on the blocks that the plan chose; false for what
/// must stay as it is.
bool alterFloatConvolution(const FloatConvolutionSite& site);

} // namespace tenon::compiler
