// SPDX-License-Identifier: Apache-2.0
// How far results may be from TensorFlow Lite's; resources/manual/numerics.md says why.
#pragma once

#include <string_view>

namespace tenon::test {

struct KnownSteps
{
    std::string_view op, type;
    double steps;
};

/// Integer results that may differ by so many steps; all others are equal.
inline constexpr KnownSteps kKnownSteps[] = {
    // The value lies half-way between two integers, or so near that the multiplier's bits decide.
    {"ABS", "int8", 1},
    {"ADD", "int16", 1},
    {"ADD_N", "int8", 1},
    {"BATCH_MATMUL", "int8", 1},
    {"CONCATENATION", "uint8", 1},
    {"CUMSUM", "int8", 1},
    {"DEPTHWISE_CONV_2D", "int8", 1},
    {"DEPTHWISE_CONV_2D", "uint8", 1},
    {"DIV", "int8", 1},
    {"DIV", "uint8", 1},
    {"ELU", "int8", 1},
    {"HARD_SWISH", "uint8", 1},
    {"LEAKY_RELU", "int16", 1},
    {"MEAN", "int8", 1},
    {"MEAN", "uint8", 1},
    {"PRELU", "int8", 1},
    {"PRELU", "uint8", 1},
    {"QUANTIZE", "uint8", 1},
    {"RELU6", "int8", 1},
    {"RELU6", "uint8", 1},
    {"RELU_N1_TO_1", "int8", 1},
    {"RELU_N1_TO_1", "uint8", 1},
    {"RESIZE_BILINEAR", "int8", 1},
    {"RESIZE_BILINEAR", "uint8", 1},
    {"SQUARED_DIFFERENCE", "int8", 1},
    {"SUB", "int16", 1},
    {"SUM", "int8", 1},
    {"SUM", "uint8", 1},
    {"TRANSPOSE_CONV", "int8", 1},
    {"TRANSPOSE_CONV", "int16x8", 1},
    // Two scales: the reference compares multiples of a step of its own.
    {"NOT_EQUAL", "int8", 1},
    // Tables of the reference, between whose entries it interpolates.
    {"L2_NORMALIZATION", "uint8", 1},
    {"LOGISTIC", "int16", 5},
    {"SOFTMAX", "int16", 7},
    {"TANH", "int16", 9},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", "int8", 1},
    {"network", "int16x8", 3},
    {"odd network", "int16x8", 3}};

/// Floats: the share of the largest element, rounding aside.
inline constexpr double kCloseFloats = 4e-6;
/// Floats times weights of bytes, which the reference quantizes row by row and we do in dense
/// layers.
inline constexpr double kCloseHybrids = 0.02;

} // namespace tenon::test
