// SPDX-License-Identifier: Apache-2.0
// The options of TFLite_Detection_PostProcess.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tenon::compiler {

struct DetectionOptions
{
    int64_t most = 0, perClass = 0, classes = 0, classesPerBox = 1;
    bool isRegular = false;
    double leastScore = 0, overlap = 0;
    std::array<double, 4> scales{}; ///< of y, x, h, w
};

/// As the file has them, whether usable or not; nothing when they are no map of numbers.
std::optional<DetectionOptions> readDetectionOptions(std::span<const std::byte> bytes);

} // namespace tenon::compiler
