// SPDX-License-Identifier: Apache-2.0
// Quantized tensors of a .tflite file: real values of them and back, fused activations, and the
// scaling of integer sums, which rounds once.
#pragma once

#include "compiler/frontend/tflite/converters/operand_layout.h"

namespace tenon::compiler {

/// The schema's ActivationFunctionType.
enum class FusedActivation : uint8_t
{
    None,
    Relu,
    ReluN1To1,
    Relu6,
    Tanh,
    SignBit
};
/// The option at `field`; fails for one that is unknown.
FusedActivation activationAt(TfliteNode& node, int field);

/// (input - zero point) * scale in float32, or the input itself when it is no quantized one.
ValueRef realInput(TfliteNode& node, size_t input, PictureLayout layout = PictureLayout::File);
/// The same of any value that holds integers of `tensor`; several scales stand along `axis`.
ValueRef dequantized(TfliteNode& node, ValueRef value, const TfliteTensor& tensor, int64_t axis);
/// The activation of real values.
ValueRef activated(TfliteNode& node, ValueRef value, FusedActivation activation);
/// Real values as the output's type wants them.
void outputReal(TfliteNode& node, size_t output, ValueRef value,
                PictureLayout layout = PictureLayout::File,
                FusedActivation activation = FusedActivation::None);
ValueRef quantizedAs(TfliteNode& node, ValueRef value, const TfliteTensor& tensor);

/// Parameters of a tensor with one scale.
struct TensorScale
{
    double scale = 1;
    int64_t zero = 0;
};
/// Fails when the tensor has none or several.
TensorScale oneScale(TfliteNode& node, const TfliteTensor* tensor);
bool haveSameScale(const TfliteTensor* a, const TfliteTensor* b);

/// a_min, a_max and out_dtype of an integer result behind the activation.
Attrs integerLimits(TfliteNode& node, size_t output, FusedActivation activation);

/// Integer sums [.., C, ..] with C at `axis` times `ratios` (one or one per channel) as integers of
/// the output: one multiplication in float32, halves to even.
ValueRef requantizedSums(TfliteNode& node, ValueRef sums, const std::vector<double>& ratios,
                         int64_t axis, FusedActivation activation);
/// The same of 64-bit sums of 16-bit activations, as their reference kernels do it: by a multiplier
/// of 16 bits, halves up.
ValueRef requantizedWide(TfliteNode& node, ValueRef sums, const std::vector<double>& ratios,
                         int64_t axis, FusedActivation activation);

/// A scalar of an integer type.
ValueRef integerScalar(TfliteNode& node, int64_t value, DataType dtype);

} // namespace tenon::compiler
