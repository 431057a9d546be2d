// SPDX-License-Identifier: Apache-2.0
// Tiles of sums of words that become bytes at once: sums never leave the registers between the
// first product and the rounding.
#include "compiler/codegen/c/c_expr.h"
#include "compiler/codegen/c/c_word_tile.h"
#include "core/ir/tir/visit.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;
using tir::Intrinsic;
using tir::Stmt;
using tir::StmtKind;

namespace {

/// What a loop stores, written out.
struct FlatStore
{
    tir::Buffer buffer;
    Expr index, value;
};

bool writeOut(const Stmt& stmt, std::vector<FlatStore>& out)
{
    constexpr size_t kMost = 16;
    if (out.size() > kMost) return false;
    if (stmt->kind == StmtKind::Seq) {
        for (const Stmt& each : stmt->stmts)
            if (!writeOut(each, out)) return false;
        return true;
    }
    if (stmt->kind == StmtKind::For) {
        const tir::Loop& loop = stmt->loop;
        if (!loop.min.isConstInt(0) || loop.extent->kind != ExprKind::IntImm) return false;
        for (int64_t i = 0; i < loop.extent->integer; ++i)
            if (out.size() > kMost ||
                !writeOut(tir::substitute(stmt->body, {{loop.var.get(), Expr(i)}}), out))
                return false;
        return true;
    }
    if (stmt->kind != StmtKind::Store || stmt->indices.size() != 1) return false;
    out.push_back({stmt->buffer, stmt->indices[0], stmt->value});
    return true;
}

/// How far an index is behind another; nothing where that is no number.
std::optional<int64_t> distance(const Expr& index, const Expr& from)
{
    const Expr steps = tir::simplify(index - from);
    return steps->kind == ExprKind::IntImm ? std::optional(steps->integer) : std::nullopt;
}

bool isLoad(const Expr& expr, core::DataType dtype)
{
    return expr->kind == ExprKind::Load && expr->dtype == dtype;
}

/// The number that stands in an int32, converted or not.
std::optional<int64_t> numberIn(const Expr& expr)
{
    const Expr& number = expr->kind == ExprKind::Cast ? expr->args[0] : expr;
    return number->kind == ExprKind::IntImm ? std::optional(number->integer) : std::nullopt;
}

/// saturate(round(sum * scale) + zeroPoint)
struct RoundedSum
{
    Expr sum, scale;
    int64_t zeroPoint;
};

/// The int32 that a byte is limited from, or null.
Expr limitedSum(const Expr& byte)
{
    if (byte->kind != ExprKind::Cast || byte->dtype != core::kInt8) return {};
    const Expr& least = byte->args[0];
    if (least->kind != ExprKind::Min || least->dtype != core::kInt32 ||
        !least->args[1].isConstInt(127))
        return {};
    const Expr& most = least->args[0];
    if (most->kind != ExprKind::Max || !most->args[1].isConstInt(-128)) return {};
    return most->args[0];
}

std::optional<RoundedSum> roundedSum(const Expr& byte)
{
    Expr whole = limitedSum(byte);
    if (!whole.get()) return std::nullopt;
    std::optional<int64_t> zeroPoint = 0;
    if (whole->kind == ExprKind::Add) {
        zeroPoint = numberIn(whole->args[1]);
        whole = Expr(whole->args[0]);
    }
    if (!zeroPoint || whole->kind != ExprKind::Cast || whole->dtype != core::kInt32)
        return std::nullopt;
    const Expr& round = whole->args[0];
    if (round->kind != ExprKind::Intrinsic || round->intrinsic != Intrinsic::Round ||
        round->args[0]->kind != ExprKind::Mul)
        return std::nullopt;
    const Expr &sum = round->args[0]->args[0], &scale = round->args[0]->args[1];
    if (sum->kind != ExprKind::Cast || !isLoad(sum->args[0], core::kInt32) ||
        !isLoad(scale, core::kFloat32))
        return std::nullopt;
    return RoundedSum{sum->args[0], scale, *zeroPoint};
}

/// Whether stores give sums[2 p + f] what `start`, the first load, has f elements behind.
bool startsSums(const std::vector<FlatStore>& stores, const tir::Buffer& sums, int64_t count)
{
    if (static_cast<int64_t>(stores.size()) != count) return false;
    const Expr& first = stores[0].value;
    for (int64_t i = 0; i < count; ++i) {
        const FlatStore& store = stores[static_cast<size_t>(i)];
        if (store.buffer != sums || !store.index.isConstInt(i) ||
            !isLoad(store.value, core::kInt32) || store.value->buffer != first->buffer ||
            store.value->buffer == sums ||
            distance(store.value->args[0], first->args[0]) != i % kTileFilters)
            return false;
    }
    return true;
}

/// What all results of a tile share.
struct TileResults
{
    tir::Buffer to;
    Expr at, scale;
    int64_t pitch; ///< bytes from one position to the next
    int64_t zeroPoint;
};

std::optional<TileResults> resultsOf(const std::vector<FlatStore>& stores, const tir::Buffer& sums,
                                     int64_t count)
{
    const auto first = stores.empty() ? std::nullopt : roundedSum(stores[0].value);
    if (!first || static_cast<int64_t>(stores.size()) != count) return std::nullopt;
    const auto pitch = distance(stores[kTileFilters].index, stores[0].index);
    if (!pitch) return std::nullopt;
    for (int64_t i = 0; i < count; ++i) {
        const FlatStore& store = stores[static_cast<size_t>(i)];
        const auto each = roundedSum(store.value);
        const int64_t filter = i % kTileFilters;
        if (!each || each->zeroPoint != first->zeroPoint || each->sum->buffer != sums ||
            !each->sum->args[0].isConstInt(i) || each->scale->buffer != first->scale->buffer ||
            distance(each->scale->args[0], first->scale->args[0]) != filter ||
            store.buffer != stores[0].buffer || store.buffer->dtype != core::kInt8 ||
            distance(store.index, stores[0].index) != i / kTileFilters * *pitch + filter)
            return std::nullopt;
    }
    return TileResults{stores[0].buffer, stores[0].index, first->scale, *pitch, first->zeroPoint};
}

} // namespace

std::string CExpressions::bytesOfTile(const tir::StmtNode& allocate)
{
    const Stmt& body = allocate.body;
    if (m_widened.empty() || allocate.buffer->dtype != core::kInt32 ||
        body->kind != StmtKind::Seq || body->stmts.size() < 3)
        return "";
    std::vector<FlatStore> starts;
    size_t at = 0;
    std::optional<WordTile> tile;
    for (; at < body->stmts.size() && !(tile = wordTile(body->stmts[at])); ++at)
        if (!writeOut(body->stmts[at], starts)) return "";
    if (!tile || tile->sums != allocate.buffer || !tile->sumsAt.isConstInt(0) ||
        !m_widened.contains(tile->words.get()))
        return "";
    std::vector<FlatStore> ends;
    for (++at; at < body->stmts.size(); ++at)
        if (!writeOut(body->stmts[at], ends)) return "";
    const int64_t count = kTileFilters * tile->positions;
    if (!startsSums(starts, tile->sums, count)) return "";
    const auto results = resultsOf(ends, tile->sums, count);
    if (!results) return "";
    return "bytes_of_words_2x" + std::to_string(tile->positions) + "_" +
           std::to_string(tile->stride) + "(" + address(results->to, results->at) + ", " +
           nameOf(tile->words) + ", " + address(tile->weights, tile->weightsAt) + ", " +
           std::to_string(tile->steps) + ", " +
           address(starts[0].value->buffer, starts[0].value->args[0]) + ", " +
           address(results->scale->buffer, results->scale->args[0]) + ", " +
           std::to_string(results->pitch) + ", " + std::to_string(results->zeroPoint) + ");";
}

} // namespace tenon::compiler
