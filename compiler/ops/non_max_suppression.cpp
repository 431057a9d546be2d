// SPDX-License-Identifier: Apache-2.0
// vision.non_max_suppression: the best boxes of each class that do not overlap better ones.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/heap.h"
#include "compiler/ops/shapes.h"
#include "compiler/ops/statements.h"

#include <array>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::Stmt;

/// Sizes that only the run knows are compared by it.
bool mayBeEqual(const Dim& a, const Dim& b) { return a == b || !a.isConst() || !b.isConst(); }

Result<Types> infer(const OpView& op)
{
    for (size_t i = 0; i < 2; ++i)
        if (const Status ok = needRank(op, i, 3); !ok) return ok.error();
    const Shape& boxes = op.operands[0].shape;
    const Shape& scores = op.operands[1].shape;
    const bool fits = boxes[2] == Dim(4) && mayBeEqual(boxes[0], scores[0]) &&
                      mayBeEqual(boxes[1], scores[2]) && op.operands[0].dtype == kFloat32 &&
                      op.operands[1].dtype == kFloat32;
    if (!fits)
        return opError(op, DiagnosticCode::ShapeMismatch,
                       "boxes " + op.operands[0].text() + " do not fit scores " +
                           op.operands[1].text());
    return Types{{kInt64, {scores[0] * scores[1] * scores[2], Dim(3)}}, {kInt64, {Dim(1)}}};
}

struct Box
{
    Expr top, left, bottom, right;
};

class Suppression
{
public:
    Suppression(const OpView& op, const std::vector<tir::Buffer>& read,
                const std::vector<tir::Buffer>& written)
        : m_isCentered(flagAttr(op, "center_point_box"))
        , m_boxes(read[0])
        , m_scores(read[1])
        , m_most(tir::load(read[2], {Expr(0)}))
        , m_overlap(tir::load(read[3], {Expr(0)}))
        , m_least(tir::load(read[4], {Expr(0)}))
        , m_rows(written[0])
        , m_candidates(tir::makeBuffer("candidate_scores", {boxCount()}, kFloat32),
                       tir::makeBuffer("candidates", {boxCount()}, kInt64))
        , m_heap(
              {m_candidates.scores, m_candidates.boxes},
              [](const Expr& slot) { return std::vector<Expr>{slot}; }, Heap::isHighest)
        , m_kept(tir::makeBuffer("kept_boxes", {Expr(4), boxCount()}, kFloat32))
    {
    }

    Stmt run(const tir::Buffer& number)
    {
        const Stmt classes = serialLoop("batch", m_scores->shape[0], [&](const Expr& b) {
            return serialLoop("class", m_scores->shape[1],
                              [&](const Expr& c) { return oneClass(b, c); });
        });
        Stmt all = tir::seq({m_count.set(Expr(0)), classes, clearBehind(m_rows, m_count.get()),
                             tir::store(number, {Expr(0)}, m_count.get())});
        for (const Cell* cell : {&m_count, &m_here, &m_left, &m_best, &m_looked, &m_isCovered})
            all = cell->within(all);
        for (const Cell& side : m_sides) all = side.within(all);
        all = tir::allocate(m_kept, m_heap.within(all));
        return tir::allocate(m_candidates.scores, tir::allocate(m_candidates.boxes, all));
    }

private:
    Expr boxCount() const { return m_scores->shape[2]; }

    /// The candidates as a heap, from whose top they are judged until enough are kept.
    Stmt oneClass(const Expr& b, const Expr& c)
    {
        // Every box is written, and stays where it is a candidate.
        const Stmt gather = serialLoop("i", boxCount(), [&](const Expr& i) {
            const Expr score = tir::load(m_scores, {b, c, i});
            return tir::seq(
                {m_heap.put(m_left.get(), {score, i}),
                 m_left.set(m_left.get() + tir::select(score > m_least, Expr(1), Expr(0)))});
        });
        const Stmt step =
            tir::seq({m_best.set(m_heap.at(Expr(0))[1]), m_left.add(-1),
                      tir::ifThen(m_left.get() > Expr(0),
                                  m_heap.sink(Expr(0), m_heap.at(m_left.get()), m_left.get())),
                      judge(b), keepIfAlone(b, c)});
        const Expr isOpen = m_left.get() > Expr(0) && m_here.get() < m_most;
        return tir::seq({m_left.set(Expr(0)), gather, m_heap.order(m_left.get()),
                         m_here.set(Expr(0)), tir::whileLoop(isOpen, step)});
    }

    /// isCovered = whether the best box overlaps one that is kept. They are looked at by vectors,
    /// as long as none is found.
    Stmt judge(const Expr& b)
    {
        constexpr int64_t kTogether = 64;
        const Expr from = m_looked.get(), rest = m_here.get() - from;
        std::vector<Stmt> steps;
        const Box box = boxAt(b, m_best.get());
        const std::array<Expr, 4> sides{box.top, box.left, box.bottom, box.right};
        for (size_t i = 0; i < 4; ++i) steps.push_back(m_sides[i].set(sides[i]));
        const Box best{m_sides[0].get(), m_sides[1].get(), m_sides[2].get(), m_sides[3].get()};
        const Stmt compare = serialLoop("k", minimum(rest, Expr(kTogether)), [&](const Expr& k) {
            return m_isCovered.set(maximum(
                m_isCovered.get(), tir::select(overlaps(best, keptAt(from + k)),
                                               tir::intImm(1, kInt32), tir::intImm(0, kInt32))));
        });
        steps.push_back(m_isCovered.set(tir::intImm(0, kInt32)));
        steps.push_back(m_looked.set(Expr(0)));
        steps.push_back(tir::whileLoop(rest > Expr(0) && m_isCovered.get() < tir::intImm(1, kInt32),
                                       tir::seq({compare, m_looked.add(kTogether)})));
        return tir::seq(steps);
    }

    Stmt keepIfAlone(const Expr& b, const Expr& c)
    {
        const Expr row = m_count.get();
        std::vector<Stmt> keep{tir::store(m_rows, {row, Expr(0)}, b),
                               tir::store(m_rows, {row, Expr(1)}, c),
                               tir::store(m_rows, {row, Expr(2)}, m_best.get()), m_count.add(1)};
        for (size_t i = 0; i < 4; ++i)
            keep.push_back(tir::store(m_kept, {Expr(static_cast<int64_t>(i)), m_here.get()},
                                      m_sides[i].get()));
        keep.push_back(m_here.add(1));
        return tir::ifThen(m_isCovered.get() < tir::intImm(1, kInt32), tir::seq(keep));
    }

    Box keptAt(const Expr& k) const
    {
        const auto side = [&](int64_t i) { return tir::load(m_kept, {Expr(i), k}); };
        return {side(0), side(1), side(2), side(3)};
    }

    Box boxAt(const Expr& b, const Expr& i) const
    {
        const auto at = [&](int64_t k) { return tir::load(m_boxes, {b, i, Expr(k)}); };
        if (!m_isCentered)
            return {minimum(at(0), at(2)), minimum(at(1), at(3)), maximum(at(0), at(2)),
                    maximum(at(1), at(3))};
        const Expr half = tir::floatImm(0.5);
        return {at(1) - at(3) * half, at(0) - at(2) * half, at(1) + at(3) * half,
                at(0) + at(2) * half};
    }

    /// Intersection over union above the threshold.
    Expr overlaps(const Box& a, const Box& b) const
    {
        const Expr zero = tir::floatImm(0);
        const auto length = [&](const Expr& from, const Expr& to) {
            return maximum(to - from, zero);
        };
        const auto area = [&](const Box& box) {
            return length(box.top, box.bottom) * length(box.left, box.right);
        };
        const Expr shared = length(maximum(a.top, b.top), minimum(a.bottom, b.bottom)) *
                            length(maximum(a.left, b.left), minimum(a.right, b.right));
        const Expr all = area(a) + area(b) - shared;
        return all > zero && shared / all > m_overlap;
    }

    struct Candidates
    {
        tir::Buffer scores, boxes;
    };

    bool m_isCentered;
    tir::Buffer m_boxes;
    tir::Buffer m_scores;
    Expr m_most;
    Expr m_overlap;
    Expr m_least;
    tir::Buffer m_rows;
    Candidates m_candidates; ///< of a class
    Heap m_heap;             ///< of them, the best at the top
    tir::Buffer m_kept;      ///< four sides of each box that is kept of a class, side by side
    std::array<Cell, 4> m_sides{Cell("top", kFloat32), Cell("left", kFloat32),
                                Cell("bottom", kFloat32), Cell("right", kFloat32)}; ///< of the best
    Cell m_count{"count"};
    Cell m_here{"here"}; ///< kept boxes of this class
    Cell m_left{"open"}; ///< candidates in the heap
    Cell m_best{"best"};
    Cell m_looked{"looked"}; ///< kept boxes that the best was compared with
    Cell m_isCovered{"covered", kInt32};
};

Result<te::Tensors> lower(const OpView& op, const te::Tensors& in)
{
    return te::external(
        "non_max_suppression", in, {{extents(op.results[0].shape), kInt64}, {{Expr(1)}, kInt64}},
        [&](const std::vector<tir::Buffer>& read, const std::vector<tir::Buffer>& written) {
            return Suppression(op, read, written).run(written[1]);
        });
}

constexpr OperandSpec kOperands[] = {
    {"boxes", "(batch, box, 4): two corners (y, x, y, x), or center and size (x, y, w, h)"},
    {"scores", "(batch, class, box)"},
    {"most", "one int64: most boxes of a class"},
    {"overlap", "one float32: intersection over union above which the worse box goes"},
    {"least", "one float32: boxes must score more"}};
constexpr AttrSpec kAttrs[] = {{"center_point_box", "int", "1: boxes are center and size", "0"}};

} // namespace

extern constinit const OpDef nonMaxSuppressionOp = {
    .name = "vision.non_max_suppression",
    .doc = "rows (batch, class, box) of the boxes that stay, best first in each class, and their "
           "number; rows behind that number are 0",
    .family = Family::Movement,
    .operands = kOperands,
    .attrs = kAttrs,
    .accuracy = Accuracy::Exact,
    .pattern = Pattern::Opaque,
    .takesSymbols = true,
    .infer = infer,
    .lower = lower,
    .example = "%b: Tensor[(1, 6, 4), float32], %s: Tensor[(1, 2, 6), float32], "
               "%n: Tensor[(1,), int64], %o: Tensor[(1,), float32], %t: Tensor[(1,), float32] => "
               "vision.non_max_suppression(%b, %s, %n, %o, %t)",
};

} // namespace tenon::compiler
