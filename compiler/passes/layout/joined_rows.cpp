// SPDX-License-Identifier: Apache-2.0
// A window of 3 x 3 pixels of 5 channels is three rows of 15 bytes, 12 words; of channels that are
// padded to words it would be 18.
#include "compiler/passes/layout/joined_rows.h"

#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/longer_constant.h"
#include "compiler/passes/layout/packed_weights.h"
#include "compiler/passes/quantize/integer_phases.h"

#include <algorithm>

namespace tenon::compiler {

int64_t joinedBlock(const std::vector<int64_t>& weight, const WordsOfRows& words,
                    const Attrs& attrs)
{
    const int64_t channels = weight[1], columns = weight[3];
    const bool isWhole =
        attrs.integer("groups", 1) == 1 && attrs.integers("dilation", {1, 1}).back() == 1;
    if (!isWhole || channels % kWordBytes == 0) return 0;
    const bool isReadable = words.block > 1 && channels % words.block == 0;
    const int64_t block = isReadable ? words.block : byteBlock(channels, words.lanes, words.facts);
    if (block == 0 || (columns == 1 && block < kWordBytes)) return 0;
    // Planes become words of pixels as cheaply, which are padded four bytes at a time.
    const bool isSaving =
        inWords(columns * block) * (channels / block) < columns * inWords(channels);
    return channels == 1 || isReadable || isSaving ? block : 0;
}

JoinedRows joinedRows(const Tensor& weight, const RowBlocks& blocks, Attrs attrs)
{
    const int64_t has = weight.shape()[3];
    const int64_t columns = std::max(has, inWords(blocks.in) / blocks.in);
    std::vector<int64_t> padding = attrs.integers("padding", {0, 0, 0, 0});
    padding[3] += columns - has;
    attrs.set("padding", std::move(padding));
    attrs.set("joined_columns", columns);
    const Tensor wide = columns > has ? longer(weight, 3, columns - has, 0) : weight;
    return {joinedConvWeight(wide, blocks.in, blocks.out), std::move(attrs)};
}

} // namespace tenon::compiler
