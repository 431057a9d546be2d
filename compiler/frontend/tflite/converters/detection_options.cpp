// SPDX-License-Identifier: Apache-2.0
// Numbers of a flexbuffer by their names; what is absent has the operator's own default.
#include "compiler/frontend/tflite/converters/detection_options.h"

#include "compiler/frontend/tflite/file/flexbuffer.h"

namespace tenon::compiler {

std::optional<DetectionOptions> readDetectionOptions(std::span<const std::byte> bytes)
{
    const auto numbers = flexNumbers(bytes);
    if (!numbers) return std::nullopt;
    const auto number = [&](const char* name, double fallback) {
        const auto found = numbers->find(name);
        const double value = found == numbers->end() ? fallback : found->second;
        return value >= -1e9 && value <= 1e9 ? value : fallback;
    };
    const auto integer = [&](const char* name, double fallback) {
        return static_cast<int64_t>(number(name, fallback));
    };
    return DetectionOptions{.most = integer("max_detections", 0),
                            .perClass = integer("detections_per_class", 100),
                            .classes = integer("num_classes", 0),
                            .classesPerBox = integer("max_classes_per_detection", 1),
                            .isRegular = number("use_regular_nms", 0) != 0,
                            .leastScore = number("nms_score_threshold", 0),
                            .overlap = number("nms_iou_threshold", 0.5),
                            .scales = {number("y_scale", 1), number("x_scale", 1),
                                       number("h_scale", 1), number("w_scale", 1)}};
}

} // namespace tenon::compiler
