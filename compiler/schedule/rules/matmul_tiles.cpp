// SPDX-License-Identifier: Apache-2.0
// Dense layers of bytes by tiles of 16 rows and 16 columns: weights of a few vectors pass over all
// rows, whose words lie side by side already; the sums are in memory, where what follows finds
// them.
#include "compiler/schedule/rules/matmul_tiles.h"

#include "compiler/schedule/rules/byte_tiles.h"
#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/target/byte_products.h"

namespace tenon::compiler {
namespace {

/// True where weights are words for vectors and products by tiles take less time.
bool multipliesTiles(const Schedule& schedule, const PackedProduct& product,
                     const TargetFacts& facts)
{
    return facts.byteTileMacs > 0 && product.weights && product.weights->dtype == kInt32 &&
           product.lanes == kTileWords && product.rows > 1 &&
           multipliesUnsigned(schedule, product.block) &&
           paysByTiles({product.rows, product.columns / product.lanes, product.depth}, facts);
}

void scheduleProductByTiles(Schedule& schedule, const PackedProduct& product,
                            const TargetFacts& facts)
{
    constexpr int64_t kMostVectors = 4;
    const std::vector<std::string> others = blocksBefore(schedule, product.block);
    const std::vector<std::string> own = ownLoopsOf(schedule, product.block);
    const int64_t perBlock = product.weights->shape.back()->integer / product.lanes;
    const int64_t vectors =
        perBlock > 1 ? perBlock : divisorUpTo(product.columns / product.lanes, kMostVectors);
    schedule.setScope(outputOf(schedule, product.block), tir::Scope::Local);
    const auto columns = schedule.split(own[1], {-1, vectors, product.lanes});
    const auto rows = schedule.splitOverlap(own[0], rowsOfTiles(product.rows));
    schedule.reorder({columns[0], rows[0], own[2], rows[1], columns[1], columns[2]});
    initialiseTile(schedule, product.block, own[2], 2, product.lanes);
    const auto left = attachToSums(schedule, product.block, rows[0], product.lanes);
    schedule.vectorize(columns[2]);
    for (const std::string& name : others) scheduleBlock(schedule, name, facts);
    for (const std::string& name : left) scheduleBlock(schedule, name, facts);
    return parallelise(schedule, {columns[0]}, facts);
}

} // namespace

bool scheduleByTilesOrParts(Schedule& schedule, const PackedProduct& product,
                            const TargetFacts& facts)
{
    if (multipliesTiles(schedule, product, facts)) {
        scheduleProductByTiles(schedule, product, facts);
        return true;
    }
    const int64_t parts = partsOfDepth(product, facts);
    if (parts > 1) scheduleProductByParts(schedule, product, parts, facts);
    return parts > 1;
}

} // namespace tenon::compiler
