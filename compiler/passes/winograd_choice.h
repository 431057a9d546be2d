// SPDX-License-Identifier: Apache-2.0
// The choice between direct and Winograd convolution of 3 x 3 filters at stride 1.
#pragma once

#include "core/ir/module.h"

#include <cstdint>
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

/// Cycles of the cheapest form within the error budget, direct convolution included.
double winogradBestCycles(const ConvolutionSize& size, int lanes, double maxError);
/// Tile size m of the cheapest form: 4 or 2 within the error budget, or 0 for direct convolution.
int64_t winogradTile(const ConvolutionSize& size, int lanes, double maxError);

/// The same for a convolution of the graph; 0 for one of another kind.
int64_t winogradTileOf(const core::Module& module, const core::NodeRecord& node, int lanes,
                       double maxError);

/// "tiles of 4 x 4, expected relative error 1.4e-06".
std::string winogradReason(int64_t tile, int64_t inChannels);

} // namespace tenon::compiler
