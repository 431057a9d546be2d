// SPDX-License-Identifier: Apache-2.0
// How many rows of its result a chain of convolutions computes at a time.
#pragma once

#include "core/target/target_facts.h"

#include <cstdint>

namespace tenon::compiler {

using namespace core;

/// At most half of `rows`, so that what lies between the convolutions, `rowBytes` per row of the
/// result, stays in the second-level cache; all threads get as many strips where that is possible.
/// The last strip may be shorter where no divisor comes near. 1 where not even two rows fit.
int64_t rowsPerStrip(int64_t rows, int64_t rowBytes, const TargetFacts& facts);

} // namespace tenon::compiler
