// SPDX-License-Identifier: Apache-2.0
// Squares of 8 to 32-bit elements whose rows become columns: as many vectors are loaded along
// the rows, transposed in registers and stored. A vector gathered down a column takes some 20
// cycles, one of a square 4. Bytes of blocks of four channels become planes, and planes blocks, by
// four vectors whose bytes take turns, which AArch64 loads and stores so.
#include "compiler/codegen/llvm/emitter.h"
#include "compiler/codegen/llvm/interleaved.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <array>
#include <optional>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;

constexpr int kBlock =
    4; ///< elements of a 128-bit part of a vector, within which shuffles are fast
constexpr int kMostTransposed = 16;

using Vectors = std::vector<llvm::Value*>;

/// In each part of a vector of `lanes`: elements of the parts of two, counted through both.
llvm::Value* inParts(llvm::IRBuilderBase& builder, llvm::Value* a, llvm::Value* b,
                     const std::array<int, kBlock>& order)
{
    const int lanes =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements());
    std::vector<int> mask;
    for (int part = 0; part < lanes; part += kBlock)
        for (const int at : order)
            mask.push_back(at < kBlock ? part + at : part + at - kBlock + lanes);
    return builder.CreateShuffleVector(a, b, mask);
}

/// Transposes the parts of four rows: vector c has the rows' elements 4 * part + c in each part.
Vectors ofFourRows(llvm::IRBuilderBase& builder, const llvm::ArrayRef<llvm::Value*> rows)
{
    constexpr std::array<int, kBlock> kLow{0, 4, 1, 5}, kHigh{2, 6, 3, 7}, kLowPairs{0, 1, 4, 5},
        kHighPairs{2, 3, 6, 7};
    llvm::Value* lowTop = inParts(builder, rows[0], rows[1], kLow);
    llvm::Value* highTop = inParts(builder, rows[0], rows[1], kHigh);
    llvm::Value* lowEnd = inParts(builder, rows[2], rows[3], kLow);
    llvm::Value* highEnd = inParts(builder, rows[2], rows[3], kHigh);
    return {inParts(builder, lowTop, lowEnd, kLowPairs),
            inParts(builder, lowTop, lowEnd, kHighPairs),
            inParts(builder, highTop, highEnd, kLowPairs),
            inParts(builder, highTop, highEnd, kHighPairs)};
}

/// Vector p has part p of each of the vectors.
Vectors transposedParts(llvm::IRBuilderBase& builder, const Vectors& vectors)
{
    const size_t count = vectors.size();
    if (count == 1) return vectors;
    // The even, or odd, parts of two vectors, in order.
    const auto everySecond = [&](llvm::Value* a, llvm::Value* b, int first) {
        std::vector<int> mask;
        for (int part = first; part < static_cast<int>(2 * count); part += 2)
            for (int i = 0; i < kBlock; ++i) mask.push_back(part * kBlock + i);
        return builder.CreateShuffleVector(a, b, mask);
    };
    if (count == 2)
        return {everySecond(vectors[0], vectors[1], 0), everySecond(vectors[0], vectors[1], 1)};
    Vectors out(count);
    for (int odd = 0; odd < 2; ++odd) {
        llvm::Value* top = everySecond(vectors[0], vectors[1], odd);
        llvm::Value* end = everySecond(vectors[2], vectors[3], odd);
        for (int high = 0; high < 2; ++high)
            out[static_cast<size_t>(odd + 2 * high)] = everySecond(top, end, high);
    }
    return out;
}

Vectors transposed(llvm::IRBuilderBase& builder, const Vectors& rows)
{
    const size_t lanes = rows.size();
    std::vector<Vectors> byColumn(kBlock); // of every fourth column, from top to bottom
    for (size_t row = 0; row < lanes; row += kBlock) {
        const Vectors four = ofFourRows(builder, llvm::ArrayRef(rows).slice(row, kBlock));
        for (size_t c = 0; c < kBlock; ++c) byColumn[c].push_back(four[c]);
    }
    Vectors out(lanes);
    for (size_t c = 0; c < kBlock; ++c) {
        const Vectors parts = transposedParts(builder, byColumn[c]);
        for (size_t p = 0; p < parts.size(); ++p) out[kBlock * p + c] = parts[p];
    }
    return out;
}

/// Rows of as many bytes or halves: neighbours of the upper and the lower half take turns, as often
/// as it takes to halve the rows to one.
Vectors transposedShorts(llvm::IRBuilderBase& builder, Vectors rows)
{
    const size_t count = rows.size();
    const auto lanes = static_cast<int>(count);
    // From the first half of two rows, or from the second.
    const auto inTurns = [&](llvm::Value* a, llvm::Value* b, int first) {
        std::vector<int> mask;
        for (int i = first; i < first + lanes / 2; ++i) mask.insert(mask.end(), {i, i + lanes});
        return builder.CreateShuffleVector(a, b, mask);
    };
    for (size_t rest = count; rest > 1; rest /= 2) {
        Vectors next;
        for (size_t row = 0; row < count / 2; ++row)
            for (const int first : {0, lanes / 2})
                next.push_back(inTurns(rows[row], rows[row + count / 2], first));
        rows = std::move(next);
    }
    return rows;
}

bool isVectorWidth(int64_t lanes) { return lanes == 4 || lanes == 8 || lanes == kMostTransposed; }

/// What the first lane has, and how much more each next one.
struct Lanes
{
    Expr first, step;
};

/// Of indices whose lanes are equally far apart, though how far may be known at run time only.
std::optional<Lanes> lanesOf(const Expr& index)
{
    if (index->dtype.lanes == 1) return Lanes{index, 0};
    if (index->kind == ExprKind::Broadcast) return Lanes{index->args[0], 0};
    if (index->kind == ExprKind::Ramp) return Lanes{index->args[0], index->args[1]};
    if (index->kind != ExprKind::Add && index->kind != ExprKind::Mul) return std::nullopt;
    auto a = lanesOf(index->args[0]), b = lanesOf(index->args[1]);
    if (!a || !b) return std::nullopt;
    if (index->kind == ExprKind::Add) return Lanes{a->first + b->first, a->step + b->step};
    if (!b->step.isConstInt(0)) std::swap(a, b);
    if (!b->step.isConstInt(0)) return std::nullopt;
    return Lanes{a->first * b->first, a->step * b->first};
}

bool uses(const Expr& index, const tir::Var& var)
{
    bool found = false;
    tir::visitExprs(index, [&](const Expr& expr) {
        found = found || (expr->kind == ExprKind::VarRef && expr->var == var);
        return !found;
    });
    return found;
}

/// A loop over vectors that copy: elements of one buffer, `stride` apart, side by side in another.
struct Copies
{
    const tir::ExprNode* load;
    Expr to, from; ///< of the first element of a vector
    Expr stride;
    int64_t toStep, fromStep; ///< per round; 0: unknown

    bool isApart(int64_t least) const ///< by so many, or by a number that is known at run time only
    {
        return stride->kind != ExprKind::IntImm || stride->integer >= least;
    }
};

std::optional<Copies> copiesOf(const tir::StmtNode& loop)
{
    const tir::StmtNode& store = *loop.body;
    if (store.kind != tir::StmtKind::Store || store.value->kind != ExprKind::Load ||
        store.value->buffer == store.buffer)
        return std::nullopt;
    const Expr& to = store.indices[0];
    if (to->kind != ExprKind::Ramp || !to->args[1].isConstInt(1) || to->dtype.lanes == 1)
        return std::nullopt;
    const auto from = lanesOf(store.value->args[0]);
    if (!from || store.value->dtype.lanes != to->dtype.lanes || uses(from->step, loop.loop.var))
        return std::nullopt;
    const auto stepOf = [&](const Expr& index) -> int64_t {
        const Expr next =
            tir::substitute(index, {{loop.loop.var.get(), Expr(loop.loop.var) + int64_t{1}}});
        const Expr step = tir::simplify(next - index);
        return step->kind == ExprKind::IntImm ? step->integer : 0;
    };
    return Copies{store.value.get(),         to->args[0],         from->first,
                  tir::simplify(from->step), stepOf(to->args[0]), stepOf(from->first)};
}

llvm::FixedVectorType* bytesOf(llvm::IRBuilderBase& builder, int64_t count)
{
    return llvm::FixedVectorType::get(builder.getInt8Ty(), static_cast<unsigned>(count));
}

/// The row's first element, `stride` elements behind that of the row before.
llvm::Value* rowAt(llvm::IRBuilderBase& builder, llvm::Type* element, llvm::Value* corner,
                   llvm::Value* stride, int64_t row)
{
    llvm::Value* wide = builder.CreateSExtOrTrunc(stride, builder.getInt64Ty());
    return builder.CreateInBoundsGEP(
        element, corner,
        builder.CreateMul(wide, llvm::ConstantInt::getSigned(wide->getType(), row)));
}

/// Four runs of bytes, `stride` apart, side by side.
llvm::Value* loadedPlanes(llvm::IRBuilderBase& builder, llvm::Value* corner, int64_t run,
                          llvm::Value* stride)
{
    llvm::Value* planes = llvm::PoisonValue::get(bytesOf(builder, kBlock * run));
    for (int64_t plane = 0; plane < kBlock; ++plane) {
        llvm::Value* pointer = rowAt(builder, builder.getInt8Ty(), corner, stride, plane);
        llvm::Value* bytes =
            builder.CreateAlignedLoad(bytesOf(builder, run), pointer, llvm::Align(1));
        planes = builder.CreateInsertVector(planes->getType(), planes, bytes,
                                            builder.getInt64(static_cast<uint64_t>(plane * run)));
    }
    return planes;
}

} // namespace

bool Emitter::unrolledSquare(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                             int64_t extent)
{
    const auto copies = copiesOf(node);
    if (!copies || !isVectorWidth(extent) || m_mask || !copies->isApart(2) || copies->fromStep != 1)
        return false;
    const tir::StmtNode& store = *node.body;
    const tir::ExprNode& load = *copies->load;
    const auto lanes = static_cast<int>(extent);
    const int64_t bytes = load.buffer->dtype.bytes();
    const bool areShort = (bytes == 1 && extent > kBlock) || (bytes == 2 && extent == 2 * kBlock);
    if (load.dtype.lanes != lanes || (bytes != kBlock && !areShort)) return false;
    selectRound(node, begin, 0);
    llvm::Value* stride = value(copies->stride);
    // Halves are moved as integers, which every processor has vectors of.
    llvm::Type* const element =
        bytes == 2 ? m_builder.getInt16Ty() : storedTypeOf(load.buffer->dtype.scalar());
    auto* const vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
    const auto [corner, align] = address(load.buffer, copies->from);
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(stride);
    const int64_t apart = known ? known->getSExtValue() * bytes : bytes;
    Vectors rows;
    for (int64_t row = 0; row < extent; ++row) {
        llvm::Value* pointer = rowAt(m_builder, element, corner, stride, row);
        rows.push_back(m_builder.CreateAlignedLoad(
            vector, pointer, llvm::commonAlignment(align, static_cast<uint64_t>(apart))));
    }
    const Vectors columns =
        areShort ? transposedShorts(m_builder, rows) : transposed(m_builder, rows);
    for (int64_t column = 0; column < extent; ++column) {
        selectRound(node, begin, column);
        const auto [pointer, alignment] = address(store.buffer, copies->to);
        m_builder.CreateAlignedStore(columns[static_cast<size_t>(column)], pointer, alignment);
    }
    return true;
}

bool Emitter::unrolledQuads(const tir::StmtNode& node, const llvm::ConstantInt& begin,
                            int64_t extent)
{
    const auto copies = copiesOf(node);
    if (!copies || m_mask || copies->load->buffer->dtype.bytes() != 1 || copies->fromStep != 1)
        return false;
    const int64_t lanes = copies->load->dtype.lanes;
    const bool toPlanes = extent == kBlock && copies->stride.isConstInt(kBlock) && lanes > kBlock;
    const bool toBlocks =
        lanes == kBlock && copies->toStep == kBlock && extent > kBlock && copies->isApart(extent);
    const int64_t run = toPlanes ? lanes : extent; // bytes of a plane
    if ((!toPlanes && !toBlocks) || (run != 8 && run != kMostTransposed)) return false;

    selectRound(node, begin, 0);
    const auto [corner, align] = address(copies->load->buffer, copies->from);
    if (toBlocks) {
        llvm::Value* planes = loadedPlanes(m_builder, corner, run, value(copies->stride));
        const auto [pointer, alignment] = address(node.body->buffer, copies->to);
        m_builder.CreateAlignedStore(interleaved(m_builder, planes), pointer, alignment);
        return true;
    }
    llvm::Value* blocks =
        m_builder.CreateAlignedLoad(bytesOf(m_builder, kBlock * run), corner, align);
    for (int64_t plane = 0; plane < kBlock; ++plane) {
        std::vector<int> order;
        for (int64_t i = 0; i < run; ++i) order.push_back(static_cast<int>(i * kBlock + plane));
        selectRound(node, begin, plane);
        const auto [pointer, alignment] = address(node.body->buffer, copies->to);
        m_builder.CreateAlignedStore(m_builder.CreateShuffleVector(blocks, order), pointer,
                                     alignment);
    }
    return true;
}

} // namespace tenon::compiler
