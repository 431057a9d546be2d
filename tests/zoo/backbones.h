// SPDX-License-Identifier: Apache-2.0
// Features of images that several networks of the zoo build upon.
#pragma once

#include "tests/zoo/model_builder.h"

namespace tenon::test {

/// An image of features; `stride`: how many pixels of the input one of it stands for.
struct Features
{
    std::string tensor;
    int64_t channels;
    int64_t stride;
};

/// Whether the last stages keep their size and spread their kernels instead.
enum class Reduction
{
    Strided,
    Dilated
};

/// Results of the four stages.
std::vector<Features> resnet50Features(ModelBuilder& b, const std::string& x, Reduction reduction);
/// Of strides 8, 16 and 32 (Dilated: 16), the last behind the last convolution.
std::vector<Features> mobilenetV3Features(ModelBuilder& b, const std::string& x,
                                          Reduction reduction);

} // namespace tenon::test
