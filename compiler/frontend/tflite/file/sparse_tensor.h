// SPDX-License-Identifier: Apache-2.0
// Tensors whose zeros are left out: a tree of levels, one a dimension (or a dimension of blocks),
// of which each is dense or lists what it has.
#pragma once

#include "compiler/frontend/tflite/file/flat_table.h"
#include "core/base/result.h"

namespace tenon::compiler {

using namespace core;

/// One level of the tree, from the outermost on.
struct TfliteSparseLevel
{
    bool isDense = true;
    int64_t size = 0; ///< of a dense level
    /// Of a sparse level: entries segments[p] to segments[p + 1] - 1 belong to the p-th entry of
    /// the level above, and stand at `indices`.
    std::vector<int64_t> segments, indices;
};

/// `SparsityParameters` of the schema, which describes the format of TACO (Kjolstad et al. 2017).
struct TfliteSparsity
{
    std::vector<int64_t> order;  ///< dimension of each level; from the rank on: of blocks
    std::vector<int64_t> blocks; ///< which dimension each dimension of blocks divides
    std::vector<TfliteSparseLevel> levels;
};

TfliteSparsity sparsityOf(const FlatTable& table);

/// Where each stored element stands in a dense tensor of `shape`, row-major. Errors say what about
/// the tree does not fit `shape`.
Result<std::vector<int64_t>> sparsePlaces(const TfliteSparsity& sparsity,
                                          const std::vector<int64_t>& shape);

} // namespace tenon::compiler
