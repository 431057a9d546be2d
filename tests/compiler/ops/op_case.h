// SPDX-License-Identifier: Apache-2.0
// Running small graph texts through type inference, lowering and both evaluators.
#pragma once

#include "core/ir/module.h"
#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace tenon::test {

/// The module of "%x: Tensor[..], %y: Tensor[..] => op(%x, %y, attr=1)" with types inferred.
core::Result<core::Module> exampleModule(const std::string& example);

/// Inputs for main's parameters: floats in (-1, 1), integers in [0, 3), bools.
std::vector<core::Tensor> randomInputs(const core::Module& module, unsigned seed);

/// A fresh version of the module in which every node has its inferred types.
core::Result<core::Module> inferred(core::Module module);

/// The loop function of one Op node, verified.
core::Result<core::PrimFuncPtr> lowered(const core::Module& module, const core::NodeRecord& node);

/// What the last line of `body` (graph IR lines without def and return) evaluates to: one line
/// "type: values" per result, or "error code: message". CHECKs that both evaluators agree.
std::string runBody(const std::string& body);

} // namespace tenon::test
