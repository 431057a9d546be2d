// SPDX-License-Identifier: Apache-2.0
// Which tiles a step of conv2d_winograd takes: their transformed data and products stay in the
// second-level cache while the filters pass by.
#pragma once

#include "compiler/schedule/rules/register_tile.h"
#include "compiler/schedule/rules/winograd_site.h"

namespace tenon::compiler {

/// Several images, rows of tiles of one, or a part of one row.
struct WinogradStep
{
    int64_t images;
    int64_t rows;    ///< all of them where there are several images
    int64_t columns; ///< likewise
    /// All products at one point before those at the next, whose data stay while its filters pass
    /// by; else all points of a block of filters, whose products are few.
    bool isByPoint = false;
};

/// Whether it takes all tiles of all images whose number is known, so that threads share filters.
bool isWhole(const WinogradShape& shape, const WinogradStep& step);

/// What a vector of filters at one point and the data of a register tile beside it take of a cache,
/// in bytes: the data take an eighth of what the filters do.
int64_t bytesOfVector(int64_t inChannels, int64_t bytesPerChannel);

/// The space of register tiles of the products at one point of so many tiles.
TileSpace productSpace(const WinogradShape& shape, int64_t tiles, const TargetFacts& facts);

/// Of so many images with so many tiles each in a step, those whose tiles share a register tile: 1
/// where the tiles of one image fill it.
int64_t imagesOfRegisterTile(int64_t images, int64_t tiles, const TileSpace& space,
                             const TargetFacts& facts);

/// The step with the fewest cycles of one thread by the machine model, the largest of equal ones.
/// With threads: a step for each at least, or all tiles where threads can share the filters.
WinogradStep chooseWinogradStep(const WinogradShape& shape, const TargetFacts& facts);

} // namespace tenon::compiler
