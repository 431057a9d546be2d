// SPDX-License-Identifier: Apache-2.0
// One operator on given values: by its definition, and compiled for this computer.
#pragma once

#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace tenon::test {

/// Normal float32 values, the same for the same seed.
core::Tensor normal(std::vector<int64_t> shape, unsigned seed);
/// Of an example ("%x: Tensor[...] => op(%x)"), by the operator's definition.
core::Tensor evaluated(const std::string& example, const std::vector<core::Tensor>& inputs);
/// Of an example whose kernel `rule` schedules, with two threads.
core::Tensor compiled(const std::string& example, const std::vector<core::Tensor>& inputs,
                      const std::string& rule);
/// "%x: Tensor[(1, 4), float32]".
std::string typeText(const std::string& name, const std::vector<int64_t>& shape);
/// An example that brings %x from one layout into another.
std::string layoutMove(const core::Tensor& value, const std::string& from, const std::string& to);

} // namespace tenon::test
