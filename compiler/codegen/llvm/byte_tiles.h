// SPDX-License-Identifier: Apache-2.0
// ByteProducts: a nest of loops that adds products of bytes to sums in memory, as a matrix.
#pragma once

#include "core/ir/tir/stmt.h"
#include "core/target/byte_products.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// sums[position][vector][16] += data[position][step] * weights[step][vector][16], where steps take
/// words of four bytes. Strides are counted in bytes.
struct ByteProducts
{
    tir::Buffer sums, data, weights;
    tir::Expr sumsIndex, dataIndex, weightsIndex; ///< of the first element, in all loops' variables
    std::vector<tir::Var> loops;
    int64_t positions = 1, vectors = 1, steps = 1;
    int64_t sumsPerPosition = 0, sumsPerVector = 0;
    int64_t dataPerPosition = 0;
    int64_t weightsPerVector = 0, weightsPerStep = 0;
};

/// Steps that are multiplied alike: so many by each product.
struct TileSteps
{
    int64_t first, each, rounds;
};

/// All of one kind where a count of nearly a whole tile divides them, else whole tiles and the
/// rest.
std::vector<TileSteps> tileSteps(int64_t steps);

/// The products of the loop's nest; nothing where it is anything else.
std::optional<ByteProducts> byteProductsOf(const tir::StmtNode& loop);

/// What all positions' sums of a vector start from: a row that they share.
struct InitialSums
{
    tir::Buffer rows;
    tir::Expr index; ///< of the first vector's, in the loops' variables
    std::vector<tir::Var> loops;
    int64_t perVector = 0; ///< bytes
};

/// What the nest of `loop` stores to exactly those sums; nothing where that is anything else.
std::optional<InitialSums> initialSumsOf(const tir::StmtNode& loop, const ByteProducts& products);

} // namespace tenon::compiler
