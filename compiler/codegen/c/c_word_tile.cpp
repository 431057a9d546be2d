// SPDX-License-Identifier: Apache-2.0
// Words of bytes that several filters multiply: kept widened to pairs of 16 bits, a tile of their
// sums is one call.
#include "compiler/codegen/c/c_word_tile.h"

#include "compiler/codegen/c/c_loop_nest.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;
using tir::Intrinsic;
using tir::Stmt;
using tir::StmtKind;

namespace {

/// Filters that share the data of a single position.
constexpr int64_t kFiltersOfOne = 4;
constexpr int64_t kLeastPositions = 2, kMostPositions = 4;
/// Of weights from one step to the next, in words: what an instruction adds to an address.
constexpr int64_t kMostStride = 255;

bool isSignedDot(const Expr& expr)
{
    return expr->kind == ExprKind::Intrinsic &&
           (expr->intrinsic == Intrinsic::DotI8I8 || expr->intrinsic == Intrinsic::DotI8Narrow);
}

/// The dot of signed bytes and loaded weights that a store adds to its element.
std::optional<Expr> addedDot(const Stmt& store)
{
    const Expr& value = store->value;
    if (value->kind != ExprKind::Add || value->dtype != core::kInt32) return std::nullopt;
    const Expr &sum = value->args[0], &dot = value->args[1];
    if (!isSignedDot(dot) || !dot->args[0].isConstInt(0) || sum->kind != ExprKind::Load ||
        sum->buffer != store->buffer || dot->args[2]->kind != ExprKind::Load ||
        !tir::structuralEqual(sum->args[0], store->indices[0]))
        return std::nullopt;
    return dot;
}

int64_t loadsOf(const Stmt& body, const tir::Buffer& buffer)
{
    int64_t count = 0;
    tir::visitExprsIn(body, [&](const Expr& e) {
        count += e->kind == ExprKind::Load && e->buffer == buffer;
        return true;
    });
    return count;
}

} // namespace

std::optional<CExpressions::WordTile> CExpressions::wordTile(const Stmt& root)
{
    const auto nest = nestOf(root);
    const auto added = nest ? addedDot(nest->store) : std::nullopt;
    if (!added || nest->loops.size() < 2 || (*added)->args[1]->kind != ExprKind::Load)
        return std::nullopt;
    const Expr& dot = *added;
    const Expr& sum = nest->store->value->args[0];
    std::vector<tir::Loop> steps = nest->loops;
    const tir::Loop filter = steps.back();
    steps.pop_back();
    const tir::Loop position = steps.back();
    steps.pop_back();
    const Expr &words = dot->args[1]->args[0], &weights = dot->args[2]->args[0];
    const int64_t positions = position.extent->integer;
    const auto stride = stepOfAll(weights, steps);
    const bool isTile =
        filter.extent.isConstInt(kTileFilters) && positions >= kLeastPositions &&
        positions <= kMostPositions && stride && *stride >= 0 && *stride <= kMostStride &&
        stepOfAll(words, steps) == (steps.empty() ? 0 : positions) &&
        stepOfAll(sum->args[0], steps) == 0 && stepOf(sum->args[0], position.var) == kTileFilters &&
        stepOf(sum->args[0], filter.var) == 1 && stepOf(words, position.var) == 1 &&
        stepOf(words, filter.var) == 0 && stepOf(weights, position.var) == 0 &&
        stepOf(weights, filter.var) == 1;
    if (!isTile) return std::nullopt;
    int64_t count = 1;
    for (const tir::Loop& loop : steps) count *= loop.extent->integer;
    return WordTile{.sums = sum->buffer,
                    .words = dot->args[1]->buffer,
                    .weights = dot->args[2]->buffer,
                    .sumsAt = firstOf(sum->args[0], nest->loops),
                    .wordsAt = firstOf(words, nest->loops),
                    .weightsAt = firstOf(weights, nest->loops),
                    .positions = positions,
                    .steps = count,
                    .stride = *stride};
}

bool CExpressions::holdsWidened(const tir::Buffer& buffer, const Stmt& body)
{
    if (buffer->dtype != core::kInt32) return false;
    int64_t positions = 0, loads = 0;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind != StmtKind::For) return true;
        const auto tile = wordTile(stmt);
        if (!tile || tile->words != buffer) return true;
        const bool isSame = positions == 0 || positions == tile->positions;
        positions = isSame && tile->wordsAt.isConstInt(0) ? tile->positions : -1;
        ++loads;
        return false;
    });
    if (positions <= 0 || loads != loadsOf(body, buffer)) return false;
    m_widened[buffer.get()] = positions;
    return true;
}

std::vector<std::string> CExpressions::widenedStore(const tir::StmtNode& node)
{
    const auto found = m_widened.find(node.buffer.get());
    if (found == m_widened.end()) return {};
    // A step's words: bytes 0 and 2 of each position, then bytes 1 and 3.
    const Expr positions(found->second);
    const Expr even =
        simplified(node.indices[0] + tir::floorDiv(node.indices[0], positions) * positions);
    const Expr odd = simplified(even + positions);
    const std::string word = text(node.value);
    const std::string& name = nameOf(node.buffer);
    return {name + "[" + text(even) + "] = widen_even(" + word + ");",
            name + "[" + text(odd) + "] = widen_odd(" + word + ");"};
}

/// sums[f] += the dot of a word of data and weights[f], for all steps.
std::string CExpressions::sumsOfBytes(const Stmt& root)
{
    const auto nest = nestOf(root);
    const auto dot = nest ? addedDot(nest->store) : std::nullopt;
    const ExprNode* byte = dot && nest->loops.size() > 1 ? firstByte((*dot)->args[1]) : nullptr;
    if (!byte || byte->buffer->dtype != core::kInt8) return "";
    std::vector<tir::Loop> steps = nest->loops;
    const tir::Loop filter = steps.back();
    steps.pop_back();
    const Expr &sum = nest->store->indices[0], &data = byte->args[0];
    const tir::Buffer& words = (*dot)->args[2]->buffer;
    const Expr& weights = (*dot)->args[2]->args[0];
    const auto stride = stepOfAll(weights, steps);
    const bool isTile = filter.extent.isConstInt(kFiltersOfOne) && stride && *stride >= 0 &&
                        *stride <= kMostStride && stepOfAll(data, steps) == 4 &&
                        stepOfAll(sum, steps) == 0 && stepOf(sum, filter.var) == 1 &&
                        stepOf(data, filter.var) == 0 && stepOf(weights, filter.var) == 1;
    if (!isTile) return "";
    int64_t count = 1;
    for (const tir::Loop& loop : steps) count *= loop.extent->integer;
    return "dot_bytes_4x1_" + std::to_string(*stride) + "(" +
           address(nest->store->buffer, firstOf(sum, nest->loops)) + ", " +
           address(byte->buffer, firstOf(data, nest->loops)) + ", " +
           address(words, firstOf(weights, nest->loops)) + ", " + std::to_string(count) + ");";
}

std::string CExpressions::sumsOfWords(const Stmt& root)
{
    const auto tile = m_widened.empty() ? std::nullopt : wordTile(root);
    if (!tile || !m_widened.contains(tile->words.get())) return "";
    return "dot_words_2x" + std::to_string(tile->positions) + "_" + std::to_string(tile->stride) +
           "(" + address(tile->sums, tile->sumsAt) + ", " + nameOf(tile->words) + ", " +
           address(tile->weights, tile->weightsAt) + ", " + std::to_string(tile->steps) + ");";
}

} // namespace tenon::compiler
