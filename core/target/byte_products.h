// SPDX-License-Identifier: Apache-2.0
// hasByteDots: whether a processor sums products of four bytes by one instruction.
#pragma once

#include "core/target/target_facts.h"

namespace tenon::core {

/// Dot products take four times as many bytes as there are floats; what adds up pairs of 16-bit
/// products in their place takes half as many more.
constexpr bool hasByteDots(const TargetFacts& facts)
{
    return facts.byteMacs >= 3 * facts.floatMacs;
}

} // namespace tenon::core
