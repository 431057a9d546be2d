// SPDX-License-Identifier: Apache-2.0
// How many rows of its result a chain of convolutions computes at a time.
#pragma once

#include "core/target/target_facts.h"

#include <cstdint>

namespace tenon::compiler {

using namespace core;

/// A proper divisor of `rows` for which what lies between the convolutions, `rowBytes` per row of
/// the result, stays in the second-level cache; one that gives all threads as many strips where
/// that does not halve them. 1 where not even two rows fit.
int64_t rowsPerStrip(int64_t rows, int64_t rowBytes, const TargetFacts& facts);

} // namespace tenon::compiler
