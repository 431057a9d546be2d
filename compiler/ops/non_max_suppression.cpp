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
        , m_done(tir::makeBuffer("done", {read[1]->shape[2]}, kBool))
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
        for (const Cell* cell : {&m_count, &m_begin, &m_best, &m_score, &m_keeps})
            all = cell->within(all);
        return tir::allocate(m_done, all);
    }

private:
    Expr boxCount() const { return m_scores->shape[2]; }

    Stmt oneClass(const Expr& b, const Expr& c)
    {
        const Stmt clear = serialLoop("i", boxCount(), [&](const Expr& i) {
            return tir::store(m_done, {i}, tir::intImm(0, kBool));
        });
        const Stmt step =
            tir::seq({findBest(b, c), tir::ifThen(m_best.get() >= Expr(0), judge(b, c))});
        const Expr isOpen = m_best.get() >= Expr(0) && m_count.get() - m_begin.get() < m_most;
        return tir::seq(
            {clear, m_begin.set(m_count.get()), m_best.set(Expr(0)), tir::whileLoop(isOpen, step)});
    }

    /// best = the box of the highest score above the threshold that was not judged yet, or -1.
    Stmt findBest(const Expr& b, const Expr& c)
    {
        const Stmt each = serialLoop("i", boxCount(), [&](const Expr& i) {
            const Expr score = tir::load(m_scores, {b, c, i});
            const Expr isBetter = m_best.get() < Expr(0) || score > m_score.get();
            const Expr isOpen = !tir::load(m_done, {i}) && score > m_least && isBetter;
            return tir::ifThen(isOpen, tir::seq({m_best.set(i), m_score.set(score)}));
        });
        return tir::seq({m_best.set(Expr(-1)), m_score.set(tir::floatImm(0)), each});
    }

    Stmt judge(const Expr& b, const Expr& c)
    {
        const Expr best = m_best.get();
        const Stmt compare = serialLoop("k", m_count.get() - m_begin.get(), [&](const Expr& k) {
            const Expr other = tir::load(m_rows, {m_begin.get() + k, Expr(2)});
            return tir::ifThen(overlaps(boxAt(b, best), boxAt(b, other)), m_keeps.set(Expr(0)));
        });
        const Expr row = m_count.get();
        const Stmt keep =
            tir::seq({tir::store(m_rows, {row, Expr(0)}, b), tir::store(m_rows, {row, Expr(1)}, c),
                      tir::store(m_rows, {row, Expr(2)}, best), m_count.add(1)});
        return tir::seq({tir::store(m_done, {best}, tir::intImm(1, kBool)), m_keeps.set(Expr(1)),
                         compare, tir::ifThen(equal(m_keeps.get(), Expr(1)), keep)});
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
    tir::Buffer m_done;
    Cell m_count{"count"};
    Cell m_begin{"begin"};
    Cell m_best{"best"};
    Cell m_score{"score", kFloat32};
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
