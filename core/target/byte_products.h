// SPDX-License-Identifier: Apache-2.0
// How a processor with vectors sums products of bytes.
#pragma once

#include "core/target/target_facts.h"

namespace tenon::core {

/// Where processors multiply tiles (TargetFacts::byteTileMacs): their rows, and words of four bytes
/// in each.
inline constexpr int64_t kTileRows = 16, kTileWords = 16;

/// Dot products take four times as many bytes as there are floats; what adds up pairs of 16-bit
/// products in their place takes half as many more.
constexpr bool hasByteDots(const TargetFacts& facts)
{
    return facts.byteMacs >= 3 * facts.floatMacs;
}

/// Of those that multiply bytes, x86 without dot products: pairs of 16-bit products are added to
/// sums of 32 bits by two instructions.
constexpr bool addsPairsOfHalves(const TargetFacts& facts)
{
    return facts.vectorBytes >= 16 && !facts.hasHalfLanes && !hasByteDots(facts);
}

} // namespace tenon::core
