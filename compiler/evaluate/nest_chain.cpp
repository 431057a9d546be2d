// SPDX-License-Identifier: Apache-2.0
// Which nests can run stretch by stretch, and running them.
#include "compiler/evaluate/nest_chain.h"

#include "core/ir/tir/visit.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

using tir::ExprKind;
using tir::StmtKind;
using Buffers = std::unordered_set<const tir::BufferNode*>;

/// Inner buffers below this size stay in the cache as they are.
constexpr int64_t kLeastBytes = int64_t{1} << 20;
/// What the inner buffers of a stretch take: half of a usual second-level cache.
constexpr int64_t kStretchBytes = int64_t{512} << 10;
/// Stretches for each thread, so that all end at about the same time.
constexpr int64_t kStretchesPerThread = 4;

/// The block of a perfect nest.
const tir::StmtNode& blockOf(const tir::Stmt& nest)
{
    const tir::StmtNode* stmt = nest.get();
    while (stmt->kind == StmtKind::For) stmt = stmt->body.get();
    return *stmt;
}

/// Each dimension of what it stores is an axis of its own, from end to end.
bool storesEverywhere(const tir::StmtNode& block)
{
    const tir::StmtNode& store = *block.body;
    if (store.indices.size() != store.buffer->shape.size()) return false;
    std::unordered_set<const tir::VarNode*> seen;
    for (size_t d = 0; d < store.indices.size(); ++d) {
        const tir::Expr& index = store.indices[d];
        const tir::Expr& extent = store.buffer->shape[d];
        if (index->kind != ExprKind::VarRef || !seen.insert(index->var.get()).second) return false;
        const auto axis = std::find_if(block.block.iters.begin(), block.block.iters.end(),
                                       [&](const tir::IterVar& i) { return i.var == index->var; });
        if (axis == block.block.iters.end() || axis->extent->kind != ExprKind::IntImm ||
            extent->kind != ExprKind::IntImm || axis->extent->integer != extent->integer)
            return false;
    }
    return true;
}

/// Every buffer is written as a whole by one statement, in front of those that read it; and only
/// inner ones are read after that.
bool isWrittenBeforeRead(const std::vector<tir::Stmt>& whole, const Buffers& inner)
{
    Buffers stored, written;
    for (const tir::Stmt& nest : whole) stored.insert(blockOf(nest).body->buffer.get());
    for (const tir::Stmt& nest : whole) {
        const tir::StmtNode& block = blockOf(nest);
        bool isFine = storesEverywhere(block);
        tir::visitExprs(block.body->value, [&](const tir::Expr& e) {
            const tir::BufferNode* read = e->kind == ExprKind::Load ? e->buffer.get() : nullptr;
            if (inner.count(read) || stored.count(read))
                isFine = isFine && inner.count(read) && written.count(read);
            return isFine;
        });
        if (!isFine || !written.insert(block.body->buffer.get()).second) return false;
    }
    return std::all_of(inner.begin(), inner.end(),
                       [&](const tir::BufferNode* buffer) { return written.count(buffer); });
}

} // namespace

/// Inner buffers of one thread.
struct NestChain::Scratch
{
    std::vector<std::vector<std::byte>> bytes;
    std::vector<LocalBuffer> buffers;
};

std::optional<NestChain> NestChain::match(const std::vector<tir::Stmt>& whole,
                                          const std::vector<VectorNest>& nests,
                                          const std::vector<tir::Buffer>& inner)
{
    LocalIds ids;
    Buffers buffers;
    std::vector<int64_t> elements;
    int64_t bytes = 0;
    for (const tir::Buffer& buffer : inner) {
        ids[buffer.get()] = static_cast<int>(elements.size());
        buffers.insert(buffer.get());
        elements.push_back(1);
        for (const tir::Expr& extent : buffer->shape) elements.back() *= extent->integer;
        bytes += elements.back() * buffer->dtype.bytes();
    }
    if (bytes < kLeastBytes || !isWrittenBeforeRead(whole, buffers)) return std::nullopt;
    NestChain chain;
    std::vector<int64_t> extents;
    for (const VectorNest& nest : nests) {
        Link link{nest, 0};
        const auto extent = link.nest.cut(ids);
        if (!extent) return std::nullopt;
        extents.push_back(*extent);
        chain.m_units = std::gcd(chain.m_units, *extent);
        chain.m_links.push_back(std::move(link));
    }
    if (chain.m_units < 2) return std::nullopt;
    for (size_t i = 0; i < extents.size(); ++i) chain.m_links[i].step = extents[i] / chain.m_units;
    for (size_t i = 0; i < inner.size(); ++i) {
        chain.m_elements.push_back(elements[i] / chain.m_units);
        chain.m_bytes.push_back(chain.m_elements[i] * inner[i]->dtype.bytes());
    }
    return chain;
}

Status NestChain::runStretch(const JobContext& job, Scratch& scratch, int64_t first,
                             int64_t last) const
{
    for (size_t i = 0; i < m_bytes.size(); ++i)
        scratch.buffers[i] = {scratch.bytes[i], m_elements[i] * first};
    for (const Link& link : m_links) {
        const Status done =
            link.nest.runStretch(job, first * link.step, last * link.step, scratch.buffers);
        if (!done) return done;
    }
    return kDone;
}

Status NestChain::run(const JobContext& job) const
{
    const int64_t unitBytes = std::accumulate(m_bytes.begin(), m_bytes.end(), int64_t{0});
    const int64_t evenly = m_units / (int64_t{job.threads()} * kStretchesPerThread);
    const int64_t length =
        std::max<int64_t>(1, std::min(evenly, kStretchBytes / std::max<int64_t>(unitBytes, 1)));
    const int64_t count = (m_units + length - 1) / length;
    std::mutex mutex;
    std::vector<Scratch> free(job.threads());
    for (Scratch& scratch : free) {
        for (const int64_t bytes : m_bytes)
            scratch.bytes.emplace_back(static_cast<size_t>(bytes * length));
        scratch.buffers.resize(m_bytes.size());
    }
    return job.parallelFor(static_cast<size_t>(count), [&](size_t i) {
        Scratch mine;
        {
            const std::scoped_lock lock(mutex);
            mine = std::move(free.back());
            free.pop_back();
        }
        const int64_t first = static_cast<int64_t>(i) * length;
        Status done = runStretch(job, mine, first, std::min(first + length, m_units));
        const std::scoped_lock lock(mutex);
        free.push_back(std::move(mine));
        return done;
    });
}

} // namespace tenon::compiler
