// SPDX-License-Identifier: Apache-2.0
// Networks written as graph text in code, with seeded weights, for tests of the whole pipeline.
#pragma once

#include "core/ir/module.h"

namespace tenon::compiler {

/// MobileNetV2 with batch normalization nodes; `width` scales channels, `size` is the input's side.
core::Module mobilenetV2(double width, int size);
/// ResNet-18 with batch normalization nodes.
core::Module resnet18(int divisor, int size);
/// `blocks` residual blocks of convolution, bias, relu and add on 16 channels.
core::Module residualChain(int blocks);

} // namespace tenon::compiler
