// SPDX-License-Identifier: Apache-2.0
// Lowering step: asks for elements of a streamed parameter before they are needed. A kernel passes
// over one block of weights several times, then goes to the next; each pass asks for its share of
// the next block, so that memory works all the time and not in the first pass only.
#include "compiler/schedule/lower.h"
#include "compiler/schedule/region.h"
#include "compiler/schedule/row_walk.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// How far ahead of a stream without passes, and of blocks too large to be fetched whole: about
/// the latency of memory times what one core reads.
constexpr int64_t kAheadBytes = 8192;
/// Requests per iteration above which the loads themselves would wait.
constexpr int64_t kMostLines = 16;

struct PassLoop
{
    const tir::Loop* loop;
    int64_t extent;
    int64_t step; ///< elements of the buffer per iteration
};

/// Which loops walk the stream: from inside to outside, first those of one pass, then those that
/// repeat it.
struct Stream
{
    Affine index;
    std::vector<PassLoop> pass;
    std::vector<PassLoop> repeats;
    int64_t run = 0;     ///< elements that the loops of one pass walk
    int64_t strands = 1; ///< such runs side by side, each behind the other in memory
    int64_t passes = 1;  ///< over the block of these runs
    int64_t lanes = 1;   ///< of one read
};

/// Loops over whose iterations the requests for a block are spread, from inside to outside; they
/// may begin the bodies of the first `inside` ones.
struct Spread
{
    std::vector<PassLoop> loops;
    size_t inside = 0;

    /// Iterations of all loops from `level` on.
    int64_t iterations(size_t level) const
    {
        int64_t product = 1;
        for (size_t i = level; i < loops.size(); ++i) product *= loops[i].extent;
        return product;
    }
};

/// Lines that every iteration of the spread's loop at `level` asks for.
struct Requests
{
    size_t level;
    int64_t lines;
};

/// The first index at which the buffer is read in vectors, and how many elements from there on.
struct VectorRead
{
    Affine index;
    int64_t lanes;
};

std::optional<VectorRead> vectorReadOf(const Stmt& body, const tir::Buffer& buffer)
{
    std::optional<VectorRead> found;
    tir::visitExprsIn(body, [&](const Expr& expr) {
        const bool reads = !found && expr->kind == ExprKind::Load && expr->buffer == buffer &&
                           expr->args[0]->kind == ExprKind::Ramp &&
                           expr->args[0]->args[1].isConstInt(1);
        if (reads) found = VectorRead{affineOf(expr->args[0]->args[0]), expr->dtype.lanes};
        return !found;
    });
    return found;
}

/// Coefficient of a loop in the index; nothing when it enters in another way.
std::optional<int64_t> stepOf(const Affine& index, const tir::Var& var)
{
    int64_t step = 0;
    for (const AffineTerm& term : index.terms) {
        if (term.atom->kind == ExprKind::VarRef && term.atom->var == var)
            step = term.coefficient;
        else if (usesVar(term.atom, var.get()))
            return std::nullopt;
    }
    return step;
}

Stream streamOf(Affine index, const std::vector<Stmt>& loops)
{
    Stream stream{.index = std::move(index)};
    for (size_t i = loops.size(); i-- > 0;) {
        const tir::Loop& loop = loops[i]->loop;
        const auto step = stepOf(stream.index, loop.var);
        const bool isSerial = loop.kind == tir::LoopKind::Serial;
        const bool isRepeat = loop.kind == tir::LoopKind::Unrolled && step == 0;
        if (!step || !(isSerial || isRepeat) || loop.extent->kind != ExprKind::IntImm) break;
        const PassLoop each{&loop, loop.extent->integer, *step};
        const bool isInside = stream.repeats.empty();
        if (isInside && *step > 0 && (stream.pass.empty() || *step == stream.run)) {
            stream.pass.push_back(each);
            stream.run = *step * each.extent;
        } else if (*step == 0 && !stream.pass.empty()) {
            stream.repeats.push_back(each);
            stream.passes *= each.extent;
        } else {
            break;
        }
    }
    return stream;
}

/// Counts in the unrolled loops of `body` that step from one strand to the next.
void addStrands(Stream& stream, const Stmt& body)
{
    tir::visitStmts(body, [&](const Stmt& inner) {
        const bool isUnrolled =
            inner->kind == StmtKind::For && inner->loop.kind == tir::LoopKind::Unrolled;
        if (isUnrolled && inner->loop.extent->kind == ExprKind::IntImm && stream.strands == 1 &&
            stepOf(stream.index, inner->loop.var) == stream.run)
            stream.strands = inner->loop.extent->integer;
        return true;
    });
}

bool isLoopOfKind(const Stmt& stmt, tir::LoopKind kind)
{
    return stmt->kind == StmtKind::For && stmt->loop.kind == kind &&
           stmt->loop.extent->kind == ExprKind::IntImm;
}

/// The serial loops of most iterations in `body` that hold no other, and what unrolled ones are
/// around them, from outside to inside.
std::vector<Stmt> busiestLoops(const Stmt& body)
{
    std::vector<Stmt> around, best;
    int64_t most = 0;
    const std::function<void(const Stmt&, int64_t)> walk = [&](const Stmt& stmt, int64_t count) {
        if (!stmt) return;
        const bool isLoop = isLoopOfKind(stmt, tir::LoopKind::Serial) ||
                            isLoopOfKind(stmt, tir::LoopKind::Unrolled);
        if (isLoop) {
            around.push_back(stmt);
            count *= stmt->loop.extent->integer;
            if (stmt->loop.kind == tir::LoopKind::Serial && count > most) {
                most = count;
                best = around;
            }
        }
        for (const Stmt& child : stmt->stmts) walk(child, count);
        walk(stmt->body, count);
        walk(stmt->orElse, count);
        if (isLoop) around.pop_back();
    };
    walk(body, 1);
    return best;
}

/// The innermost loop in which an iteration's share of what is asked for is a whole line or more.
/// Where no share is, iterations ask for a line each, several for the same, if strands are worth
/// it.
std::optional<Requests> requestsOf(const Stream& stream, const Spread& spread, int64_t elementBytes)
{
    const int64_t strands = stream.passes == 1 ? 1 : stream.strands;
    const int64_t most = kMostLines / (stream.passes == 1 ? stream.strands : 1);
    const int64_t bytes = stream.run * strands * elementBytes;
    for (size_t level = 0; level < spread.inside; ++level) {
        const int64_t perLine = kLineBytes * spread.iterations(level);
        if (bytes < perLine) continue;
        const int64_t lines = (bytes + perLine - 1) / perLine;
        if (lines > most) return std::nullopt;
        return Requests{level, lines};
    }
    // Of one strand, where two thirds of them do, as at 7 x 7 pixels: with more passes over a block
    // the wait in its first one counts less than the requests (Zen 3, RegNet's 672 to 672 channels:
    // 0.89 of the time at 10 passes). Where each read is a line, an iteration computes as much for
    // twice of them (Sapphire Rapids, 384 to 1,536 columns for 197 rows, weights from memory: 174
    // against 182 GFLOP/s).
    const bool isWorth = strands > 1 || stream.lanes * elementBytes >= kLineBytes ||
                         (spread.inside > 0 && 3 * bytes >= 2 * kLineBytes * spread.iterations(0));
    if (!isWorth || stream.pass[0].step * strands * elementBytes < kLineBytes) return std::nullopt;
    return Requests{0, 1};
}

class Streamer
{
public:
    Streamer(tir::Buffer buffer, int64_t mostAhead)
        : m_buffer(std::move(buffer))
        , m_mostAhead(mostAhead)
    {
    }

    Stmt visit(const Stmt& stmt)
    {
        if (!stmt) return stmt;
        tir::StmtNode copy = *stmt;
        const bool isLoop = copy.kind == StmtKind::For;
        if (isLoop) m_loops.push_back(stmt);
        for (Stmt& child : copy.stmts) child = visit(child);
        copy.body = visit(copy.body);
        copy.orElse = visit(copy.orElse);
        if (isLoop && copy.loop.kind == tir::LoopKind::Serial) {
            plan(copy.body);
            const auto begins = m_requests.find(&stmt->loop);
            if (begins != m_requests.end()) copy.body = tir::seq({begins->second, copy.body});
        }
        if (isLoop) m_loops.pop_back();
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

private:
    tir::Buffer m_buffer;
    int64_t m_mostAhead; ///< bytes
    std::vector<Stmt> m_loops;
    std::unordered_map<const tir::Loop*, Stmt> m_requests; ///< to begin the loop's body with

    /// Decides at the innermost loop where requests go: there, in a loop around it, or in the loop
    /// that takes the time of a pass.
    void plan(const Stmt& body)
    {
        bool isInnermost = true;
        tir::visitStmts(body, [&](const Stmt& inner) {
            isInnermost = isInnermost && !(inner->kind == StmtKind::For &&
                                           inner->loop.kind == tir::LoopKind::Serial);
            return isInnermost;
        });
        if (!isInnermost) return;
        const auto read = vectorReadOf(body, m_buffer);
        if (!read) return;
        Stream stream = streamOf(read->index, m_loops);
        if (stream.pass.empty()) return;
        stream.lanes = read->lanes;
        addStrands(stream, body);
        const int64_t element = m_buffer->dtype.bytes();
        int64_t ahead = stream.run * stream.strands;
        if (stream.passes == 1 || ahead * element > m_mostAhead) {
            ahead = std::min(stream.run, kAheadBytes / element);
            stream.passes = 1;
            stream.repeats.clear();
        }
        const Spread spread = spreadOf(stream);
        const auto requests = requestsOf(stream, spread, element);
        if (requests)
            m_requests[spread.loops[requests->level].loop] =
                request(stream, spread, *requests, ahead);
    }

    /// Over the loops that read, or, where others in the same pass have more iterations, over
    /// those.
    Spread spreadOf(const Stream& stream) const
    {
        Spread spread{stream.pass, stream.pass.size()};
        if (!stream.repeats.empty()) {
            const size_t repeat = m_loops.size() - stream.pass.size() - 1;
            const std::vector<Stmt> busiest = busiestLoops(m_loops[repeat]->body);
            if (busiest.back() != m_loops.back()) {
                spread = {};
                bool isInside = true;
                for (size_t i = busiest.size(); i-- > 0;) {
                    const tir::Loop& loop = busiest[i]->loop;
                    isInside = isInside && loop.kind == tir::LoopKind::Serial;
                    spread.loops.push_back({&loop, loop.extent->integer, 0});
                    spread.inside += isInside ? 1 : 0;
                }
            }
        }
        spread.loops.insert(spread.loops.end(), stream.repeats.begin(), stream.repeats.end());
        return spread;
    }

    /// The loops in which an index has one value during a pass.
    std::vector<Stmt> loopsAround(const Stream& stream) const
    {
        std::vector<Stmt> around = m_loops;
        std::erase_if(around, [&](const Stmt& stmt) {
            return std::any_of(stream.pass.begin(), stream.pass.end(),
                               [&](const PassLoop& pass) { return pass.loop == &stmt->loop; });
        });
        return around;
    }

    /// Reads nobody uses: the iteration's share, counted through all passes, from `ahead` on.
    Stmt request(const Stream& stream, const Spread& spread, const Requests& requests,
                 int64_t ahead) const
    {
        const int64_t line = kLineBytes / m_buffer->dtype.bytes();
        const int64_t strands = stream.passes == 1 ? stream.strands : 1;
        const std::vector<Stmt> around = loopsAround(stream);
        Expr at = ahead;
        for (const AffineTerm& term : stream.index.terms)
            if (isOfLoops(term.atom, around)) at = at + term.atom * term.coefficient;
        // As evenly as lines go: where a share ends within a line, the next one begins with it.
        int64_t iterations = spread.iterations(requests.level);
        int64_t share = stream.run * stream.strands / strands;
        const int64_t unit = share % iterations == 0 ? 1 : line;
        share /= unit;
        int64_t common = std::gcd(share, iterations);
        // In loops that read the block, which are short, a division costs more than to have asked
        // for all of it early (products of 197 x 192 x 768: 1.5 %).
        std::optional<int64_t> last;
        if (spread.loops[0].step > 0 && unit > 1 && iterations > share) {
            last = share - 1;
            iterations =
                static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(iterations / share)));
            common = share = 1;
        }
        Expr asked = 0;
        int64_t each = share / common;
        for (size_t i = requests.level; i < spread.loops.size(); ++i) {
            asked = asked + Expr(spread.loops[i].loop->var) * each;
            each *= spread.loops[i].extent;
        }
        iterations /= common;
        if (iterations > 1) asked = floorDiv(asked, Expr(iterations));
        if (last) asked = minimum(asked, Expr(*last));
        asked = asked * unit;
        at = at + asked;
        std::vector<Stmt> reads;
        for (int64_t strand = 0; strand < strands; ++strand)
            for (int64_t i = 0; i < requests.lines; ++i)
                reads.push_back(tir::evaluate(
                    tir::load(m_buffer, {tir::simplify(at + strand * stream.run + i * line)})));
        return tir::seq(std::move(reads));
    }
};

} // namespace

tir::PrimFunc requestStreams(tir::PrimFunc function)
{
    const std::string name = function.attrs.string("stream", "");
    for (const tir::Buffer& param : function.params)
        if (param->name == name)
            function.body =
                Streamer(param, function.attrs.integer("stream_bytes", 0)).visit(function.body);
    return function;
}

} // namespace tenon::compiler
