// SPDX-License-Identifier: Apache-2.0
// vision.non_max_suppression: the best boxes of each class that do not overlap better ones.
#include "compiler/ops/attr_reader.h"
#include "compiler/ops/shapes.h"
#include "compiler/ops/statements.h"

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::Stmt;

Result<Types> infer(const OpView& op)
{
    for (size_t i = 0; i < 2; ++i)
        if (const Status ok = needRank(op, i, 3); !ok) return ok.error();
    const Shape& boxes = op.operands[0].shape;
    const Shape& scores = op.operands[1].shape;
    const bool fits = boxes[2] == Dim(4) && boxes[0] == scores[0] && boxes[1] == scores[2] &&
                      op.operands[0].dtype == kFloat32 && op.operands[1].dtype == kFloat32;
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
        , m_heap(tir::makeBuffer("heap", {read[1]->shape[2]}, kInt64))
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
        for (const Cell* cell :
             {&m_count, &m_begin, &m_left, &m_best, &m_moved, &m_at, &m_child, &m_sinks, &m_keeps})
            all = cell->within(all);
        return tir::allocate(m_heap, all);
    }

private:
    Expr boxCount() const { return m_scores->shape[2]; }

    /// The candidates as a heap, from whose top they are judged until enough are kept.
    Stmt oneClass(const Expr& b, const Expr& c)
    {
        const Stmt gather = serialLoop("i", boxCount(), [&](const Expr& i) {
            return tir::ifThen(tir::load(m_scores, {b, c, i}) > m_least,
                               tir::seq({tir::store(m_heap, {m_left.get()}, i), m_left.add(1)}));
        });
        const Expr half = floorDiv(m_left.get(), Expr(2));
        const Stmt order = serialLoop("parent", half, [&](const Expr& i) {
            const Expr root = half - Expr(1) - i;
            return tir::seq({m_moved.set(tir::load(m_heap, {root})), sink(b, c, root)});
        });
        const Stmt step = tir::seq({m_best.set(tir::load(m_heap, {Expr(0)})), m_left.add(-1),
                                    m_moved.set(tir::load(m_heap, {m_left.get()})),
                                    sink(b, c, Expr(0)), judge(b)});
        const Expr isOpen = m_left.get() > Expr(0) && m_count.get() - m_begin.get() < m_most;
        return tir::seq({m_left.set(Expr(0)), gather, order, m_begin.set(m_count.get()),
                         tir::whileLoop(isOpen, tir::seq({step, keepIfAlone(b, c)}))});
    }

    /// Box `i` comes before `k`: it scores more, or as much and stands earlier.
    Expr isBefore(const Expr& b, const Expr& c, const Expr& i, const Expr& k) const
    {
        const Expr one = tir::load(m_scores, {b, c, i}), other = tir::load(m_scores, {b, c, k});
        return one > other || (equal(one, other) && i < k);
    }

    /// Puts `moved` at `root` of the heap, or as far below as better ones stand there.
    Stmt sink(const Expr& b, const Expr& c, const Expr& root)
    {
        const Expr child = m_child.get(), left = m_left.get();
        const auto heapAt = [&](const Expr& i) { return tir::load(m_heap, {i}); };
        const Expr sibling = minimum(child + Expr(1), left - Expr(1));
        const Stmt step = tir::seq(
            {m_child.set(m_at.get() * Expr(2) + Expr(1)),
             tir::ifThen(isBefore(b, c, heapAt(sibling), heapAt(child)), m_child.set(sibling)),
             tir::ifThen(
                 isBefore(b, c, heapAt(child), m_moved.get()),
                 tir::seq({tir::store(m_heap, {m_at.get()}, heapAt(child)), m_at.set(child)}),
                 m_sinks.set(Expr(0)))});
        const Expr goesOn = equal(m_sinks.get(), Expr(1)) && m_at.get() * Expr(2) + Expr(1) < left;
        return tir::seq({m_at.set(root), m_sinks.set(Expr(1)), tir::whileLoop(goesOn, step),
                         tir::store(m_heap, {m_at.get()}, m_moved.get())});
    }

    /// keeps = whether the best box overlaps none that is kept.
    Stmt judge(const Expr& b)
    {
        const Expr best = m_best.get();
        const Stmt compare = serialLoop("k", m_count.get() - m_begin.get(), [&](const Expr& k) {
            const Expr other = tir::load(m_rows, {m_begin.get() + k, Expr(2)});
            return tir::ifThen(overlaps(boxAt(b, best), boxAt(b, other)), m_keeps.set(Expr(0)));
        });
        return tir::seq({m_keeps.set(Expr(1)), compare});
    }

    Stmt keepIfAlone(const Expr& b, const Expr& c)
    {
        const Expr row = m_count.get();
        const Stmt keep =
            tir::seq({tir::store(m_rows, {row, Expr(0)}, b), tir::store(m_rows, {row, Expr(1)}, c),
                      tir::store(m_rows, {row, Expr(2)}, m_best.get()), m_count.add(1)});
        return tir::ifThen(equal(m_keeps.get(), Expr(1)), keep);
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

    bool m_isCentered;
    tir::Buffer m_boxes;
    tir::Buffer m_scores;
    Expr m_most;
    Expr m_overlap;
    Expr m_least;
    tir::Buffer m_rows;
    tir::Buffer m_heap; ///< candidates of a class, the best at the top
    Cell m_count{"count"};
    Cell m_begin{"begin"};
    Cell m_left{"left"}; ///< candidates in the heap
    Cell m_best{"best"};
    Cell m_moved{"moved"};
    Cell m_at{"at"};
    Cell m_child{"child"};
    Cell m_sinks{"sinks"};
    Cell m_keeps{"keeps"};
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
