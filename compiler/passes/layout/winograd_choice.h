// SPDX-License-Identifier: Apache-2.0
// The choice between direct and Winograd convolution of 3 x 3 filters at stride 1.
#pragma once

#include "core/ir/module.h"
#include "core/target/target_facts.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tenon::compiler {

struct ConvolutionSize
{
    int64_t batch;
    int64_t inChannels;
    int64_t outChannels;
    int64_t rows; ///< of the result
    int64_t columns;
};

/// Default of `winograd.max_error`.
inline constexpr double kWinogradMaxError = 1e-5;

/// Expected root mean square error of F(m x m, 3 x 3) in binary32, relative to that of the result.
double winogradError(int64_t tile, int64_t inChannels);

struct WinogradForm
{
    int64_t tile = 0;                   ///< m: 4 or 2; 0 for direct convolution
    bool isTransformedInKernel = false; ///< the filters; else beforehand
    double cycles = 0;
};

/// What layouts are chosen for.
struct LayoutMachine
{
    int lanes;                 ///< float32 per vector
    double maxError;           ///< of Winograd convolutions
    bool staysInCache = false; ///< all that a run touches: filters come from the second level
    core::TargetFacts facts = {};
    int byteLanes = 0; ///< channels of bytes in a block at most; 0: as many as floats
};

/// True where everything stays in the second-level cache from run to run, even with all filters
/// transformed.
bool staysInCache(const core::Module& module, const core::GraphFunction& function, int64_t l2Bytes);

/// The cheapest form whose own error is at most `maxError`.
WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine);
/// The cheapest form of a tile; 0: direct.
WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine, int64_t tile);

/// Of a convolution that Winograd's method can compute; a batch of unknown size counts as one.
std::optional<ConvolutionSize> winogradSize(const core::Module& module,
                                            const core::NodeRecord& node);

struct ChannelBlocks
{
    int64_t in;   ///< channels in a block of the data
    int64_t out;  ///< in one of the result
    int64_t most; ///< output channels in a block of filters, a multiple of `out`
};

/// Layout of filters of so many input channels, like OHWI16i64o or OIHW1i16o.
std::string winogradKernelLayout(const WinogradForm& form, int64_t inChannels,
                                 const ChannelBlocks& blocks, int64_t l1Bytes);

/// "1.4e-06".
std::string errorText(double error);
/// "tiles of 4 x 4, raw filters, expected relative error 1.4e-06".
std::string winogradReason(const WinogradForm& form, int64_t inChannels);

} // namespace tenon::compiler
