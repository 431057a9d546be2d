// SPDX-License-Identifier: Apache-2.0
// Lowering step: asks for rows of an image before they are needed. A window passes over the planes
// of an image row by row, and no part of them has been in the processor's caches lately. Processors
// follow a few runs of addresses by themselves; a tile's share of several rows of several planes is
// more than that. So each tile asks for what the tile below it is the first to read (the first
// layer of MobileNet v2 on Zen 5: 0.36 ms in place of 0.20 when it waits for its image). Rows that
// are copied into a frame ask for those below them (64 channels of 224 x 224 pixels before
// Winograd's transform: 5.4 ms in place of 6.4).
#include "compiler/schedule/lower.h"
#include "compiler/schedule/row_walk.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// Requests in one place above which the loads themselves would wait.
constexpr size_t kMostReads = 32;

/// A loop as it walks the image: elements per iteration.
struct Walk
{
    const tir::Loop* loop = nullptr;
    int64_t step = 0;
    int64_t extent = 1;
};

/// How a tile and the loops around it walk the image.
struct Site
{
    Affine index;     ///< of an element that the tile reads
    int64_t down = 0; ///< from the tile to the one below it
    int64_t run =
        0;     ///< elements of a row from one tile to the next, or all that the only one reads
    Walk rows; ///< of the window
    Walk planes;

    /// Rows that the tile below is the first to read.
    int64_t newRows() const { return std::min(rows.extent, down / rows.step); }
};

Walk walkOf(const Stmt& stmt, const Affine& index)
{
    if (stmt->loop.extent->kind != ExprKind::IntImm) return {};
    return {&stmt->loop, stepAlong(index, stmt->loop.var), stmt->loop.extent->integer};
}

/// The first index at which the image is read.
std::optional<Affine> firstIndexOf(const Stmt& body, const tir::Buffer& image)
{
    std::optional<Affine> found;
    tir::visitExprsIn(body, [&](const Expr& expr) {
        if (found || expr->kind != ExprKind::Load || expr->buffer != image) return !found;
        const bool isVector = expr->args[0]->kind == ExprKind::Ramp;
        found = affineOf(isVector ? expr->args[0]->args[0] : expr->args[0]);
        return !found;
    });
    return found;
}

/// The loops in a tile that walk the image more than once.
std::vector<Walk> walksIn(const Stmt& tile, const Affine& index)
{
    std::vector<Walk> walks;
    tir::visitStmts(tile, [&](const Stmt& inner) {
        if (inner->kind != StmtKind::For) return true;
        const Walk walk = walkOf(inner, index);
        if (walk.step > 0 && walk.extent > 1) walks.push_back(walk);
        return true;
    });
    return walks;
}

/// Elements that the unrolled loop over the tile's positions walks; they lie in one row.
int64_t positionsOf(const std::vector<Walk>& walks)
{
    int64_t run = 0;
    for (const Walk& walk : walks)
        if (walk.loop->kind == tir::LoopKind::Unrolled)
            run = std::max(run, walk.step * walk.extent);
    return run;
}

/// True for a serial loop that holds no other, nor a tile of sums.
bool isPlainRow(const Stmt& stmt)
{
    if (stmt->loop.kind != tir::LoopKind::Serial) return false;
    bool found = true;
    tir::visitStmts(stmt->body, [&](const Stmt& inner) {
        const bool isSerial =
            inner->kind == StmtKind::For && inner->loop.kind == tir::LoopKind::Serial;
        const bool isTile =
            inner->kind == StmtKind::Allocate && inner->buffer->scope == tir::Scope::Register;
        found = found && !isSerial && !isTile;
        return found;
    });
    return found;
}

/// Adds `wanted` and the loops around it, from outside to inside; false where it is not.
bool addLoopsAround(std::vector<Stmt>& loops, const Stmt& stmt, const tir::Loop* wanted)
{
    if (!stmt) return false;
    const bool isLoop = stmt->kind == StmtKind::For;
    if (isLoop) loops.push_back(stmt);
    if (isLoop && &stmt->loop == wanted) return true;
    for (const Stmt& child : stmt->stmts)
        if (addLoopsAround(loops, child, wanted)) return true;
    if (addLoopsAround(loops, stmt->body, wanted) || addLoopsAround(loops, stmt->orElse, wanted))
        return true;
    if (isLoop) loops.pop_back();
    return false;
}

/// Begins the body of one loop with a statement.
Stmt withFirst(const Stmt& stmt, const tir::Loop* loop, const Stmt& first)
{
    if (!stmt) return stmt;
    tir::StmtNode copy = *stmt;
    for (Stmt& child : copy.stmts) child = withFirst(child, loop, first);
    copy.body = withFirst(copy.body, loop, first);
    copy.orElse = withFirst(copy.orElse, loop, first);
    if (stmt->kind == StmtKind::For && &stmt->loop == loop)
        copy.body = tir::seq({first, copy.body});
    return std::make_shared<const tir::StmtNode>(std::move(copy));
}

class RowRequests
{
public:
    explicit RowRequests(tir::Buffer image)
        : m_image(std::move(image))
    {
    }

    Stmt visit(const Stmt& stmt)
    {
        if (!stmt) return stmt;
        const bool isTile =
            stmt->kind == StmtKind::Allocate && stmt->buffer->scope == tir::Scope::Register;
        if (isTile) return withRequests(stmt);
        tir::StmtNode copy = *stmt;
        if (copy.kind == StmtKind::For) m_loops.push_back(stmt);
        for (Stmt& child : copy.stmts) child = visit(child);
        copy.body = visit(copy.body);
        copy.orElse = visit(copy.orElse);
        if (copy.kind == StmtKind::For) copy.body = withRowBelow(stmt, copy.body);
        if (copy.kind == StmtKind::For) m_loops.pop_back();
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

private:
    tir::Buffer m_image;
    std::vector<Stmt> m_loops;

    /// How far the loops around walk the image, from inside to outside.
    std::vector<int64_t> stepsOf(const Affine& index) const
    {
        std::vector<int64_t> steps;
        for (size_t i = m_loops.size(); i-- > 0;)
            if (const Walk walk = walkOf(m_loops[i], index); walk.step > 0)
                steps.push_back(walk.step);
        return steps;
    }

    /// The body of the loop over a row that is copied, which asks for the row below.
    Stmt withRowBelow(const Stmt& loop, const Stmt& body) const
    {
        const auto index = isPlainRow(loop) ? firstIndexOf(loop->body, m_image) : std::nullopt;
        if (!index) return body;
        const std::vector<int64_t> steps = stepsOf(*index);
        const int64_t line = kLineBytes / m_image->dtype.bytes();
        if (steps.size() < 2 || steps[0] > line || steps[1] <= line) return body;
        std::vector<Stmt> reads;
        addReads(reads, {.index = *index, .down = steps[1], .run = 1}, m_loops, {0, 1});
        return tir::seq({tir::seq(std::move(reads)), body});
    }

    std::optional<Site> siteOf(const Stmt& tile) const
    {
        const auto index = firstIndexOf(tile, m_image);
        if (!index) return std::nullopt;
        const std::vector<Walk> walks = walksIn(tile, *index);
        const std::vector<int64_t> around = stepsOf(*index);
        Site site{.index = *index, .run = positionsOf(walks)};
        const bool hasTiles = around.size() > 1 && around[0] <= site.run;
        if (site.run == 0 || around.empty() || (!hasTiles && around[0] < site.run))
            return std::nullopt;
        if (hasTiles) site.run = around[0];
        site.down = around[hasTiles ? 1 : 0];
        site.rows.step = site.down;
        for (const Walk& walk : walks) {
            if (walk.step > site.down) site.planes = walk;
            if (walk.step <= site.down && walk.step >= site.run &&
                walk.loop->kind == tir::LoopKind::Serial)
                site.rows = walk;
        }
        return site.down % site.rows.step == 0 ? std::optional(site) : std::nullopt;
    }

    /// Requests in front of the tile; where they are too many, and no row is read by two tiles, in
    /// its loop over rows.
    Stmt withRequests(const Stmt& tile) const
    {
        const auto site = siteOf(tile);
        if (!site) return tile;
        const int64_t old = site->rows.extent - site->newRows();
        std::vector<Stmt> reads;
        addReads(reads, *site, m_loops, {old, site->rows.extent});
        if (reads.size() <= kMostReads) return tir::seq({tir::seq(std::move(reads)), tile});
        if (!site->rows.loop || old > 0) return tile;
        std::vector<Stmt> loops = m_loops;
        addLoopsAround(loops, tile, site->rows.loop);
        reads.clear();
        addReads(reads, *site, loops, {0, 1});
        if (reads.size() > kMostReads) return tile;
        return withFirst(tile, site->rows.loop, tir::seq(std::move(reads)));
    }

    /// Reads nobody uses, one of each line: rows from..to of the planes that these loops do not
    /// walk, as the tile below reads them.
    void addReads(std::vector<Stmt>& reads, const Site& site, const std::vector<Stmt>& loops,
                  std::pair<int64_t, int64_t> rows) const
    {
        const bool isAround = std::any_of(loops.begin(), loops.end(), [&](const Stmt& loop) {
            return &loop->loop == site.planes.loop;
        });
        const int64_t line = kLineBytes / m_image->dtype.bytes();
        for (int64_t plane = 0; plane < (isAround ? 1 : site.planes.extent); ++plane)
            for (int64_t row = rows.first; row < rows.second; ++row)
                for (int64_t at = 0; at < site.run; at += line)
                    reads.push_back(requestAt(m_image, site.index, loops,
                                              site.down + plane * site.planes.step +
                                                  row * site.rows.step + at));
    }
};

} // namespace

tir::PrimFunc requestRows(tir::PrimFunc function)
{
    const std::string name = function.attrs.string("stream_rows", "");
    for (const tir::Buffer& param : function.params)
        if (param->name == name) function.body = RowRequests(param).visit(function.body);
    return function;
}

} // namespace tenon::compiler
