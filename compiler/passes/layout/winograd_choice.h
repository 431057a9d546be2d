// SPDX-License-Identifier: Apache-2.0
// The choice between direct and Winograd convolution.
#pragma once

#include "core/ir/module.h"
#include "core/target/target_facts.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

struct ConvolutionSize
{
    int64_t batch;
    int64_t inChannels;  ///< of a group
    int64_t outChannels; ///< of all groups
    int64_t rows;        ///< of the result
    int64_t columns;
    std::array<int64_t, 2> kernel{3, 3}; ///< height, then width
    std::array<int64_t, 2> stride{1, 1};
    int64_t groups = 1;

    double elements() const { return static_cast<double>(kernel[0] * kernel[1]); }
    /// Of an image: every stride-th row and column is one.
    int64_t phases() const { return stride[0] * stride[1]; }
};

/// Outputs of one tile along both axes; none: direct convolution. Filters of 1 x 1 have no tiles:
/// one output stands for products of halves (compiler/ops/strassen.h).
struct WinogradTile
{
    int64_t rows = 0;
    int64_t columns = 0;

    bool isDirect() const { return rows == 0; }
    bool isHalves() const { return rows == 1 && columns == 1; }
    friend bool operator==(const WinogradTile&, const WinogradTile&) = default;
};

inline constexpr WinogradTile kHalves{1, 1};

/// The tiles that there are for a convolution.
std::vector<WinogradTile> winogradTiles(const ConvolutionSize& size);

/// Default of `winograd.max_error`.
inline constexpr double kWinogradMaxError = 1e-5;

/// Expected root mean square error of a tile in binary32, relative to that of the result.
double winogradError(const ConvolutionSize& size, const WinogradTile& tile);

/// What a tile's transforms and products take, of all tiles and images, in elements.
struct WinogradWork
{
    double filters = 0;  ///< at all points that are multiplied
    double products = 0; ///< of these
    double moved = 0;    ///< loaded, stored and computed for transforms of the data and the result
};
WinogradWork winogradWork(const ConvolutionSize& size, const WinogradTile& tile);

struct WinogradForm
{
    WinogradTile tile;
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

/// Reading overlaps with computing where it was asked for, all but a part of either.
/// Filters that are larger than the second-level cache, or were evicted since the last run, come
/// from memory.
double withFilters(double cycles, double bytes, const LayoutMachine& machine);

/// The cheapest form whose own error is at most `maxError`.
WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine);
/// The cheapest form of a tile.
WinogradForm winogradForm(const ConvolutionSize& size, const LayoutMachine& machine,
                          const WinogradTile& tile);

/// The shape of images of known rows and columns with so many of them as a kernel takes at once
/// where their number is not known: one, or some patches.
core::Shape sizedShape(const core::Module& module, core::Shape images);

/// Of a conv2d of known shapes that is not depthwise, dilated or not; a batch of unknown size
/// counts as one.
std::optional<ConvolutionSize> convolutionSize(const core::Module& module,
                                               const core::NodeRecord& node);
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
std::string winogradReason(const WinogradForm& form, const ConvolutionSize& size);
/// "tiles of 4 x 4", or "products of halves"
std::string tilesText(const WinogradTile& tile);

} // namespace tenon::compiler
