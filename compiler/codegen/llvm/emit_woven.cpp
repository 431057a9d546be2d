// SPDX-License-Identifier: Apache-2.0
// Vectors whose elements take turns in memory: rounds of a loop that store every second, third,
// fourth or eighth element. They are brought into order in registers and stored as they lie;
// scattered, each element is a store of its own.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <bit>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;

constexpr int64_t kFewest = 2, kMost = 8;
constexpr size_t kMostAsOne = 4;

using Vectors = std::vector<llvm::Value*>;

int lanesOf(llvm::Value* vector)
{
    return static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
}

/// Lanes [first, first + count) of what two vectors of `lanes` give in turns.
llvm::Value* inTurns(llvm::IRBuilderBase& builder, llvm::Value* a, llvm::Value* b, int first,
                     int count)
{
    std::vector<int> order;
    for (int i = first; i < first + count; ++i) order.push_back(i / 2 + i % 2 * lanesOf(a));
    return builder.CreateShuffleVector(a, b, order);
}

/// Vectors in the order of memory, of a power of two: the even and the odd ones' take turns.
Vectors pairsInOrder(llvm::IRBuilderBase& builder, const Vectors& parts)
{
    if (parts.size() == 1) return parts;
    Vectors even, odd, out;
    for (size_t i = 0; i < parts.size(); ++i) (i % 2 == 0 ? even : odd).push_back(parts[i]);
    even = pairsInOrder(builder, even);
    odd = pairsInOrder(builder, odd);
    const int lanes = lanesOf(parts[0]);
    for (size_t i = 0; i < even.size(); ++i)
        for (const int first : {0, lanes})
            out.push_back(inTurns(builder, even[i], odd[i], first, lanes));
    return out;
}

/// Vectors in the order of memory, of two, three, four or eight.
Vectors inOrder(llvm::IRBuilderBase& builder, const Vectors& parts)
{
    if (parts.size() != 3) return pairsInOrder(builder, parts);
    const int lanes = lanesOf(parts[0]);
    Vectors out;
    for (int vector = 0; vector < 3; ++vector) {
        std::vector<int> firstTwo, third;
        for (int lane = 0; lane < lanes; ++lane) {
            const int at = vector * lanes + lane;
            firstTwo.push_back(at % 3 == 2 ? -1 : at / 3 + at % 3 * lanes);
            third.push_back(at % 3 == 2 ? lanes + at / 3 : lane);
        }
        llvm::Value* two = builder.CreateShuffleVector(parts[0], parts[1], firstTwo);
        out.push_back(builder.CreateShuffleVector(two, parts[2], third));
    }
    return out;
}

/// The same as one vector, which AArch64 stores by one instruction.
llvm::Value* asOne(llvm::IRBuilderBase& builder, const Vectors& parts)
{
    const int lanes = lanesOf(parts[0]), count = static_cast<int>(parts.size());
    const auto joined = [&](llvm::Value* a, llvm::Value* b) {
        std::vector<int> order;
        for (int i = 0; i < 2 * lanes; ++i) order.push_back(i);
        return builder.CreateShuffleVector(a, b, order);
    };
    std::vector<int> order;
    for (int i = 0; i < count * lanes; ++i) order.push_back(i / count + i % count * lanes);
    if (count == 2) return builder.CreateShuffleVector(parts[0], parts[1], order);
    return builder.CreateShuffleVector(joined(parts[0], parts[1]),
                                       joined(parts[2], parts[count == 3 ? 2 : 3]), order);
}

/// Elements of so many bytes, by shuffles of few instructions.
bool movesInTurns(int64_t bytes, const EmitOptions& options)
{
    const bool shufflesBytes = options.shufflesBytes || options.vectorBytes > 16;
    return bytes == 4 || (bytes < 4 && shufflesBytes);
}

/// True where round i of the loop stores `rounds` elements apart, from element i on.
bool storesInTurns(const tir::StmtNode& loop, int64_t rounds, const EmitOptions& options)
{
    const tir::StmtNode& store = *loop.body;
    const bool isFit = rounds == 3 || std::has_single_bit(static_cast<uint64_t>(rounds));
    if (rounds < kFewest || rounds > kMost || !isFit || store.kind != tir::StmtKind::Store ||
        store.value->dtype.lanes < 4 || !movesInTurns(store.buffer->dtype.bytes(), options))
        return false;
    const Expr& to = store.indices[0];
    if (to->kind != ExprKind::Ramp || !to->args[1].isConstInt(rounds)) return false;
    const Expr next =
        tir::substitute(to->args[0], {{loop.loop.var.get(), Expr(loop.loop.var) + int64_t{1}}});
    bool readsIt = false;
    tir::visitExprs(store.value, [&](const Expr& expr) {
        readsIt = readsIt || (expr->kind == ExprKind::Load && expr->buffer == store.buffer);
        return !readsIt;
    });
    return !readsIt && tir::simplify(next - to->args[0]).isConstInt(1);
}

} // namespace

bool Emitter::unrolledWoven(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                            int64_t extent)
{
    if (m_mask || !storesInTurns(node, extent, m_options)) return false;
    const tir::StmtNode& store = *node.body;
    const DataType dtype = store.buffer->dtype.withLanes(store.value->dtype.lanes);
    Vectors parts;
    for (int64_t round = 0; round < extent; ++round) {
        selectRound(node, begin, round);
        parts.push_back(toStored(value(store.value), dtype));
    }
    selectRound(node, begin, 0);
    const auto [pointer, align] = address(store.buffer, store.indices[0]->args[0]);
    if (m_options.hasNarrowLanes && parts.size() <= kMostAsOne) { // AArch64
        m_builder.CreateAlignedStore(asOne(m_builder, parts), pointer, align);
        return true;
    }
    const auto bytes = static_cast<uint64_t>(dtype.bytes());
    uint64_t at = 0;
    for (llvm::Value* vector : inOrder(m_builder, parts)) {
        llvm::Value* to = m_builder.CreateConstInBoundsGEP1_64(m_builder.getInt8Ty(), pointer, at);
        m_builder.CreateAlignedStore(vector, to, llvm::commonAlignment(align, at));
        at += bytes;
    }
    return true;
}

} // namespace tenon::compiler
