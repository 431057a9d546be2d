// SPDX-License-Identifier: Apache-2.0
// Loads of lanes that lie near one another, in any order: two vectors and a shuffle in place of a
// gather, which takes as long as loading the lanes one by one.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/sum.h"
#include "core/ir/tir/visit.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <bit>
#include <optional>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

namespace {

/// What an expression of lanes is for each of them, as a scalar.
std::optional<std::vector<Expr>> lanesOf(const Expr& expr, int lanes, const tir::Ranges& ranges)
{
    const tir::Var lane = tir::makeVar("lane", kInt64);
    const Expr scalar = tir::asScalar(expr, lane);
    if (!scalar.get()) return std::nullopt;
    std::vector<Expr> out;
    for (int64_t i = 0; i < lanes; ++i)
        out.push_back(tir::simplify(tir::substitute(scalar, {{lane.get(), Expr(i)}}), ranges));
    return out;
}

/// Where lanes are read, counted in elements from what the first of them reads; nothing for lanes
/// that are not.
struct LanePlaces
{
    Expr first;
    std::vector<std::optional<int64_t>> offsets;
    int64_t low = 0, high = 0; ///< of all

    bool areAllRead() const
    {
        return std::all_of(offsets.begin(), offsets.end(),
                           [](const auto& o) { return o.has_value(); });
    }
};

/// Nothing where the places depend on more than the lane, or none is read. `mask`: null, or the
/// lanes that are.
std::optional<LanePlaces> placesOf(const Expr& index, const llvm::Constant* mask,
                                   const tir::Ranges& ranges)
{
    const auto lanes = lanesOf(index, index->dtype.lanes, ranges);
    if (!lanes) return std::nullopt;
    LanePlaces places;
    for (unsigned i = 0; i < lanes->size(); ++i) {
        const llvm::Constant* isRead = mask ? mask->getAggregateElement(i) : nullptr;
        if (mask && (!isRead || isRead->isNullValue())) {
            places.offsets.emplace_back();
            continue;
        }
        if (!places.first.get()) places.first = (*lanes)[i];
        const Expr offset = tir::simplify((*lanes)[i] - places.first, ranges);
        if (offset->kind != ExprKind::IntImm) return std::nullopt;
        places.offsets.emplace_back(offset->integer);
        places.low = std::min(places.low, offset->integer);
        places.high = std::max(places.high, offset->integer);
    }
    if (!places.first.get()) return std::nullopt;
    return places;
}

constexpr int64_t kShuffledBytes = 16; ///< of vectors whose bytes come into any order

/// Lanes of each of two vectors that end inside of what lanes span, so that neither reads beyond
/// the buffer.
int64_t widthOfTwo(int64_t lanes, int64_t span, int64_t bytes, const EmitOptions& options)
{
    const auto most = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(span)));
    // Registers are as wide as a power of two: LLVM puts 14 lanes together from 8, 4 and 2.
    const auto whole = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(lanes)));
    const int64_t width = std::min(whole * bytes <= options.vectorBytes ? whole : lanes, most);
    if (span <= 2 * width || (bytes < 4 && !options.shufflesBytes)) return width;
    // Few lanes farther apart come from wider vectors, which one instruction shuffles.
    const int64_t shuffled = bytes >= 4 ? options.vectorBytes : kShuffledBytes;
    return std::min(std::max(lanes, shuffled / bytes), most);
}

/// Lanes at a stride of 3 or 4 lie in four vectors: two shuffles of two each, and one that takes
/// lanes of both, where one instruction shuffles two vectors of 32-bit elements.
bool isWithinFour(int64_t lanes, int64_t span, int64_t bytes)
{
    constexpr int64_t kWide = 16;
    return lanes == kWide && bytes == 4 && span <= 4 * kWide;
}

struct FirstLane
{
    llvm::Value* pointer;
    llvm::Align align;
    int64_t bytes; ///< of a lane

    llvm::Align ofEvery() const ///< lane
    {
        return std::min(align, llvm::Align(static_cast<uint64_t>(bytes)));
    }
};

/// The lanes out of vectors of `width` at the begin and at the end of what they span.
llvm::Value* fromTwo(llvm::IRBuilderBase& builder, llvm::Type* element, const FirstLane& first,
                     const LanePlaces& places, int64_t width)
{
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(width));
    llvm::Value* front = builder.CreateAlignedLoad(type, first.pointer, first.align);
    llvm::Value* back = llvm::PoisonValue::get(type);
    const int64_t backBegin = places.high - places.low + 1 - width;
    if (backBegin > 0) {
        llvm::Value* next = builder.CreateInBoundsGEP(
            element, first.pointer, builder.getInt64(static_cast<uint64_t>(backBegin)));
        back = builder.CreateAlignedLoad(type, next, first.ofEvery());
    }
    std::vector<int> lanesOfBoth;
    for (const std::optional<int64_t>& offset : places.offsets) {
        const int64_t place = offset ? *offset - places.low : llvm::PoisonMaskElem;
        const bool isBehind = offset && place >= width;
        lanesOfBoth.push_back(static_cast<int>(isBehind ? width + place - backBegin : place));
    }
    return builder.CreateShuffleVector(front, back, lanesOfBoth);
}

/// The lanes out of two vectors at the begin and two at the end of what they span.
llvm::Value* fromFour(llvm::IRBuilderBase& builder, llvm::Type* element, const FirstLane& first,
                      const LanePlaces& places)
{
    const auto lanes = static_cast<int64_t>(places.offsets.size());
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
    const auto vectorAt = [&](int64_t place) {
        llvm::Value* from = builder.CreateInBoundsGEP(
            element, first.pointer, builder.getInt64(static_cast<uint64_t>(place)));
        return builder.CreateAlignedLoad(type, from, first.ofEvery());
    };
    const int64_t behind = places.high - places.low + 1 - 2 * lanes;
    std::vector<int> early, late, both;
    for (size_t i = 0; i < places.offsets.size(); ++i) {
        const bool isRead = places.offsets[i].has_value();
        const int64_t place = isRead ? *places.offsets[i] - places.low : 0;
        const bool isEarly = isRead && place < 2 * lanes;
        early.push_back(isEarly ? static_cast<int>(place) : llvm::PoisonMaskElem);
        late.push_back(isRead && !isEarly ? static_cast<int>(place - behind)
                                          : llvm::PoisonMaskElem);
        both.push_back(
            static_cast<int>(isEarly ? static_cast<int64_t>(i) : lanes + static_cast<int64_t>(i)));
    }
    llvm::Value* front = builder.CreateShuffleVector(vectorAt(0), vectorAt(lanes), early);
    llvm::Value* back =
        builder.CreateShuffleVector(vectorAt(behind), vectorAt(behind + lanes), late);
    return builder.CreateShuffleVector(front, back, both);
}

constexpr int64_t kBlendedBytes = 32; ///< of AVX and AVX2: one cheap instruction blends words

/// Where a lane stands in vectors that each begin at the last element of the one before.
struct Turn
{
    int64_t vector, position;
};

/// Of every lane, no two at the same position; nothing where two are. Lanes of AVX2 at a stride of
/// up to 6 are so.
std::optional<std::vector<Turn>> turnsOf(const LanePlaces& places, int64_t lanes)
{
    constexpr int64_t kMostVectors = 6;
    const int64_t step = lanes - 1, last = (places.high - places.low - 1) / step;
    if (last >= kMostVectors) return std::nullopt;
    std::vector<bool> isTaken(static_cast<size_t>(lanes));
    std::vector<Turn> turns;
    for (const std::optional<int64_t>& offset : places.offsets) {
        if (!offset) return std::nullopt;
        const int64_t place = *offset - places.low, vector = std::min(place / step, last);
        turns.push_back({vector, place - vector * step});
        const auto position = static_cast<size_t>(turns.back().position);
        if (isTaken[position]) return std::nullopt;
        isTaken[position] = true;
    }
    return turns;
}

/// The lanes blended out of all vectors, each in its position, and then brought into order.
llvm::Value* blended(llvm::IRBuilderBase& builder, llvm::Type* element, const FirstLane& first,
                     const std::vector<Turn>& turns)
{
    const auto lanes = static_cast<int64_t>(turns.size());
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
    std::vector<int64_t> owners(turns.size());
    std::vector<int> order;
    for (const Turn& turn : turns) {
        owners[static_cast<size_t>(turn.position)] = turn.vector;
        order.push_back(static_cast<int>(turn.position));
    }
    llvm::Value* all = builder.CreateAlignedLoad(type, first.pointer, first.align);
    for (int64_t vector = 1; vector <= *std::max_element(owners.begin(), owners.end()); ++vector) {
        llvm::Value* from = builder.CreateInBoundsGEP(
            element, first.pointer, builder.getInt64(static_cast<uint64_t>(vector * (lanes - 1))));
        std::vector<int> either;
        for (int64_t i = 0; i < lanes; ++i)
            either.push_back(
                static_cast<int>(owners[static_cast<size_t>(i)] == vector ? lanes + i : i));
        all = builder.CreateShuffleVector(
            all, builder.CreateAlignedLoad(type, from, first.ofEvery()), either);
    }
    return builder.CreateShuffleVector(all, order);
}

/// Lanes [begin, end) out of as many vectors of 16 bytes as hold what they span; these end inside
/// of what all lanes span.
llvm::Value* shuffled(llvm::IRBuilderBase& builder, llvm::Type* element, const FirstLane& first,
                      const LanePlaces& places, size_t begin, size_t end)
{
    const int64_t width = kShuffledBytes / first.bytes;
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(width));
    const auto placeOf = [&](size_t lane) { return *places.offsets[lane] - places.low; };
    int64_t low = placeOf(begin), high = low;
    for (size_t lane = begin; lane < end; ++lane) {
        low = std::min(low, placeOf(lane));
        high = std::max(high, placeOf(lane));
    }
    llvm::Value* all = llvm::PoisonValue::get(type);
    for (int64_t at = low; at <= high; at += width) {
        const int64_t from = std::min(at, places.high - places.low + 1 - width);
        llvm::Value* next = builder.CreateInBoundsGEP(
            element, first.pointer, builder.getInt64(static_cast<uint64_t>(from)));
        std::vector<int> either;
        for (size_t lane = begin; lane < end; ++lane) {
            const int64_t place = placeOf(lane);
            const bool isHere = place >= at && place < at + width;
            either.push_back(static_cast<int>(isHere ? width + place - from
                                                     : static_cast<int64_t>(lane - begin)));
        }
        either.resize(static_cast<size_t>(width), llvm::PoisonMaskElem);
        all = builder.CreateShuffleVector(
            all, builder.CreateAlignedLoad(type, next, first.ofEvery()), either);
    }
    std::vector<int> kept;
    for (size_t lane = begin; lane < end; ++lane) kept.push_back(static_cast<int>(lane - begin));
    return kept.size() == static_cast<size_t>(width) ? all : builder.CreateShuffleVector(all, kept);
}

/// Bytes and halves at a distance, 16 bytes of them after another; null where they are too far
/// apart, or too few.
llvm::Value* fromSixteens(llvm::IRBuilderBase& builder, llvm::Type* element, const FirstLane& first,
                          const LanePlaces& places)
{
    constexpr int64_t kMostVectors = 8;
    const size_t lanes = places.offsets.size();
    const auto width = kShuffledBytes / first.bytes;
    const size_t each = std::min(lanes, static_cast<size_t>(width));
    const int64_t span = places.high - places.low + 1;
    if (span < width || lanes % each != 0 || !places.areAllRead() ||
        span > kMostVectors * width * static_cast<int64_t>(lanes / each))
        return nullptr;
    std::vector<llvm::Value*> parts;
    for (size_t begin = 0; begin < lanes; begin += each)
        parts.push_back(shuffled(builder, element, first, places, begin, begin + each));
    return parts.size() == 1 ? parts[0] : llvm::concatenateVectors(builder, parts);
}

} // namespace

llvm::Constant* Emitter::knownComparison(const ExprNode& node)
{
    const int lanes = node.dtype.lanes;
    if (lanes == 1 || node.args[0]->dtype.scalar() != kInt64) return nullptr;
    const auto answers =
        lanesOf(tir::binary(node.kind, node.args[0], node.args[1]), lanes, m_ranges);
    if (!answers) return nullptr;
    std::vector<llvm::Constant*> out;
    for (const Expr& answer : *answers) {
        if (answer->kind != ExprKind::IntImm) return nullptr;
        out.push_back(m_builder.getInt1(answer->integer != 0));
    }
    return llvm::ConstantVector::get(out);
}

llvm::Value* Emitter::nearLanes(const ExprNode& node, llvm::Type* element)
{
    const auto* mask = m_mask ? llvm::dyn_cast<llvm::Constant>(m_mask) : nullptr;
    if (m_mask && !mask) return nullptr;
    const auto places = placesOf(node.args[0], mask, m_ranges);
    if (!places) return nullptr;
    const int64_t begin = places->low, span = places->high - begin + 1;
    const auto lanes = static_cast<int64_t>(places->offsets.size());
    const int64_t bytes = node.buffer->dtype.bytes();
    const int64_t width = widthOfTwo(lanes, span, bytes, m_options);
    const bool isFar = span > 2 * width, isByFour = isFar && isWithinFour(lanes, span, bytes);
    const bool fitsBlends =
        bytes == 4 && lanes * bytes == kBlendedBytes && m_options.vectorBytes >= kBlendedBytes;
    const auto turns = isFar && fitsBlends ? turnsOf(*places, lanes) : std::nullopt;
    const bool isByBytes = isFar && bytes <= 2 && m_options.shufflesBytes;
    if (isFar && !isByFour && !turns && !isByBytes) return nullptr;
    const auto [pointer, align] =
        address(node.buffer, tir::simplify(places->first + Expr(begin), m_ranges));
    const FirstLane first{pointer, align, bytes};
    if (isByBytes) return fromSixteens(m_builder, element, first, *places);
    if (turns) return blended(m_builder, element, first, *turns);
    if (isFar) return fromFour(m_builder, element, first, *places);
    return fromTwo(m_builder, element, first, *places, width);
}

} // namespace tenon::compiler
