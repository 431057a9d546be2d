// SPDX-License-Identifier: Apache-2.0
// Statistics of batch normalizations as training leaves them: those of the values that arrive when
// the model runs on images.
#pragma once

#include "tests/zoo/plain_evaluation.h"

namespace tenon::test {

/// Images like photographs, [count, 3, size, size], normalized as ImageNet's are: discs of all
/// sizes that cover one another, shaded, with a grain.
Values photographs(int64_t count, int64_t size, uint64_t seed);

/// The model with running means and variances of these images, layer after layer.
std::string calibrated(const std::string& modelBytes, const Values& images);

} // namespace tenon::test
