// SPDX-License-Identifier: Apache-2.0
// TfliteOperators: each operator of a TensorFlow Lite model of floats as nodes of ONNX.
#pragma once

#include "compiler/quantize/tflite_boxes.h"
#include "compiler/quantize/tflite_chains.h"

namespace tenon::compiler {

class TfliteOperators : protected TfliteBoxes
{
public:
    using TfliteBoxes::TfliteBoxes;

protected:
    using Handler = void (TfliteOperators::*)();
    /// Null where there is no counterpart.
    static Handler handlerOf(const TfliteOperator& op);
    /// Another operator has done its work.
    bool isJoined(const TfliteOperator& op) const { return m_joined.contains(&op); }

private:
    /// What a convolution multiplies with, as ONNX has it.
    struct Filters
    {
        Tensor weight;
        int64_t groups;
        Fields fields;
    };
    /// A chain as one convolution with gaps: by axis of the picture, and as ONNX orders borders.
    struct Dilation
    {
        BlockChain chain;
        int64_t data; ///< that the chain reads
        std::vector<int64_t> dilations, pads;
    };
    /// A reshape, a transposition and a reshape.
    struct Move
    {
        std::vector<int64_t> apart, order, joined;
    };
    /// How a picture is made larger.
    struct Resizing
    {
        std::string mode;
        bool keepsCorners, keepsCentres;
    };

    Filters filters();
    static Fields fieldsOf(const TfliteOperator& conv);
    tenon_onnx::NodeProto& convolution(const std::string& data, const Filters& filters);
    void transposed(size_t data, size_t bias, const std::vector<int64_t>& strides, bool isSame);
    void resize(const Resizing& how);
    void splitInto(int64_t data, int64_t axis);
    bool joinBlocks();
    bool setGaps(Dilation& joined, const std::vector<int64_t>& edges);
    void convolveDilated(const Dilation& joined);
    std::string moved(const std::string& from, const Move& how, const std::string& result);
    void expand(int64_t value);
    static Tensor zerosOf(DataType dtype, const std::vector<int64_t>& shape);
    // Layers.
    void convolve();
    void convolveTransposed();
    void convolveTransposedBias();
    void connect();
    void multiplyMatrices();
    void convolveFilm();
    void convolveFilmTransposed();
    void pool();
    void poolSquares();
    void spaceToBatch();
    void batchToSpace();
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
    void normalizeChannels();
    void castTo();
    void floorDivide();
    void floorModulo();
    void fakeQuantize();
    // Choices.
    void select();
    void selectRows();
    void places();
    void chooseAt();
    void scatter();
    void oneHot();
    void largest();
    void allOrAny();
    // Shapes.
    void shapeOf();
    void rank();
    void range();
    void fill();
    void zeros();
    void broadcast();
    void broadcastShapes();
    // Places.
    void update();
    void spreadOut();
    void joinSegments();
    void diagonal();
    // Axes.
    void spread();
    void reduce();
    void argument();
    void reshape();
    void transpose();
    void pad();
    void mirrorBorders();
    void concatenate();
    void stack();
    void unstack();
    void split();
    void splitBySizes();
    void cut();
    void cutByMasks();
    void look();
    void lookInEach();
    void lookUp();
    void repeat();
    void cumulate();
    void reverse();
    void reverseSequence();
    void blocksToSpace();
    void resizeBilinear();
    void resizeNearest();

    std::set<const TfliteOperator*> m_joined;
    std::map<const TfliteOperator*, Dilation> m_dilations; ///< by the last operator of the chain
};

} // namespace tenon::compiler
