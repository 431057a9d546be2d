// SPDX-License-Identifier: Apache-2.0
// Loads of lanes that lie near one another, in any order: two vectors and a shuffle in place of a
// gather, which takes as long as loading the lanes one by one.
#include "compiler/codegen/llvm/emitter.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/sum.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;

namespace {

/// Where lanes are read, counted in elements from what the first of them reads.
struct LanePlaces
{
    Expr first;
    std::vector<int64_t> offsets;
};

/// Nothing where the places depend on more than the lane.
std::optional<LanePlaces> placesOf(const Expr& index, const tir::Ranges& ranges)
{
    const tir::Var lane = tir::makeVar("lane", kInt64);
    const Expr scalar = tir::asScalar(index, lane);
    if (!scalar.get()) return std::nullopt;
    const auto at = [&](int64_t i) { return tir::substitute(scalar, {{lane.get(), Expr(i)}}); };
    LanePlaces places{tir::simplify(at(0), ranges), {}};
    for (int64_t i = 0; i < index->dtype.lanes; ++i) {
        const Expr offset = tir::simplify(at(i) - places.first, ranges);
        if (offset->kind != ExprKind::IntImm) return std::nullopt;
        places.offsets.push_back(offset->integer);
    }
    return places;
}

} // namespace

llvm::Value* Emitter::nearLanes(const ExprNode& node, llvm::Type* element)
{
    if (m_mask) return nullptr;
    const auto places = placesOf(node.args[0], m_ranges);
    if (!places) return nullptr;
    const auto [low, high] = std::minmax_element(places->offsets.begin(), places->offsets.end());
    const int64_t begin = *low, span = *high - *low + 1;
    const auto lanes = static_cast<int64_t>(places->offsets.size());
    // Both vectors end inside of what the lanes span, so that neither reads beyond the buffer.
    const auto width =
        std::min(lanes, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(span))));
    if (span > 2 * width) return nullptr;
    const auto [pointer, align] =
        address(node.buffer, tir::simplify(places->first + Expr(begin), m_ranges));
    auto* type = llvm::FixedVectorType::get(element, static_cast<unsigned>(width));
    llvm::Value* front = m_builder.CreateAlignedLoad(type, pointer, align);
    llvm::Value* back = llvm::PoisonValue::get(type);
    const int64_t backBegin = span - width;
    if (backBegin > 0) {
        llvm::Value* next = m_builder.CreateInBoundsGEP(
            element, pointer, m_builder.getInt64(static_cast<uint64_t>(backBegin)));
        const llvm::Align single(static_cast<uint64_t>(node.buffer->dtype.bytes()));
        back = m_builder.CreateAlignedLoad(type, next, std::min(align, single));
    }
    std::vector<int> lanesOfBoth;
    for (const int64_t offset : places->offsets) {
        const int64_t place = offset - begin;
        lanesOfBoth.push_back(static_cast<int>(place < width ? place : width + place - backBegin));
    }
    return m_builder.CreateShuffleVector(front, back, lanesOfBoth);
}

} // namespace tenon::compiler
