// SPDX-License-Identifier: Apache-2.0
// TfliteParts: what several operators of a TensorFlow Lite model need, to become nodes of ONNX.
#pragma once

#include "compiler/quantize/tflite_recurrent.h"

namespace tenon::compiler {

class TfliteParts : protected TfliteRecurrent
{
public:
    using TfliteRecurrent::TfliteRecurrent;

protected:
    /// Where a window's options have what it needs; -1: it has none of these.
    struct Fields
    {
        int padding = 0, strideW = 1, strideH = 2, dilationW = -1, dilationH = -1, activation = -1;
    };

    /// The result behind the operator's fused activation.
    void finish(tenon_onnx::NodeProto& made, bool isPlanes, int activation);
    /// strides, dilations and explicit padding.
    void setWindow(tenon_onnx::NodeProto& made, const std::vector<int64_t>& kernel,
                   const Fields& fields);
    void activate(tenon_onnx::NodeProto& made, const std::string& result, int activation);
    /// Four axes, or a constant of one number or one per channel.
    bool canBePlanes(int64_t index);
    std::string channels(int64_t index);
    /// The one input of an operator on elements, in the order of axes that it is there in.
    std::string elements(bool isPlanes)
    {
        return isPlanes ? asPlanes(input(0)) : asGiven(input(0));
    }
    /// One of several inputs of an operator on elements.
    std::string operand(size_t at, bool isPlanes);
    std::vector<int64_t> integersAt(size_t at);
    /// `from` with the sizes that the file declares for the result.
    void shaped(const std::string& from, int64_t result);
    /// Elements [begin, end) with a step, by axis, of a value in the file's order.
    std::string slice(const std::string& from, const std::vector<int64_t>& begin,
                      const std::vector<int64_t>& end, const std::vector<int64_t>& steps,
                      const std::string& name);
    /// Integers of an input as operators of ONNX take them.
    std::string longs(size_t at);
    int64_t axisOf(int64_t axis, size_t rank) const;
    /// What the file declares need not be what is computed; these fail where it does not fit.
    bool needRank(int64_t index, size_t rank);
    bool needAxis(int64_t axis, size_t rank);
};

} // namespace tenon::compiler
