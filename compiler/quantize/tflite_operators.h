// SPDX-License-Identifier: Apache-2.0
// TfliteOperators: each operator of a TensorFlow Lite model of floats as nodes of ONNX.
#pragma once

#include "compiler/quantize/tflite_tensors.h"

namespace tenon::compiler {

class TfliteOperators : protected TfliteTensors
{
public:
    using TfliteTensors::TfliteTensors;

protected:
    using Handler = void (TfliteOperators::*)();
    /// Null where there is no counterpart.
    static Handler handlerOf(const TfliteOperator& op);

private:
    /// Where a window's options have what it needs; -1: it has none of these.
    struct Fields
    {
        int padding = 0, strideW = 1, strideH = 2, dilationW = -1, dilationH = -1, activation = -1;
    };
    /// How a picture is made larger.
    struct Resizing
    {
        std::string mode;
        bool keepsCorners, keepsCentres;
    };

    /// The result behind the operator's fused activation.
    void finish(tenon_onnx::NodeProto& made, bool isPlanes, int activation);
    /// strides, dilations and explicit padding.
    void setWindow(tenon_onnx::NodeProto& made, const std::vector<int64_t>& kernel,
                   const Fields& fields);
    void layer(const Tensor& weight, int64_t groups, const Fields& fields);
    void transposed(size_t data, size_t bias, const std::vector<int64_t>& strides, bool isSame);
    void resize(const Resizing& how);
    /// Four axes, or a constant of one number or one per channel.
    bool canBePlanes(int64_t index);
    std::string channels(int64_t index);
    /// The one input of an operator on elements, in the order of axes that it is there in.
    std::string elements(bool isPlanes)
    {
        return isPlanes ? asPlanes(input(0)) : asGiven(input(0));
    }
    std::vector<int64_t> integersAt(size_t at);
    /// `from` with the sizes that the file declares for the result.
    void shaped(const std::string& from, int64_t result);
    /// Elements [begin, end) with a step, by axis, of a value in the file's order.
    std::string slice(const std::string& from, const std::vector<int64_t>& begin,
                      const std::vector<int64_t>& end, const std::vector<int64_t>& steps,
                      const std::string& name);
    void splitInto(int64_t data, int64_t axis);
    int64_t axisOf(int64_t axis, size_t rank) const;
    /// What the file declares need not be what is computed; these fail where it does not fit.
    bool needRank(int64_t index, size_t rank);
    bool needAxis(int64_t axis, size_t rank);

    // Layers.
    void convolve();
    void convolveDepthwise();
    void convolveTransposed();
    void convolveTransposedBias();
    void connect();
    void multiplyMatrices();
    void pool();
    // Elements.
    void binary();
    void unary();
    void hardSwish();
    void gelu();
    void square();
    void squareOf(tenon_onnx::NodeProto& made, bool isPlanes);
    void limit();
    void sumOfAll();
    void parametricRelu();
    void softmax();
    void normalize();
    void castTo();
    // Axes.
    void spread();
    void reduce();
    void argument();
    void reshape();
    void transpose();
    void pad();
    void concatenate();
    void stack();
    void unstack();
    void split();
    void splitBySizes();
    void cut();
    void cutByMasks();
    void look();
    void lookUp();
    void repeat();
    void blocksToSpace();
    void resizeBilinear();
    void resizeNearest();
};

} // namespace tenon::compiler
