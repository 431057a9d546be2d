// SPDX-License-Identifier: Apache-2.0
// Lowering step: asks for elements of a streamed parameter before they are needed. A kernel passes
// over one block of weights several times, then goes to the next; each pass asks for its share of
// the next block, so that memory works all the time and not in the first pass only.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/region.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

constexpr int64_t kLineBytes = 64;
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
};

/// Lines that every iteration of pass[level] asks for.
struct Requests
{
    size_t level;
    int64_t lines;
};

/// The first index at which the buffer is read in vectors.
std::optional<Affine> vectorIndexOf(const Stmt& body, const tir::Buffer& buffer)
{
    std::optional<Affine> found;
    tir::visitExprsIn(body, [&](const Expr& expr) {
        const bool reads = !found && expr->kind == ExprKind::Load && expr->buffer == buffer &&
                           expr->args[0]->kind == ExprKind::Ramp &&
                           expr->args[0]->args[1].isConstInt(1);
        if (reads) found = affineOf(expr->args[0]->args[0]);
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

Stream streamOf(Affine index, const std::vector<const tir::Loop*>& loops)
{
    Stream stream{.index = std::move(index)};
    for (size_t i = loops.size(); i-- > 0;) {
        const tir::Loop& loop = *loops[i];
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

/// The innermost loop in which an iteration's share of the next block is a whole line or more. Of
/// many passes over a block of strands the first ones ask for a line each.
std::optional<Requests> requestsOf(const Stream& stream, int64_t elementBytes)
{
    const int64_t strands = stream.passes == 1 ? 1 : stream.strands;
    const int64_t most = kMostLines / (stream.passes == 1 ? stream.strands : 1);
    for (size_t level = 0; level < stream.pass.size(); ++level) {
        const int64_t bytes = stream.pass[level].step * strands * elementBytes;
        const int64_t perLine = kLineBytes * stream.passes;
        if (bytes < perLine) continue;
        const int64_t lines = (bytes + perLine - 1) / perLine;
        if (lines > most) return std::nullopt;
        return Requests{level, lines};
    }
    if (strands == 1 || stream.pass[0].step * strands * elementBytes < kLineBytes)
        return std::nullopt;
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
        if (isLoop) m_loops.push_back(&stmt->loop);
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
    std::vector<const tir::Loop*> m_loops;
    std::unordered_map<const tir::Loop*, Stmt> m_requests; ///< to begin the loop's body with

    /// Decides at the innermost loop where requests go: there or in a loop around it.
    void plan(const Stmt& body)
    {
        bool isInnermost = true;
        tir::visitStmts(body, [&](const Stmt& inner) {
            isInnermost = isInnermost && !(inner->kind == StmtKind::For &&
                                           inner->loop.kind == tir::LoopKind::Serial);
            return isInnermost;
        });
        if (!isInnermost) return;
        const auto index = vectorIndexOf(body, m_buffer);
        if (!index) return;
        Stream stream = streamOf(*index, m_loops);
        if (stream.pass.empty()) return;
        addStrands(stream, body);
        const int64_t element = m_buffer->dtype.bytes();
        int64_t ahead = stream.run * stream.strands;
        if (stream.passes == 1 || ahead * element > m_mostAhead) {
            ahead = std::min(stream.run, kAheadBytes / element);
            stream.passes = 1;
            stream.repeats.clear();
        }
        const auto requests = requestsOf(stream, element);
        if (requests)
            m_requests[stream.pass[requests->level].loop] = request(stream, *requests, ahead);
    }

    /// True when the atom has one value during a pass.
    bool isAround(const Expr& atom, const Stream& stream) const
    {
        bool found = true;
        tir::visitExprs(atom, [&](const Expr& expr) {
            if (expr->kind != ExprKind::VarRef) return true;
            const auto is = [&](const tir::Loop* loop) { return loop->var == expr->var; };
            found = found && std::any_of(m_loops.begin(), m_loops.end(), is);
            for (const PassLoop& pass : stream.pass) found = found && !is(pass.loop);
            return found;
        });
        return found;
    }

    /// Reads nobody uses: the iteration's share, counted through all passes, from `ahead` on.
    Stmt request(const Stream& stream, const Requests& requests, int64_t ahead) const
    {
        const int64_t line = kLineBytes / m_buffer->dtype.bytes();
        const int64_t unit = stream.pass[requests.level].step;
        const int64_t share = stream.passes == 1 ? unit : requests.lines * line;
        Expr at = ahead;
        for (const AffineTerm& term : stream.index.terms) {
            if (isAround(term.atom, stream)) at = at + term.atom * term.coefficient;
        }
        Expr asked = 0;
        for (size_t i = requests.level; i < stream.pass.size(); ++i)
            asked = asked + Expr(stream.pass[i].loop->var) * (stream.pass[i].step / unit * share);
        int64_t perPass = stream.run / unit * share;
        for (const PassLoop& repeat : stream.repeats) {
            asked = asked + Expr(repeat.loop->var) * perPass;
            perPass *= repeat.extent;
        }
        // When all is asked for, the last line is asked for again.
        const int64_t last = stream.run * stream.strands - line;
        const bool asksTwice = stream.strands > 1 && perPass > last + line;
        at = at + (asksTwice ? minimum(asked, Expr(last)) : asked);
        std::vector<Stmt> reads;
        for (int64_t strand = 0; strand < (stream.passes == 1 ? stream.strands : 1); ++strand)
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
