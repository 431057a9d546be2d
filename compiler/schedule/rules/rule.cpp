// SPDX-License-Identifier: Apache-2.0
// Questions about blocks, inlining and epilogues.
#include "compiler/schedule/rules/rule.h"

#include "compiler/schedule/tree.h"
#include "core/ir/tir/visit.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;

/// Nodes of an expression above which a second copy costs more than a buffer.
constexpr int64_t kInlineNodes = 48;

int64_t nodesIn(const Stmt& block)
{
    int64_t count = 0;
    tir::visitExprsIn(block->body, [&](const Expr&) {
        ++count;
        return true;
    });
    return count;
}

/// Places of copies of what a block computes. Bytes that a block reads twice at one place it
/// computes once, and without narrowing them for a buffer and widening them again.
int64_t copiesOf(const Stmt& root, const tir::Buffer& buffer)
{
    if (buffer->dtype.bytes() != 1) return readersOf(root, buffer);
    int64_t copies = 0;
    for (const Stmt& block : blocksIn(root)) {
        std::vector<Expr> places;
        tir::visitExprsIn(block->body, [&](const Expr& expr) {
            if (expr->kind == ExprKind::Load && expr->buffer == buffer &&
                std::none_of(places.begin(), places.end(),
                             [&](const Expr& other) { return tir::structuralEqual(other, expr); }))
                places.push_back(expr);
            return true;
        });
        copies += static_cast<int64_t>(places.size());
    }
    return copies;
}

/// A vector of bytes for each byte of a quad is what is packed at once.
constexpr int64_t kFewestLanes = 4, kPackedLanes = 16;

/// Stores quads of bytes that are loaded.
bool packsBytes(const Stmt& block)
{
    const Stmt& store = block->body;
    if (store->kind != tir::StmtKind::Store || store->value->kind != ExprKind::Intrinsic ||
        store->value->intrinsic != tir::Intrinsic::BitwiseOr)
        return false;
    bool areBytes = true;
    tir::visitExprs(store->value, [&](const Expr& expr) {
        areBytes = areBytes && (expr->kind != ExprKind::Load || expr->dtype.bytes() == 1);
        return areBytes;
    });
    return areBytes;
}

/// A reduction that reads an element more than once would repeat its computation.
bool isRepeatedByReduction(const Schedule& schedule, const tir::Buffer& buffer)
{
    for (const Stmt& block : blocksIn(schedule.function().body)) {
        if (!reads(block, buffer)) continue;
        bool reduces = false;
        for (const tir::IterVar& iter : block->block.iters)
            reduces = reduces || iter.kind == tir::IterKind::Reduce;
        const int64_t elements = bytesOf(buffer) / std::max<int64_t>(1, buffer->dtype.bytes());
        if (reduces && workOf(schedule, block->block.name) > elements) return true;
    }
    return false;
}

/// The block's innermost loop in vectors; the loops around it stay.
void vectorizeInnermost(Schedule& schedule, const std::string& block, int64_t lanes)
{
    std::string vector = schedule.loopsOf(block).back();
    const int64_t extent = schedule.extentOf(vector);
    if (extent > lanes && extent % lanes == 0) {
        const auto parts = schedule.split(vector, {-1, lanes});
        vector = parts[1];
    }
    if (schedule.extentOf(vector) != 1) schedule.vectorize(vector);
}

/// Unrolls the loop around the block's vectors, whose functions then overlap.
void unrollAroundVector(Schedule& schedule, const std::string& block, const std::string& around)
{
    constexpr int64_t kMostUnrolled = 14;
    const std::vector<std::string> loops = schedule.loopsOf(block);
    std::string loop = loops[loops.size() - 2];
    const int64_t extent = schedule.extentOf(loop);
    if (loop == around || extent < 2) return;
    if (extent > kMostUnrolled) {
        const auto parts = schedule.split(loop, {-1, divisorUpTo(extent, kMostUnrolled)});
        loop = parts[1];
    }
    return schedule.unroll(loop);
}

struct Attachment
{
    std::string block; ///< its sums are in registers
    std::string after; ///< is to follow on each tile
    std::string loop;  ///< over tiles
};

/// The block behind the sums gets loops over a stored copy of the tile. A function unrolled for
/// every vector of a tile runs out of the instruction cache: on Sapphire Rapids GELU behind a dense
/// layer took 0.098 ms in place of 0.047.
void attachLoops(Schedule& schedule, const Attachment& at, int64_t lanes)
{
    const size_t rank = axesOf(schedule, at.after).size();
    const auto copy = schedule.cacheRead(at.after, outputOf(schedule, at.block), tir::Scope::Local);
    schedule.reverseComputeAt(copy, at.loop);
    schedule.reverseComputeAt(at.after, at.loop);
    unrollTile(schedule, copy, rank, lanes);
    vectorizeInnermost(schedule, at.after, lanes);
    return unrollAroundVector(schedule, at.after, at.loop);
}

} // namespace

tir::Stmt blockOf(const Schedule& schedule, std::string_view block)
{
    const auto site = siteOfBlock(schedule.function().body, block);
    CHECK(site) << "no block " << block;
    return site->stmt;
}

int64_t readersOf(const Stmt& root, const tir::Buffer& buffer)
{
    int64_t loads = 0;
    for (const Stmt& block : blocksIn(root))
        tir::visitExprsIn(block->body, [&](const Expr& expr) {
            loads += expr->kind == ExprKind::Load && expr->buffer == buffer;
            return true;
        });
    return loads;
}

bool callsMath(const Stmt& block)
{
    bool found = false;
    tir::visitExprsIn(block->body, [&](const Expr& expr) {
        found =
            found || (expr->kind == ExprKind::Intrinsic && tir::isLongFunction(expr->intrinsic));
        return !found;
    });
    return found;
}

std::vector<AxisView> axesOf(const Schedule& schedule, std::string_view block)
{
    std::vector<AxisView> axes;
    for (const tir::IterVar& iter : blockOf(schedule, block)->block.iters) {
        const bool isLoop = iter.binding->kind == ExprKind::VarRef;
        const bool isConst = iter.extent->kind == ExprKind::IntImm;
        axes.push_back({.loop = isLoop ? iter.binding->var->name : "",
                        .extent = isConst ? iter.extent->integer : -1,
                        .isReduce = iter.kind == tir::IterKind::Reduce});
    }
    return axes;
}

std::vector<std::string> ownLoopsOf(const Schedule& schedule, std::string_view block)
{
    std::vector<std::string> loops = schedule.loopsOf(block);
    const auto axes = static_cast<long>(blockOf(schedule, block)->block.iters.size());
    CHECK(axes <= static_cast<long>(loops.size())) << "loops of " << block << " were joined";
    return {loops.end() - axes, loops.end()};
}

std::string anchorOf(const Schedule& schedule)
{
    return schedule.function().attrs.string("anchor", "");
}

int64_t bytesOf(const tir::Buffer& buffer)
{
    int64_t bytes = buffer->dtype.bytes();
    for (const Expr& extent : buffer->shape)
        bytes *= extent->kind == ExprKind::IntImm ? extent->integer : 0;
    return bytes;
}

std::vector<tir::Buffer> inputsOf(const Schedule& schedule, std::string_view block)
{
    const Stmt stmt = blockOf(schedule, block);
    std::vector<tir::Buffer> inputs = readIn(stmt);
    std::erase_if(inputs, [&](const tir::Buffer& buffer) { return writes(stmt, buffer); });
    return inputs;
}

std::string outputOf(const Schedule& schedule, std::string_view block)
{
    const std::vector<tir::Buffer> written = writtenIn(blockOf(schedule, block));
    return written.empty() ? "" : written[0]->name;
}

bool isOutput(const Schedule& schedule, std::string_view buffer)
{
    const tir::Buffer found = bufferNamed(schedule.function(), buffer);
    return found && isParameter(schedule.function(), found);
}

void inlineElementwise(Schedule& schedule, const std::vector<std::string>& keep)
{
    for (const std::string& name : schedule.blocks()) {
        if (std::find(keep.begin(), keep.end(), name) != keep.end()) continue;
        const Stmt block = blockOf(schedule, name);
        const std::vector<tir::Buffer> written = writtenIn(block);
        if (written.size() != 1 || isParameter(schedule.function(), written[0])) continue;
        if (isRepeatedByReduction(schedule, written[0])) continue;
        const int64_t copies = copiesOf(schedule.function().body, written[0]);
        if (copies * nodesIn(block) > kInlineNodes * std::max<int64_t>(1, 3 - copies)) continue;
        (void)schedule.tries().computeInline(
            name); // refused for what is not elementwise, which then stays
    }
}

std::vector<std::string> blocksAfter(const Schedule& schedule, const std::string& block)
{
    const std::vector<std::string> all = schedule.blocks();
    const auto at = std::find(all.begin(), all.end(), block);
    return at == all.end() ? std::vector<std::string>{}
                           : std::vector<std::string>(at + 1, all.end());
}

std::vector<std::string> blocksBefore(const Schedule& schedule, const std::string& block)
{
    const std::vector<std::string> all = schedule.blocks();
    return {all.begin(), std::find(all.begin(), all.end(), block)};
}

std::string readerOf(const Schedule& schedule, const std::string& block)
{
    std::string found;
    if (block.empty()) return found;
    for (const std::string& other : blocksAfter(schedule, block))
        for (const tir::Buffer& buffer : inputsOf(schedule, other)) {
            if (buffer->name != outputOf(schedule, block)) continue;
            if (!found.empty()) return "";
            found = other;
        }
    return found;
}

void vectorizeInParts(Schedule& schedule, const std::string& loop, int64_t lanes)
{
    const int64_t extent = schedule.extentOf(loop);
    if (extent <= lanes || extent % lanes != 0) return schedule.vectorize(loop);
    const auto parts = schedule.split(loop, {-1, lanes});
    schedule.unroll(parts[0]);
    return schedule.vectorize(parts[1]);
}

void unrollTile(Schedule& schedule, const std::string& block, size_t own, int64_t lanes)
{
    const std::vector<std::string> loops = schedule.loopsOf(block);
    bool isInnermost = true;
    for (size_t i = loops.size(); i-- > loops.size() - own;) {
        const int64_t extent = schedule.extentOf(loops[i]);
        if (extent == 1) continue;
        if (isInnermost)
            vectorizeInParts(schedule, loops[i], lanes);
        else
            schedule.unroll(loops[i]);
        isInnermost = false;
    }
}

void initialiseTile(Schedule& schedule, const std::string& block, const std::string& loop,
                    size_t own, int64_t lanes)
{
    const auto init = schedule.decomposeReduction(block, loop);
    if (!hasOrderedSums(schedule.function()))
        (void)schedule.tries().initWithAddends(init); // refused where nothing suitable is added
    return unrollTile(schedule, init, own, lanes);
}

void accumulateInRegisters(Schedule& schedule, const std::string& block)
{
    const std::string output = outputOf(schedule, block);
    if (!isOutput(schedule, output)) return schedule.setScope(output, tir::Scope::Register);
    schedule.cacheWrite(block, tir::Scope::Register);
}

std::vector<std::string> attachEpilogue(Schedule& schedule, const std::string& block,
                                        const std::string& loop, int64_t lanes)
{
    std::vector<std::string> left;
    for (const std::string& name : blocksAfter(schedule, block)) {
        const size_t rank = axesOf(schedule, name).size();
        if (left.empty() && callsMath(blockOf(schedule, name))) {
            Schedule looped = schedule;
            attachLoops(looped, {block, name, loop}, lanes);
            if (!looped.hasFailed()) {
                schedule = std::move(looped);
                continue;
            }
        }
        if (!left.empty() || !schedule.tries().reverseComputeAt(name, loop)) {
            left.push_back(name);
            continue;
        }
        unrollTile(schedule, name, rank, lanes);
    }
    return left;
}

bool canStream(const Schedule& schedule, const tir::Buffer& parameter, const TargetFacts& facts)
{
    // The block in use, the next one and the data share the cache.
    const bool isLarge = bytesOf(parameter) > facts.l2Bytes / 16;
    return isLarge && facts.vectorBytes >= 32 && isOutput(schedule, parameter->name);
}

void streamImage(Schedule& schedule, const tir::Buffer& image, const TargetFacts& facts)
{
    constexpr int64_t kMostChannels = 4; // of a block: results of other layers have more
    const bool isImage = image->shape.size() == 5 && image->shape[4]->integer <= kMostChannels;
    if (isImage && canStream(schedule, image, facts)) schedule.streamRows(image->name);
}

bool streamWeights(Schedule& schedule, const tir::Buffer& weights, const TargetFacts& facts,
                   int64_t products)
{
    // Requests cost loads: where the core guesses as well, a product of one row reads 40 GB/s
    // without them and 24 with them, of three rows 24 and 30 (Zen 4).
    constexpr int64_t kFew = 2;
    if (facts.coldShare >= 1 && products <= kFew) return false;
    const bool streams = canStream(schedule, weights, facts);
    if (streams) schedule.stream(weights->name, facts.l2Bytes / 3);
    return streams;
}

void streamResult(Schedule& schedule, const std::string& block, const TargetFacts& facts)
{
    const tir::Buffer result = bufferNamed(schedule.function(), outputOf(schedule, block));
    if (bytesOf(result) > 2 * facts.l2Bytes && canStream(schedule, result, facts))
        schedule.streamResult(result->name);
}

std::vector<std::string> blocksSince(const Schedule& schedule,
                                     const std::vector<std::string>& before)
{
    std::vector<std::string> blocks = schedule.blocks();
    std::erase_if(blocks, [&](const std::string& name) {
        return std::find(before.begin(), before.end(), name) != before.end();
    });
    return blocks;
}

int64_t workOf(const Schedule& schedule, std::string_view block)
{
    int64_t work = 1;
    for (const AxisView& axis : axesOf(schedule, block))
        work *= axis.extent < 0 ? kUnknownExtent : axis.extent;
    return work;
}

int64_t lanesOf(const Schedule& schedule, std::string_view block, const TargetFacts& facts)
{
    const std::vector<tir::Buffer> written = writtenIn(blockOf(schedule, block));
    const int64_t bytes = written.empty() ? 4 : std::max<int64_t>(1, written[0]->dtype.bytes());
    const auto lanes = std::max<int64_t>(1, facts.lanes(static_cast<int>(bytes)));
    if (lanes < kFewestLanes || !packsBytes(blockOf(schedule, block))) return lanes;
    return std::max<int64_t>(lanes, std::min<int64_t>(facts.lanes(1), kPackedLanes));
}

std::vector<std::string> splitEvenly(Schedule& schedule, const std::string& loop, int64_t size)
{
    if (schedule.extentOf(loop) % size != 0) return schedule.splitOverlap(loop, size);
    return schedule.split(loop, {-1, size});
}

int64_t divisorUpTo(int64_t extent, int64_t limit)
{
    int64_t best = 1;
    for (int64_t d = 1; d <= std::min(extent, limit); ++d)
        if (extent % d == 0) best = d;
    return best;
}

} // namespace tenon::compiler
