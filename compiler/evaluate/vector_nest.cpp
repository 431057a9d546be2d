// SPDX-License-Identifier: Apache-2.0
// Rows run along the longest spatial axis; along the longest reduce axis when no spatial axis is
// long.
#include "compiler/evaluate/vector_nest.h"

#include "compiler/evaluate/vector_nest_worker.h"
#include "core/ir/tir/visit.h"
#include "core/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::StmtKind;

bool sameIndices(const std::vector<Expr>& a, const std::vector<Expr>& b)
{
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
        if (!tir::structuralEqual(a[i], b[i])) return false;
    return true;
}

/// Every load of `buffer` inside `value` must be at the stored position.
bool readsOnlyItself(const Expr& value, const tir::Buffer& buffer, const std::vector<Expr>& indices)
{
    bool fine = true;
    tir::visitExprs(value, [&](const Expr& e) {
        if (e->kind == ExprKind::Load && e->buffer == buffer)
            fine = fine && sameIndices(e->args, indices);
        return fine;
    });
    return fine;
}

/// Nests of this many steps are worth all threads.
constexpr int64_t kLargeSteps = 100000;
/// Rows that keep the threads of a usual machine busy to the end.
constexpr int64_t kLeastShares = 16;

bool isFoldable(ExprKind kind)
{
    return kind == ExprKind::Add || kind == ExprKind::Mul || kind == ExprKind::Min ||
           kind == ExprKind::Max;
}

double combined(ExprKind kind, double a, double b)
{
    switch (kind) {
    case ExprKind::Add: return a + b;
    case ExprKind::Mul: return a * b;
    case ExprKind::Min: return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b);
    default: return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b);
    }
}

/// The block under loops of constant extents that its axes are bound to one to one; nothing when
/// `root` is anything else.
tir::Stmt blockUnderLoops(const tir::Stmt& root, std::vector<NestAxis>& axes)
{
    std::unordered_map<const tir::VarNode*, int64_t> extents;
    tir::Stmt stmt = root;
    for (; stmt->kind == StmtKind::For; stmt = stmt->body) {
        if (stmt->loop.extent->kind != ExprKind::IntImm || !stmt->loop.min.isConstInt(0))
            return nullptr;
        extents[stmt->loop.var.get()] = stmt->loop.extent->integer;
    }
    if (stmt->kind != StmtKind::Block || stmt->block.predicate.get() || !stmt->block.allocs.empty())
        return nullptr;
    if (stmt->block.iters.size() != extents.size()) return nullptr;
    for (const tir::IterVar& iter : stmt->block.iters) {
        if (iter.binding->kind != ExprKind::VarRef) return nullptr;
        const auto extent = extents.find(iter.binding->var.get());
        if (extent == extents.end()) return nullptr;
        axes.push_back({iter.var.get(), extent->second, iter.kind == tir::IterKind::Reduce});
        extents.erase(extent);
    }
    return stmt;
}

/// The block is one store, of which a reduction has the init and reads no other element.
bool storesOnce(const tir::StmtNode& block, const std::vector<NestAxis>& axes)
{
    if (block.body->kind != StmtKind::Store) return false;
    const tir::StmtNode& store = *block.body;
    const bool hasReduce =
        std::any_of(axes.begin(), axes.end(), [](const NestAxis& a) { return a.isReduce; });
    if (hasReduce != static_cast<bool>(block.init)) return false;
    if (block.init && (block.init->kind != StmtKind::Store || block.init->buffer != store.buffer ||
                       !sameIndices(block.init->indices, store.indices)))
        return false;
    return readsOnlyItself(store.value, store.buffer, store.indices);
}

/// The innermost of the long axes, as neighbours in memory are usually there; past the last one
/// when there is none of the kind.
size_t longestAxis(const std::vector<NestAxis>& axes, bool isReduce)
{
    const auto rank = [&](size_t i) { return std::min<int64_t>(axes[i].extent, kRow / 4); };
    size_t best = axes.size();
    for (size_t a = 0; a < axes.size(); ++a)
        if (axes[a].isReduce == isReduce && (best == axes.size() || rank(a) >= rank(best)))
            best = a;
    return best;
}

} // namespace

std::optional<VectorNest> VectorNest::match(const tir::Stmt& root, const BufferBytes& buffers)
{
    VectorNest nest;
    const tir::Stmt block = blockUnderLoops(root, nest.m_axes);
    if (!block || !storesOnce(*block, nest.m_axes)) return std::nullopt;
    const tir::StmtNode& store = *block->body;
    const auto bytes = buffers.find(store.buffer.get());
    auto form = flatForm(store.buffer, store.indices, nest.m_axes);
    if (bytes == buffers.end() || !form) return std::nullopt;
    nest.m_buffer = store.buffer;
    nest.m_bytes = bytes->second;
    nest.m_store = std::move(*form);

    const Expr value = nest.chooseRow(store.value, buffers);
    if (nest.m_row == nest.m_axes.size()) return std::nullopt;
    for (size_t a = 0; a < nest.m_axes.size(); ++a)
        if (a != nest.m_row) (nest.m_axes[a].isReduce ? nest.m_reduce : nest.m_outer).push_back(a);
    nest.m_value = Tape::compile(value, nest.m_axes, nest.m_row, buffers,
                                 block->init ? store.buffer.get() : nullptr);
    if (block->init)
        nest.m_init = Tape::compile(block->init->value, nest.m_axes, nest.m_row, buffers, nullptr);
    if (!nest.m_value || (block->init && !nest.m_init)) return std::nullopt;
    if (nest.isPlainCopy())
        nest.chooseBox();
    else
        nest.chooseLine();
    return nest;
}

tir::Expr VectorNest::chooseRow(const tir::Expr& stored, const BufferBytes& buffers)
{
    const size_t none = m_axes.size();
    const size_t spatial = longestAxis(m_axes, false), reduce = longestAxis(m_axes, true);
    Expr value = stored;
    m_row = spatial;
    const bool isCombination = isFoldable(stored->kind) && stored->dtype.isFloat() &&
                               stored->args[0]->kind == ExprKind::Load &&
                               stored->args[0]->buffer == m_buffer;
    if (reduce != none && isCombination &&
        (spatial == none ||
         (m_axes[spatial].extent < 8 && m_axes[reduce].extent > m_axes[spatial].extent))) {
        m_row = reduce;
        m_combine = stored->kind;
        value = stored->args[1];
    }
    for (size_t a = 0; reduce != none && a < m_axes.size(); ++a) {
        if (m_axes[a].isReduce) continue;
        auto mac = MacRows::match(stored, m_buffer, m_axes, a, buffers);
        if (!mac || (m_mac && m_mac->score() > mac->score())) continue;
        m_mac = std::move(mac);
        m_row = a;
        value = stored;
    }
    return value;
}

void VectorNest::storeRow(Worker& w, const double* numbers, const int64_t* integers,
                          RowLines rows) const
{
    const int64_t stride = m_axes[m_row].isReduce ? 0 : m_store.coefficients[m_row];
    const int64_t lineStride = m_line ? m_store.coefficients[*m_line] : 0;
    const DataType dtype = m_buffer->dtype;
    const auto [bytes, start] = w.target();
    for (int64_t line = 0; line < rows.lines; ++line) {
        const int64_t first = start + line * lineStride, skipped = line * rows.count;
        if (dtype == kFloat32) {
            float* out = reinterpret_cast<float*>(bytes.data()) + first;
            const double* from = numbers + skipped;
            if (stride == 1) // apart, so that it vectorizes
                for (int64_t i = 0; i < rows.count; ++i) out[i] = static_cast<float>(from[i]);
            else
                for (int64_t i = 0; i < rows.count; ++i)
                    out[i * stride] = static_cast<float>(from[i]);
            continue;
        }
        for (int64_t i = 0; i < rows.count; ++i) {
            if (dtype.isFloat())
                storeNumber(dtype, bytes, first + i * stride, numbers[skipped + i]);
            else
                storeInteger(dtype, bytes, first + i * stride, integers[skipped + i]);
        }
    }
}

Status VectorNest::reduceRow(Worker& w, int64_t count) const
{
    // The accumulator has a register of the value tape; results move back into it after every
    // reduction step.
    const int acc = m_value->accumulatorRegister();
    if (Status done = m_init->run(w.init, w.position, {count}); !done) return done;
    if (m_mac) {
        std::copy_n(w.init.number(m_init->result()), count, w.sums.data());
        m_mac->run(w.position, count, w.sums.data());
        storeRow(w, w.sums.data(), nullptr, {count});
        return kDone;
    }
    if (acc >= 0) std::copy_n(w.init.integer(m_init->result()), count, w.value.integer(acc));
    int64_t steps = 1;
    for (const size_t a : m_reduce) steps *= m_axes[a].extent;
    for (int64_t step = 0; step < steps; ++step) {
        if (Status done = m_value->run(w.value, w.position, {count}); !done) return done;
        if (acc >= 0) std::copy_n(w.value.integer(m_value->result()), count, w.value.integer(acc));
        for (auto a = m_reduce.rbegin(); a != m_reduce.rend(); ++a) {
            if (++w.position[*a] < m_axes[*a].extent) break;
            w.position[*a] = 0;
        }
    }
    const int result = steps == 0 ? acc : m_value->result();
    storeRow(w, w.value.number(result), w.value.integer(result), {count});
    return kDone;
}

Status VectorNest::reduceAlongRow(Worker& w) const
{
    if (Status done = m_init->run(w.init, w.position, {1}); !done) return done;
    double total = w.init.number(m_init->result())[0];
    int64_t steps = 1;
    for (const size_t a : m_reduce) steps *= m_axes[a].extent;
    for (int64_t step = 0; step < steps; ++step) {
        for (int64_t first = 0; first < m_axes[m_row].extent; first += kRow) {
            const int64_t count = std::min(kRow, m_axes[m_row].extent - first);
            w.position[m_row] = first;
            if (Status done = m_value->run(w.value, w.position, {count}); !done) return done;
            const double* row = w.value.number(m_value->result());
            for (int64_t i = 0; i < count; ++i) total = combined(m_combine, total, row[i]);
        }
        for (auto a = m_reduce.rbegin(); a != m_reduce.rend(); ++a) {
            if (++w.position[*a] < m_axes[*a].extent) break;
            w.position[*a] = 0;
        }
    }
    w.position[m_row] = 0;
    storeRow(w, &total, nullptr, {1});
    return kDone;
}

Status VectorNest::runRow(Worker& w) const
{
    const int64_t end = w.end[m_row];
    for (int64_t first = w.begin[m_row]; first < end; first += kRow) {
        const int64_t count = std::min(kRow, end - first);
        w.position[m_row] = first;
        if (m_init) {
            if (Status done = reduceRow(w, count); !done) return done;
            continue;
        }
        // Rows are taken together where they are short, so that this is one turn then.
        const int64_t atOnce = kRow / count;
        const int64_t lastLine = m_line ? w.end[*m_line] : 1;
        for (int64_t line = m_line ? w.begin[*m_line] : 0; line < lastLine; line += atOnce) {
            if (m_line) w.position[*m_line] = line;
            const RowLines rows{count, std::min(atOnce, lastLine - line)};
            if (Status done = m_value->run(w.value, w.position, rows); !done) return done;
            const int result = m_value->result();
            storeRow(w, w.value.number(result), w.value.integer(result), rows);
        }
    }
    return kDone;
}

Status VectorNest::runRows(const JobContext& job, Worker& w, int64_t firstRow,
                           int64_t lastRow) const
{
    w.seekOuter(firstRow);
    for (int64_t row = firstRow; row < lastRow; ++row) {
        if (row > firstRow) w.nextOuter();
        if (row % 1024 == 0)
            if (Status go = job.checkStop(); !go) return go;
        if (!m_box.empty())
            copyAtPosition(w);
        else if (Status done = m_axes[m_row].isReduce ? reduceAlongRow(w) : runRow(w); !done)
            return done;
    }
    return kDone;
}

Status VectorNest::run(const JobContext& job) const
{
    CHECK(m_local < 0) << "a nest that was cut runs by stretches";
    for (const NestAxis& axis : m_axes)
        if (axis.extent == 0 && !axis.isReduce) return kDone;
    const int64_t rows = pointsOf(m_outer);
    const int64_t parts =
        steps() < kLargeSteps ? 1 : std::min<int64_t>(rows, int64_t{job.threads()} * 4);
    return job.parallelFor(static_cast<size_t>(parts), [&](size_t p) {
        const int64_t part = static_cast<int64_t>(p);
        Worker worker(*this);
        return runRows(job, worker, rows * part / parts, rows * (part + 1) / parts);
    });
}

int64_t VectorNest::pointsOf(const std::vector<size_t>& axes) const
{
    int64_t points = 1;
    for (const size_t a : axes) points *= m_axes[a].extent;
    return points;
}

int64_t VectorNest::steps() const
{
    int64_t steps = 1;
    for (const NestAxis& axis : m_axes) steps *= std::max<int64_t>(axis.extent, 1);
    return steps;
}

void VectorNest::chooseLine()
{
    if (m_init || m_axes[m_row].isReduce || 2 * m_axes[m_row].extent > kRow || m_outer.empty())
        return;
    const auto nearest = std::min_element(m_outer.begin(), m_outer.end(), [&](size_t a, size_t b) {
        return std::abs(m_store.coefficients[a]) < std::abs(m_store.coefficients[b]);
    });
    // Threads share what is left.
    const int64_t left = pointsOf(m_outer) / std::max<int64_t>(m_axes[*nearest].extent, 1);
    if (steps() >= kLargeSteps && left < kLeastShares) return;
    m_line = *nearest;
    m_value->layLinesAlong(*nearest);
    m_outer.erase(nearest);
}

bool VectorNest::cutsEvenly(const AxisForm& form, size_t axis, const tir::BufferNode& buffer) const
{
    const auto strides = stridesOf(buffer);
    if (!strides || strides->empty()) return false;
    const int64_t elements = strides->front() * buffer.shape.front()->integer;
    const int64_t step = form.coefficients[axis];
    int64_t low = form.constant, high = form.constant;
    for (size_t a = 0; a < m_axes.size(); ++a)
        if (a != axis)
            (form.coefficients[a] < 0 ? low : high) +=
                form.coefficients[a] * (m_axes[a].extent - 1);
    return step > 0 && step * m_axes[axis].extent == elements && low >= 0 && high < step;
}

std::optional<int64_t> VectorNest::cut(const LocalIds& locals)
{
    if (m_init || m_mac || !m_reduce.empty() || m_axes[m_row].isReduce) return std::nullopt;
    for (size_t axis = 0; axis < m_axes.size(); ++axis) {
        bool isFine = !locals.count(m_buffer.get()) || cutsEvenly(m_store, axis, *m_buffer);
        for (const TapeAccess& access : m_value->accesses())
            if (locals.count(access.buffer.get()))
                isFine =
                    isFine && access.affine && cutsEvenly(*access.affine, axis, *access.buffer);
        if (!isFine) continue;
        const auto numberOf = [&](const tir::Buffer& buffer) {
            const auto found = locals.find(buffer.get());
            return found == locals.end() ? -1 : found->second;
        };
        m_cut = axis;
        m_local = numberOf(m_buffer);
        for (TapeAccess& access : m_value->accesses()) access.local = numberOf(access.buffer);
        return m_axes[axis].extent;
    }
    return std::nullopt;
}

Status VectorNest::runStretch(const JobContext& job, int64_t begin, int64_t end,
                              std::span<const LocalBuffer> locals) const
{
    for (const NestAxis& axis : m_axes)
        if (axis.extent == 0) return kDone;
    Worker worker(*this);
    worker.value.locals = locals;
    worker.begin[m_cut] = begin;
    worker.end[m_cut] = end;
    return runRows(job, worker, 0, worker.outerCount());
}

} // namespace tenon::compiler
