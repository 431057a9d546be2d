// SPDX-License-Identifier: Apache-2.0
// Running a function before and after scheduling on the same random inputs.
#pragma once

#include "core/ir/tir/stmt.h"
#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace tenon::test {

/// Deterministic small values for every input of the function.
std::vector<core::Tensor> randomInputs(const tir::PrimFunc& function, unsigned seed = 1);

/// Empty when both functions compute the same on random inputs, else what differs. Flat (lowered)
/// functions take the same tensors under their own shapes. Symbolic sizes are `firstSize` and up.
std::string difference(const tir::PrimFunc& a, const tir::PrimFunc& b, int64_t firstSize = 2);

/// Empty when `scheduled`, and its lowered form, compute what `before` does.
std::string scheduleDifference(const tir::PrimFunc& before, const tir::PrimFunc& scheduled,
                               int64_t firstSize = 2);

} // namespace tenon::test
