// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of axes at round values.
#pragma once

#include <cstdint>
#include <vector>

namespace tenon::views {

enum class StepKind : uint8_t
{
    Decimal, ///< 1, 2, 5, 10, 20, 50, ... and their tenths
    Binary   ///< powers of two, for bytes; 1 at least
};

/// The smallest round step that is not below `least`, which is positive.
double roundStep(double least, StepKind kind = StepKind::Decimal);
/// The multiples of a round step from `least` to `most`, about `count` of them and never more than
/// one above it.
std::vector<double> roundTicks(double least, double most, int count, StepKind kind);

} // namespace tenon::views
