// SPDX-License-Identifier: Apache-2.0
// The product of one step of a recurrent operator: the states of some sequences with the recurrent
// weights, which pass again at every step.
#pragma once

#include "compiler/ops/op.h"

#include <functional>
#include <optional>

namespace tenon::compiler {

/// Float vectors of this many lanes hold what is computed unit by unit; halves where fewer are
/// left.
inline constexpr int64_t kLargestRecurrentVector = 16;

/// Sizes of one step's product.
struct ProductSize
{
    int64_t rows;    ///< H
    int64_t columns; ///< sums of one sequence
    int64_t elementBytes;
    int64_t sequences; ///< that a weight which was loaded serves

    int64_t weightBytes() const { return rows * columns * elementBytes; }
};

/// Cycles of one step's product where so many threads take a part of the columns each, and hand
/// over once. What of the weights stays in a core's second-level cache is read from there.
double productCycles(const TargetFacts& facts, const ProductSize& size, unsigned threads);
/// facts.threads where sharing the columns at every step leaves a gain, else 1.
unsigned threadsOfProduct(const TargetFacts& facts, const ProductSize& size);

/// Width of the tiles of packed weights, of which a multiple is `unit`, the columns that are
/// multiplied together; none where no such width keeps enough sums in flight.
std::optional<int64_t> packedWidth(const TargetFacts& facts, const ProductSize& size, int64_t unit);

/// Sequences whose sums fit the registers together, at most.
int64_t mostSequences(const TargetFacts& facts);

/// How one step's product runs.
struct ProductPlan
{
    const TargetFacts& facts;
    int64_t sequences;
    /// 0 or 1, in turns from step to step: which end of the weights is first. What was read last is
    /// still in the cache.
    tir::Expr turn;
};

/// Columns [from, to) of the product of the sequences' states (read as (member, unit)) with the
/// weight, [H, columns] or packed [columns/w, H, w] with `from` and `to` multiples of w, added to
/// what `sums` [sequences, columns] holds there.
tir::Stmt addProduct(const tir::Buffer& weight, const tir::Buffer& sums,
                     const std::function<tir::Expr(const tir::Expr&, const tir::Expr&)>& state,
                     const ProductPlan& plan, int64_t from, int64_t to);

} // namespace tenon::compiler
