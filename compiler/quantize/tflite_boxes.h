// SPDX-License-Identifier: Apache-2.0
// TfliteBoxes: the best boxes that do not overlap, as NonMaxSuppression of ONNX and what fills its
// rows, as many as the data say, up to a number that is known.
#pragma once

#include "compiler/frontend/tflite/converters/detection_options.h"
#include "compiler/quantize/tflite_parts.h"

namespace tenon::compiler {

class TfliteBoxes : protected TfliteParts
{
public:
    using TfliteParts::TfliteParts;

protected:
    void detect();
    void suppress();

private:
    /// Of the batches, classes and boxes that are chosen: names of tensors.
    struct Chosen
    {
        std::string rows, total;
    };
    /// What stands in rows, one each: names of tensors.
    struct Detections
    {
        std::string corners, classes, scores, total;
    };

    /// Columns [begin, end) of a matrix.
    std::string columns(const std::string& from, int64_t begin, int64_t end,
                        const std::string& leaf);
    std::string column(const std::string& from, int64_t at, const std::string& leaf);
    std::string anchors(int64_t begin, const std::string& leaf);
    std::string classScores(const DetectionOptions& options);
    std::string corners(const DetectionOptions& options);
    Chosen chosenFrom(const std::vector<std::string>& inputs);
    /// As many, with zeros behind those that are chosen.
    std::string firstRows(const Chosen& chosen, int64_t count);
    /// Whether the places 0, 1, .. are below the total.
    std::string areFound(const std::string& total, int64_t count, const std::string& leaf);
    Detections firstOf(const DetectionOptions& options, const std::string& scores, int64_t count);
    Detections bestOf(const DetectionOptions& options, const std::string& scores, int64_t count);
    std::vector<std::string> limits(int64_t most, const DetectionOptions& options);
    bool areBoxes(const DetectionOptions& options);
    bool areDetections(int64_t most);
    void answer(const Detections& found, int64_t count, int64_t rest);
    /// What the node makes with as many zeros behind along its first axis.
    void extend(tenon_onnx::NodeProto& made, int64_t rest, size_t rank, const std::string& result);
};

} // namespace tenon::compiler
