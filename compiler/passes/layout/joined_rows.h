// SPDX-License-Identifier: Apache-2.0
// Convolutions of bytes whose channels fill no words: a row of the window is one run of bytes,
// whose words are multiplied wherever they begin, and no channel is added to either side.
#pragma once

#include "core/ir/attr.h"
#include "core/target/target_facts.h"
#include "core/tensor/tensor.h"

namespace tenon::compiler {

using namespace core;

/// What decides how data are read.
struct WordsOfRows
{
    int64_t block; ///< that the data lie in, or 0
    int lanes;     ///< channels of a block at most
    const TargetFacts& facts;
};

/// The block in which a convolution of such a weight, [O, C, KH, KW], and attributes reads its data
/// by rows; 0 where it does not.
int64_t joinedBlock(const std::vector<int64_t>& weight, const WordsOfRows& words,
                    const Attrs& attrs);

/// Channels side by side, of data and of filters.
struct RowBlocks
{
    int64_t in, out;
};

struct JoinedRows
{
    Tensor weight; ///< [O/k, C/b, KH, 1, words, k]
    Attrs attrs;
};

/// Of qnn.contrib_conv2d_NCHWc. Rows of less than a word get columns of zeros.
JoinedRows joinedRows(const Tensor& weight, const RowBlocks& blocks, Attrs attrs);

} // namespace tenon::compiler
