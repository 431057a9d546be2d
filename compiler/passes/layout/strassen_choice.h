// SPDX-License-Identifier: Apache-2.0
// Which 1 x 1 convolutions become products of halves.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"

namespace tenon::compiler {

/// Of a convolution whose images of known size are a matrix, and its constant filters another.
std::optional<ConvolutionSize> halvedSize(const core::Module& module, const core::NodeRecord& node);

/// True where blocks of channels lie in one half.
bool fitsHalves(const ConvolutionSize& size, const ChannelBlocks& blocks);

/// Expected root mean square error of a product of halves in binary32, relative to that of the
/// result.
double strassenError(const ConvolutionSize& size);

/// Time of seven products of halves and the sums around them, by that of the whole product; 1 where
/// halves are not possible.
double timeOfHalves(const ConvolutionSize& size, const LayoutMachine& machine);

/// Layout of the weights, like OHWI8i16o.
std::string halvedKernelLayout(const ConvolutionSize& size, const ChannelBlocks& blocks,
                               const LayoutMachine& machine);

} // namespace tenon::compiler
