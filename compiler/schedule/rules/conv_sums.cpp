// SPDX-License-Identifier: Apache-2.0
// Three blocks of half a vector take a vector and a half.
#include "compiler/schedule/rules/conv_sums.h"

#include "compiler/schedule/rules/rule.h"
#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {
namespace {

/// Three blocks of half a vector: two of them make a vector, which takes a third of the
/// instructions off.
bool hasHalfVectors(const ConvShape& shape, const TargetFacts& facts)
{
    return shape.weights->dtype == kFloat32 && shape.vectors == 3 &&
           2 * shape.lanes == facts.lanes(kFloat32.bytes());
}

/// Where the blocks of channels stand among the dimensions of the sums: behind the images, and
/// behind the parts of the input channels where those are summed apart.
int64_t dimOfBlocks(const Schedule& schedule, const std::string& conv)
{
    int64_t dim = 1;
    tir::visitStmts(blockOf(schedule, conv)->body, [&](const tir::Stmt& stmt) {
        if (stmt->kind != tir::StmtKind::Store) return true;
        for (size_t i = 0; i < stmt->indices.size(); ++i) {
            const tir::Expr& index = stmt->indices[i];
            if (index->kind == tir::ExprKind::VarRef &&
                index->var->name.find("oc_outer") != std::string::npos)
                dim = static_cast<int64_t>(i);
        }
        return false;
    });
    return dim;
}

/// A vector and a half per position in place of three halves; the sums of a position lie side by
/// side for it.
void unrollHalfVectors(Schedule& schedule, const std::string& conv, const TileLoops& loops)
{
    const std::string sums = outputOf(schedule, conv);
    const auto rank = static_cast<int64_t>(bufferNamed(schedule.function(), sums)->shape.size());
    const int64_t channels = dimOfBlocks(schedule, conv);
    std::vector<int64_t> order;
    for (int64_t dim = 0; dim + 1 < rank; ++dim)
        if (dim != channels) order.push_back(dim);
    order.insert(order.end(), {channels, rank - 1});
    schedule.permuteDims(sums, order);
    const int64_t lanes = schedule.extentOf(loops.lane);
    const auto whole = schedule.fuse({loops.blocks, loops.lane});
    const auto half = schedule.peel(whole, 2 * lanes);
    for (const std::string& vector : {whole, half}) schedule.vectorize(vector);
    if (schedule.extentOf(loops.positions) != 1) schedule.unroll(loops.positions);
}

} // namespace

/// Halves in whole vectors leave room for more positions. An input that two products use is
/// no memory operand; LLVM keeps some ahead, and a sum in memory took twice the time.
RegisterTile tileOfSums(const ConvShape& shape, int64_t columns, Walk walk,
                        const TargetFacts& facts)
{
    constexpr int kInputs = 4;
    if (!hasHalfVectors(shape, facts)) return convTile(shape, columns, walk, facts);
    ConvShape paired = shape;
    paired.vectors = 2;
    TargetFacts fewer = facts;
    fewer.vectorRegisters -= kInputs;
    const RegisterTile tile = convTile(paired, columns, walk, fewer);
    return tile.vectors == 2 ? RegisterTile{shape.vectors, tile.positions}
                             : convTile(shape, columns, walk, facts);
}

void unrollSums(Schedule& schedule, const std::string& conv, const ConvShape& shape,
                const TileLoops& loops, const TargetFacts& facts)
{
    (void)schedule.tries().skipZeroTerms(conv, 3); // refused where no row is padded
    if (hasHalfVectors(shape, facts) && schedule.extentOf(loops.blocks) == shape.vectors)
        return unrollHalfVectors(schedule, conv, loops);
    return unrollTile(schedule, conv, 3, shape.lanes);
}

} // namespace tenon::compiler
