// SPDX-License-Identifier: Apache-2.0
// Small chains of operators as one kernel.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test {

/// The unscheduled kernel of "%x: Tensor[..], %y: Tensor[..]" followed by lines "%z = op(%x, %y)";
/// the last value is the output.
core::Result<tir::PrimFunc> fusedKernel(const std::string& text);
/// The same of an operator's example "%x: Tensor[..] => op(%x)".
core::Result<tir::PrimFunc> exampleKernel(const std::string& example);
/// "1, 2, 3", as shapes and attributes of those texts have it.
std::string list(const std::vector<int64_t>& numbers);

} // namespace tenon::test
