// SPDX-License-Identifier: Apache-2.0
// Tiles of a few vectors of columns keep their sums in registers while the state runs through them.
// Weights that outgrow the second-level cache run forwards and backwards in turns, so that a part
// of them is still there; where several threads share the columns, each one's part may fit its own.
#include "compiler/ops/recurrent_product.h"

#include "compiler/ops/statements.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

using tir::Buffer;
using tir::Expr;
using tir::LoopKind;
using tir::Stmt;

using StateFn = std::function<Expr(const Expr& member, const Expr& unit)>;

constexpr int64_t kLargestVector = kLargestRecurrentVector;

/// Loads in pairs reach so many floats from where a pointer is (AArch64).
constexpr int64_t kFloatsInReach = 256;

/// Bytes of weights that stay in the second-level cache between two steps, beside all else.
double residentBytes(const TargetFacts& facts) { return 0.8 * static_cast<double>(facts.l2Bytes); }

/// Vectors whose sums one loop over the state keeps in registers: of one sequence or of several.
/// Eight hide the latency of additions; a quarter of the registers is left for what is multiplied.
int64_t vectorsPerTile(const TargetFacts& facts)
{
    const int64_t floats = int64_t{facts.vectorRegisters} * facts.lanes(4);
    return std::clamp<int64_t>(floats * 3 / 4 / kLargestVector, 1, 8);
}

/// The same, of each of so many sequences.
int64_t mostVectors(const TargetFacts& facts, int64_t sequences)
{
    // Of one sequence as many as four steps of are in reach of one pointer (24 sums on a
    // Cortex-A72: 1.7 instructions for each product by one step, 16 by four: 1.56).
    const int64_t most = facts.hasLaneOperand && sequences == 1
                             ? kFloatsInReach / 4 / kLargestVector
                             : vectorsPerTile(facts);
    return std::max<int64_t>(1, most / sequences);
}

/// A tile of columns: where its sums are, and in packed weights the tile itself.
struct TilePlace
{
    Expr first;
    Expr packed;
    int64_t width;
};

bool isPacked(const Buffer& weight) { return weight->shape.size() == 3; }

/// H.
const Expr& rowsOf(const Buffer& weight) { return weight->shape[weight->shape.size() - 2]; }

Expr weightAt(const Buffer& weight, const TilePlace& place, const Expr& k, const Expr& column)
{
    return isPacked(weight) ? tir::load(weight, {place.packed, k, column})
                            : tir::load(weight, {k, place.first + column});
}

/// Steps of a tile's sums in one iteration: where lanes are operands, as many as fill registers
/// with states, and as loads in pairs reach.
int64_t stepsTogether(int64_t rows, int64_t width, const TargetFacts& facts)
{
    constexpr int64_t kLanes = 4;
    if (!facts.hasLaneOperand) return 1;
    for (const int64_t steps : {2 * kLanes, kLanes})
        if (steps * width <= kFloatsInReach && (rows % steps == 0 || steps == kLanes))
            return rows >= steps ? steps : 1;
    return 1;
}

/// All steps, those that are left one by one.
Stmt stepsOf(int64_t rows, int64_t together, const std::function<Stmt(const Expr&)>& step)
{
    const int64_t runs = rows / together;
    const Stmt whole = serialLoop("k", Expr(runs), [&](const Expr& run) {
        if (together == 1) return step(run);
        return loopOf(LoopKind::Unrolled, "step", Expr(together),
                      [&](const Expr& at) { return step(run * Expr(together) + at); });
    });
    const int64_t left = rows - runs * together;
    if (left == 0) return whole;
    return tir::seq({whole, loopOf(LoopKind::Unrolled, "left", Expr(left), [&](const Expr& at) {
                         return step(Expr(runs * together) + at);
                     })});
}

/// Sums of neighbouring columns of every sequence of a group, in vectors. The last vector overlaps
/// the one before where the width is no multiple: all begin with what `sums` held before, so that
/// both store the same.
Stmt productTile(const Buffer& weight, const Buffer& sums, const StateFn& state,
                 const TilePlace& place, const TargetFacts& facts)
{
    const int64_t width = place.width;
    const Expr group = sums->shape[0];
    const int64_t lanes = std::min(width, kLargestVector);
    const int64_t vectors = (width + lanes - 1) / lanes;
    const Buffer tile =
        tir::makeBuffer("sums", {group, Expr(vectors * lanes)}, sums->dtype, tir::Scope::Register);
    // `at` in the tile, `column` in the sums.
    using Body = std::function<Stmt(const Expr& member, const Expr& at, const Expr& column)>;
    const auto forTile = [&](const Body& body) {
        return loopOf(LoopKind::Unrolled, "member", group, [&](const Expr& member) {
            return loopOf(LoopKind::Unrolled, "v", Expr(vectors), [&](const Expr& v) {
                const Expr from = v * Expr(lanes);
                const Expr column = width % lanes == 0 ? from : minimum(from, Expr(width - lanes));
                return loopOf(LoopKind::Vectorized, "lane", Expr(lanes), [&](const Expr& lane) {
                    return body(member, from + lane, column + lane);
                });
            });
        });
    };
    const Stmt begin = forTile([&](const Expr& member, const Expr& at, const Expr& column) {
        return tir::store(tile, {member, at}, tir::load(sums, {member, place.first + column}));
    });
    const int64_t rows = rowsOf(weight)->integer;
    const Stmt steps = stepsOf(rows, stepsTogether(rows, width, facts), [&](const Expr& k) {
        return forTile([&](const Expr& member, const Expr& at, const Expr& column) {
            return tir::store(tile, {member, at},
                              tir::load(tile, {member, at}) +
                                  state(member, k) * weightAt(weight, place, k, column));
        });
    });
    const Stmt end = forTile([&](const Expr& member, const Expr& at, const Expr& column) {
        return tir::store(sums, {member, place.first + column}, tir::load(tile, {member, at}));
    });
    return tir::allocate(tile, tir::seq({begin, steps, end}));
}

/// Columns in tiles of equal widths, but for the last.
struct Tiles
{
    int64_t count, width, lastWidth;

    /// As few as registers allow, and as many for each thread.
    Tiles(int64_t columns, int64_t mostVectors, int64_t threads)
    {
        const int64_t lanes = std::min(columns, kLargestVector);
        const int64_t vectors = (columns + lanes - 1) / lanes;
        count = ((vectors + mostVectors - 1) / mostVectors + threads - 1) / threads * threads;
        const int64_t perTile = (vectors + count - 1) / count;
        count = (vectors + perTile - 1) / perTile;
        // A vector by itself would wait for its own sums, and could not overlap its neighbour.
        if (count > 1 && vectors - perTile * (count - 1) < 2) --count;
        width = perTile * lanes;
        lastWidth = columns - (count - 1) * width;
    }

    /// As packed weights say.
    Tiles(int64_t columns, int64_t packedWidth)
        : count(columns / packedWidth)
        , width(packedWidth)
        , lastWidth(packedWidth)
    {
    }

    int64_t whole() const { return lastWidth == width ? count : count - 1; }
};

/// `index` of `count`, from the other end where `turn` is 1.
Expr turned(const Expr& index, int64_t count, const Expr& turn)
{
    return index + turn * (Expr(count - 1) - Expr(2) * index);
}

} // namespace

double productCycles(const TargetFacts& facts, const ProductSize& size, unsigned threads)
{
    const auto parts = static_cast<double>(threads);
    const double products = static_cast<double>(size.rows * size.columns * size.sequences) / parts;
    const double bytes = static_cast<double>(size.weightBytes()) / parts;
    const double near = std::min(bytes, residentBytes(facts));
    const double reading = near / facts.l2BytesPerCycle + (bytes - near) / facts.farBytesPerCycle();
    return std::max(products / facts.floatMacs, reading) + (threads > 1 ? facts.forkCycles : 0);
}

unsigned threadsOfProduct(const TargetFacts& facts, const ProductSize& size)
{
    constexpr double kWorthwhile = 0.8;
    const double alone = productCycles(facts, size, 1);
    return productCycles(facts, size, facts.threads) < kWorthwhile * alone ? facts.threads : 1;
}

int64_t mostSequences(const TargetFacts& facts) { return vectorsPerTile(facts); }

std::optional<int64_t> packedWidth(const TargetFacts& facts, const ProductSize& size, int64_t unit)
{
    constexpr int64_t kFewestVectors = 3;
    const int64_t most = mostVectors(facts, size.sequences);
    // As many as hide the latency of additions will do where three divide nothing.
    const double perVector = static_cast<double>(size.sequences * kLargestVector);
    const auto enough = static_cast<int64_t>(
        std::ceil(facts.sumLatency * facts.vectorMacs() * facts.lanes(4) / perVector));
    const int64_t fewest = std::min({most, kFewestVectors, std::max<int64_t>(1, enough)});
    const int64_t threads = threadsOfProduct(facts, size);
    std::optional<int64_t> widest;
    for (int64_t vectors = most; vectors >= fewest; --vectors) {
        const int64_t width = vectors * kLargestVector;
        if (unit % width != 0) continue;
        if (size.columns / width % threads == 0) return width;
        if (!widest) widest = width;
    }
    return widest;
}

Stmt addProduct(const Buffer& weight, const Buffer& sums, const StateFn& state,
                const ProductPlan& plan, int64_t from, int64_t to)
{
    const ProductSize size{rowsOf(weight)->integer, to - from, weight->dtype.bytes(),
                           plan.sequences};
    const int64_t threads = threadsOfProduct(plan.facts, size);
    const Tiles tiles = isPacked(weight)
                            ? Tiles(size.columns, weight->shape[2]->integer)
                            : Tiles(size.columns, mostVectors(plan.facts, plan.sequences), threads);
    const auto placed = [&](const Expr& tile, int64_t width) {
        const Expr before(isPacked(weight) ? from / tiles.width : 0);
        return productTile(weight, sums, state,
                           {Expr(from) + tile * Expr(tiles.width), before + tile, width},
                           plan.facts);
    };
    const auto tileAt = [&](const Expr& tile) { return placed(tile, tiles.width); };
    const Stmt last = placed(Expr(tiles.count - 1), tiles.lastWidth);
    if (tiles.count == 1) return last;
    const bool outgrows =
        static_cast<double>(size.weightBytes() / threads) > residentBytes(plan.facts);
    const Expr turn = outgrows ? plan.turn : Expr(0);
    if (threads == 1) {
        const Stmt whole = serialLoop("columns", Expr(tiles.whole()), [&](const Expr& tile) {
            return tileAt(turned(tile, tiles.whole(), turn));
        });
        return tiles.whole() == tiles.count ? whole : tir::seq({whole, last});
    }
    const int64_t perShare = (tiles.count + threads - 1) / threads;
    return loopOf(LoopKind::Parallel, "share", Expr(threads), [&](const Expr& share) {
        return serialLoop("columns", Expr(perShare), [&](const Expr& column) {
            const Expr tile = share * Expr(perShare) + turned(column, perShare, turn);
            if (tiles.whole() == threads * perShare) return tileAt(tile);
            if (tiles.whole() == tiles.count)
                return tir::ifThen(tile < Expr(tiles.count), tileAt(tile));
            return tir::ifThen(tile < Expr(tiles.whole()), tileAt(tile),
                               tir::ifThen(equal(tile, Expr(tiles.whole())), last));
        });
    });
}

} // namespace tenon::compiler
