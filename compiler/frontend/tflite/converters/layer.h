// SPDX-License-Identifier: Apache-2.0
// Layer: what convolutions and dense layers share: sums of products with a weight, a bias, the
// scaling of integers, an activation.
#pragma once

#include "compiler/frontend/tflite/converters/quantized.h"

namespace tenon::compiler {

struct LayerForms
{
    const char* real;    ///< operator on floats and wide integers
    const char* integer; ///< on bytes, with zero points; null: there is none
    Attrs attrs;
};

/// Which inputs of the file they are.
struct LayerOperands
{
    size_t data, weight, bias;
};

struct Layer
{
    LayerForms forms;
    LayerOperands operands;
    ValueRef dataValue, weightValue; ///< as the operator wants them
    int64_t channels;
    int64_t weightAxis;         ///< of weightValue: where the channels stand
    int64_t axis;               ///< of the result: where the channels stand
    int64_t fileAxis;           ///< of the weight in the file
    bool quantizesRows = false; ///< floats meet weights of bytes as bytes, by row of the data
};

/// The layer's result in the output's type.
ValueRef layerResult(TfliteNode& node, const Layer& layer, FusedActivation activation);

} // namespace tenon::compiler
