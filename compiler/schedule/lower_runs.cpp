// SPDX-License-Identifier: Apache-2.0
// Lowering step: long sums in registers are added up run by run. One number that takes n terms one
// after the other is off by about the root of n roundings; runs of r terms and their total by the
// root of r + n / r of them.
#include "compiler/schedule/affine.h"
#include "compiler/schedule/lower.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <algorithm>
#include <optional>
#include <set>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::Stmt;
using tir::StmtKind;

/// Terms of a run. What it costs, to begin with zeros and to be added, is 1 % of that.
constexpr int64_t kRun = 144;
/// Sums of more terms are added up in runs. Two of them leave little less of rounding; where
/// weights come from memory they cost more than that (256 to 512 channels at 7 x 7: 1.2 of the
/// time).
constexpr int64_t kLongestSum = 256, kLongestStreamed = 2 * kRun;

int64_t longestSum(const tir::PrimFunc& function)
{
    return function.attrs.string("stream", "").empty() ? kLongestSum : kLongestStreamed;
}

using Held = std::set<const tir::BufferNode*>;

/// What lies in registers: tiles, and the strands of a sum, which are as small.
Held heldBuffers(const Stmt& body)
{
    constexpr int64_t kMostBytes = 1024;
    Held held;
    tir::visitStmts(body, [&](const Stmt& stmt) {
        if (stmt->kind != StmtKind::Allocate) return true;
        int64_t bytes = stmt->buffer->dtype.bytes();
        for (const Expr& extent : stmt->buffer->shape)
            bytes *= extent->kind == ExprKind::IntImm ? extent->integer : kMostBytes + 1;
        if (stmt->buffer->scope == tir::Scope::Register || bytes <= kMostBytes)
            held.insert(stmt->buffer.get());
        return true;
    });
    return held;
}

/// A store `sum[index] = sum[index] + ...` and the loops around it, from outside to inside.
struct Step
{
    Stmt store;
    std::vector<Stmt> spatial; ///< those that choose the element
    int64_t terms = 1;         ///< of one element
};

/// What a loop's body does when it only adds to elements of one register buffer.
struct Sums
{
    tir::Buffer buffer;
    std::vector<Step> steps;

    int64_t terms() const
    {
        int64_t most = 0;
        for (const Step& step : steps) most = std::max(most, step.terms);
        return most;
    }
};

int64_t loadsOf(const Expr& expr, const tir::Buffer& buffer)
{
    int64_t count = 0;
    tir::visitExprs(expr, [&](const Expr& part) {
        count += part->kind == ExprKind::Load && part->buffer == buffer ? 1 : 0;
        return true;
    });
    return count;
}

/// The old value plus something that does not depend on it.
bool isAddition(const Expr& value, const tir::StmtNode& store)
{
    if (value->kind == ExprKind::Load)
        return value->buffer == store.buffer &&
               tir::structuralEqual(value->args[0], store.indices[0]);
    if (value->kind == ExprKind::Intrinsic && value->intrinsic == tir::Intrinsic::Fma)
        return isAddition(value->args[2], store);
    if (value->kind != ExprKind::Add) return false;
    return isAddition(value->args[0], store) || isAddition(value->args[1], store);
}

/// Collects the additions of a body; false when it does anything else.
class Collector
{
public:
    Collector(Sums& sums, const Held& held)
        : m_sums(sums)
        , m_held(held)
    {
    }

    bool collect(const Stmt& stmt)
    {
        switch (stmt->kind) {
        case StmtKind::Seq:
            return std::all_of(stmt->stmts.begin(), stmt->stmts.end(),
                               [&](const Stmt& child) { return collect(child); });
        case StmtKind::For: return collectLoop(stmt);
        case StmtKind::If: return collect(stmt->body) && (!stmt->orElse || collect(stmt->orElse));
        case StmtKind::Evaluate: return true; // requests for weights
        case StmtKind::Store: return collectStore(stmt);
        default: return false;
        }
    }

private:
    bool collectLoop(const Stmt& stmt)
    {
        const tir::Loop& loop = stmt->loop;
        const bool isPlain =
            loop.kind == tir::LoopKind::Serial || loop.kind == tir::LoopKind::Unrolled;
        if (!isPlain || loop.extent->kind != ExprKind::IntImm) return false;
        m_loops.push_back(stmt);
        const bool isCollected = collect(stmt->body);
        m_loops.pop_back();
        return isCollected;
    }

    bool collectStore(const Stmt& stmt)
    {
        const tir::Buffer& buffer = stmt->buffer;
        if (m_sums.buffer && m_sums.buffer != buffer) return false;
        m_sums.buffer = buffer;
        if (!m_held.contains(buffer.get()) || !buffer->dtype.isFloat() ||
            stmt->indices.size() != 1 || loadsOf(stmt->value, buffer) != 1 ||
            !isAddition(stmt->value, *stmt))
            return false;
        Step step{.store = stmt};
        for (const Stmt& loop : m_loops) {
            if (usesVar(stmt->indices[0], loop->loop.var.get()))
                step.spatial.push_back(loop);
            else
                step.terms *= loop->loop.extent->integer;
        }
        m_sums.steps.push_back(std::move(step));
        return true;
    }

    Sums& m_sums;
    const Held& m_held;
    std::vector<Stmt> m_loops;
};

/// Adds the elements that the step's store reaches; false when one was there already or they
/// depend on loops further out.
bool addElements(const Step& step, std::set<int64_t>& elements)
{
    const Expr& index = step.store->indices[0];
    const bool isVector = index->kind == ExprKind::Ramp;
    if (isVector && !index->args[1].isConstInt(1)) return false;
    const auto form = tir::linearForm(isVector ? index->args[0] : index);
    if (!form) return false;
    size_t known = 0;
    std::vector<int64_t> starts{form->constant};
    for (const Stmt& loop : step.spatial) {
        const auto coefficient = form->coefficients.find(loop->loop.var.get());
        if (coefficient == form->coefficients.end() || !loop->loop.min.isConstInt(0)) return false;
        ++known;
        std::vector<int64_t> next;
        for (const int64_t start : starts)
            for (int64_t i = 0; i < loop->loop.extent->integer; ++i)
                next.push_back(start + i * coefficient->second);
        starts = std::move(next);
    }
    if (known != form->coefficients.size()) return false;
    for (const int64_t start : starts)
        for (int64_t lane = 0; lane < index->dtype.lanes; ++lane)
            if (!elements.insert(start + lane).second) return false;
    return true;
}

/// The sums of a loop that is around nothing but their terms.
std::optional<Sums> sumsOf(const Stmt& loop, const Held& held)
{
    Sums sums;
    if (!Collector(sums, held).collect(loop->body) || sums.steps.empty()) return std::nullopt;
    std::set<int64_t> elements;
    for (const Step& step : sums.steps)
        if (usesVar(step.store->indices[0], loop->loop.var.get()) || !addElements(step, elements))
            return std::nullopt;
    return sums;
}

/// A statement for every element, in the vectors that the steps use.
template <typename Make>
Stmt forEachElement(const Sums& sums, const Make& make)
{
    std::vector<Stmt> out;
    for (const Step& step : sums.steps) {
        tir::VarMap renamed;
        std::vector<tir::Loop> loops;
        for (const Stmt& loop : step.spatial) {
            loops.push_back(loop->loop);
            loops.back().var = tir::makeVar(loop->loop.var->name);
            renamed[loop->loop.var.get()] = Expr(loops.back().var);
        }
        Stmt each = make(tir::substitute(step.store->indices[0], renamed));
        for (size_t i = loops.size(); i-- > 0;) each = tir::forLoop(loops[i], each);
        out.push_back(each);
    }
    return tir::seq(std::move(out));
}

/// Iterations of a run: as many as there is room for, evenly where the loop divides well. Two runs
/// of several iterations each would be unrolled, and want twice the registers.
int64_t iterationsOf(int64_t extent, int64_t terms)
{
    const int64_t most = std::max<int64_t>(1, kRun / terms);
    for (int64_t count = std::min(most, extent); 2 * count > most; --count)
        if (extent % count == 0 && (extent != 2 * count || count == 1)) return count;
    return extent <= 2 * most && most > 1 ? (extent + 2) / 3 : most;
}

/// Where the totals of earlier runs lie. In memory, and never twice in a row at one place: there
/// they would move to registers, of which the tile of sums leaves none.
class Totals
{
public:
    explicit Totals(const Sums& sums)
        : m_sums(sums)
        , m_buffer(tir::makeBuffer(sums.buffer->name + "_total", {sums.buffer->shape[0] * kRows},
                                   sums.buffer->dtype, tir::Scope::Local))
    {
    }

    const tir::Buffer& buffer() const { return m_buffer; }
    /// The sums are the total that `run` leaves.
    Stmt leave(const Expr& run) const
    {
        return forEachElement(m_sums, [&](const Expr& at) {
            return tir::store(m_buffer, {place(at, run)}, sum(at));
        });
    }
    Stmt beginAnew() const
    {
        return forEachElement(m_sums, [&](const Expr& at) {
            return tir::store(m_sums.buffer, {at}, zero(at->dtype.lanes));
        });
    }
    /// The total that `run` left, and the sums.
    Stmt add(const Expr& run) const
    {
        return forEachElement(m_sums, [&](const Expr& at) {
            return tir::store(m_sums.buffer, {at}, sum(at) + tir::load(m_buffer, {place(at, run)}));
        });
    }

private:
    static constexpr int64_t kRows = 4;

    Expr zero(int lanes) const
    {
        const Expr one = tir::zeroOf(m_buffer->dtype);
        return lanes == 1 ? one : tir::broadcast(one, lanes);
    }
    Expr sum(const Expr& at) const { return tir::load(m_sums.buffer, {at}); }
    Expr place(const Expr& at, const Expr& run) const
    {
        const Expr row = floorMod(run, kRows) * m_sums.buffer->shape[0];
        if (at->kind != ExprKind::Ramp) return at + row;
        return tir::ramp(at->args[0] + row, at->args[1], at->dtype.lanes);
    }

    const Sums& m_sums;
    tir::Buffer m_buffer;
};

Stmt inRuns(const Stmt& stmt, const Sums& sums)
{
    const tir::Loop& loop = stmt->loop;
    const int64_t extent = loop.extent->integer, count = iterationsOf(extent, sums.terms());
    const int64_t runs = (extent + count - 1) / count;
    const tir::Var var = tir::makeVar(loop.var->name + "_run");
    const Expr run(var), first = run * count;
    tir::Loop inside = loop;
    inside.var = tir::makeVar(loop.var->name);
    inside.min = 0;
    inside.extent = extent % count == 0 ? Expr(count) : minimum(Expr(count), Expr(extent) - first);
    const Stmt terms =
        tir::substitute(stmt->body, {{loop.var.get(), loop.min + first + Expr(inside.var)}});
    const Totals totals(sums);
    // The total of one run of two would have one place.
    const Expr isFollowed = run < Expr(runs - 1);
    const Stmt leave = totals.leave(run), begin = totals.beginAnew();
    const Stmt next = runs == 2 ? tir::seq({leave, tir::ifThen(isFollowed, begin)})
                                : tir::ifThen(isFollowed, tir::seq({leave, begin}));
    const Stmt body = tir::seq(
        {tir::forLoop(inside, terms), tir::ifThen(Expr(0) < run, totals.add(run - Expr(1))), next});
    return tir::allocate(totals.buffer(), tir::forLoop({.var = var, .extent = runs}, body));
}

class Rewriter
{
public:
    Rewriter(int64_t longest, Held held)
        : m_longest(longest)
        , m_held(std::move(held))
    {
    }

    Stmt visit(const Stmt& stmt) const
    {
        const bool isLoop = stmt->kind == StmtKind::For &&
                            stmt->loop.kind == tir::LoopKind::Serial &&
                            stmt->loop.extent->kind == ExprKind::IntImm;
        const auto sums = isLoop ? sumsOf(stmt, m_held) : std::nullopt;
        if (!sums) return visitChildren(stmt);
        if (stmt->loop.extent->integer * sums->terms() <= m_longest) return stmt;
        if (sums->terms() > kRun)
            if (Stmt inside = visitChildren(stmt); inside != stmt) return inside;
        return inRuns(stmt, *sums);
    }

private:
    Stmt visitChildren(const Stmt& stmt) const
    {
        tir::StmtNode copy = *stmt;
        for (Stmt& child : copy.stmts) child = visit(child);
        if (copy.body) copy.body = visit(copy.body);
        if (copy.orElse) copy.orElse = visit(copy.orElse);
        if (copy.body == stmt->body && copy.orElse == stmt->orElse && copy.stmts == stmt->stmts)
            return stmt;
        return std::make_shared<const tir::StmtNode>(std::move(copy));
    }

    int64_t m_longest;
    Held m_held;
};

} // namespace

tir::PrimFunc addInRuns(tir::PrimFunc function)
{
    const Rewriter rewriter(longestSum(function), heldBuffers(function.body));
    function.body = tir::simplify(rewriter.visit(function.body));
    return function;
}

} // namespace tenon::compiler
