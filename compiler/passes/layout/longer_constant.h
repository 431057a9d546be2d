// SPDX-License-Identifier: Apache-2.0
// Constants with entries more along one axis.
#pragma once

#include "core/tensor/tensor.h"

namespace tenon::compiler {

/// `tensor` with `more` entries of `fill` behind each run along `axis`.
core::Tensor longer(const core::Tensor& tensor, size_t axis, int64_t more, int fill);

} // namespace tenon::compiler
