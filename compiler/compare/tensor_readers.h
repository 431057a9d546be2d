// SPDX-License-Identifier: Apache-2.0
// Who takes the tensors of a comparison in the compiled program.
#pragma once

#include "core/compare/rounded_tensors.h"
#include "core/ir/module.h"

#include <vector>

namespace tenon::compiler {

using namespace core;

/// Of each of `tensors`, values of the lowered main function; readers are indices of them.
std::vector<TensorReaders> readersOf(const Module& lowered, const std::vector<ValueRef>& tensors);

} // namespace tenon::compiler
