// SPDX-License-Identifier: Apache-2.0
// Products in place of quotients that are rounded to integers.
#pragma once

#include <cstdint>
#include <optional>

namespace tenon::compiler {

/// 1 / divisor in two parts, neither of them negative.
struct NearReciprocal
{
    float high, low; ///< low: 0 where high is exact
};

/// With which fma(x, high, x * low), or x * high where that is exact, rounds to the same integer as
/// x / divisor for every binary32 x, infinities too, where integers are limited to +-most; nothing
/// where they would differ for one.
std::optional<NearReciprocal> nearReciprocal(float divisor, int64_t most);

} // namespace tenon::compiler
