// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulate over rows: convolutions and matrix products of the reference evaluator.
#include "compiler/evaluate/mac_rows.h"

#include "compiler/evaluate/scalar_math.h"
#include "core/ir/tir/sum.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;

/// acc += a * b. Unit and zero strides are what the compiler vectorizes.
void accumulate(const float* a, int64_t strideA, const float* b, int64_t strideB, int64_t count,
                double* acc)
{
    if (strideB == 0 && strideA == 1) {
        const double factor = static_cast<double>(*b);
        for (int64_t i = 0; i < count; ++i) acc[i] += static_cast<double>(a[i]) * factor;
    } else if (strideA == 1 && strideB == 1) {
        for (int64_t i = 0; i < count; ++i)
            acc[i] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    } else if (strideB == 0) {
        const double factor = static_cast<double>(*b);
        for (int64_t i = 0; i < count; ++i) acc[i] += static_cast<double>(a[i * strideA]) * factor;
    } else {
        for (int64_t i = 0; i < count; ++i)
            acc[i] += static_cast<double>(a[i * strideA]) * static_cast<double>(b[i * strideB]);
    }
}

bool isIndexArithmetic(const Expr& e)
{
    if (e->dtype != kInt64) return false;
    if (e->kind == ExprKind::IntImm || e->kind == ExprKind::VarRef) return true;
    if (e->kind < ExprKind::Add || e->kind > ExprKind::Max) return false;
    return isIndexArithmetic(e->args[0]) && isIndexArithmetic(e->args[1]);
}

int64_t indexAt(const tir::ExprNode& e, const std::vector<const tir::VarNode*>& vars,
                std::span<const int64_t> position)
{
    if (e.kind == ExprKind::IntImm) return e.integer;
    if (e.kind == ExprKind::VarRef) {
        for (size_t i = 0; i < vars.size(); ++i)
            if (vars[i] == e.var.get()) return position[i];
        CHECK(false) << e.var->name << " is no axis";
    }
    const int64_t a = indexAt(*e.args[0], vars, position);
    const int64_t b = indexAt(*e.args[1], vars, position);
    return intBinary(e.kind, kInt64, a, b).value();
}

} // namespace

std::optional<MacRows::Operand> MacRows::operand(const Expr& load,
                                                 const std::vector<NestAxis>& axes, size_t row,
                                                 const BufferBytes& buffers)
{
    if (load->kind != ExprKind::Load || load->dtype != kFloat32) return std::nullopt;
    const auto bytes = buffers.find(load->buffer.get());
    const auto strides = stridesOf(*load->buffer);
    if (bytes == buffers.end() || !strides) return std::nullopt;
    Expr flat(0);
    for (size_t d = 0; d < load->args.size(); ++d)
        flat = flat + load->args[d] * Expr((*strides)[d]);

    Operand out{reinterpret_cast<const float*>(bytes->second.data()),
                std::vector<int64_t>(axes.size(), 0),
                {}};
    tir::Sum outer = tir::asWritten(flat);
    tir::Ranges ranges;
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
        ranges[axes[i].var] = {0, axes[i].extent - 1};
        if (i != row && !axes[i].isReduce) continue;
        for (size_t t = 0; t < outer.terms.size(); ++t) {
            const tir::Term term = outer.terms[t];
            if (term.atom->kind != ExprKind::VarRef || term.atom->var.get() != axes[i].var)
                continue;
            out.coefficients[i] = term.coefficient;
            const int64_t span = term.coefficient * (axes[i].extent - 1);
            (span < 0 ? low : high) += span;
            outer.terms.erase(outer.terms.begin() + static_cast<std::ptrdiff_t>(t));
            break;
        }
        for (const tir::Term& term : outer.terms)
            if (tir::mentions(term.atom, axes[i].var)) return std::nullopt;
    }
    for (const tir::Term& term : outer.terms)
        if (!isIndexArithmetic(term.atom)) return std::nullopt;
    out.outer = toExpr(outer);
    const auto bounds = tir::boundsOf(out.outer, ranges);
    const auto size = static_cast<int64_t>(bytes->second.size() / sizeof(float));
    if (!bounds || bounds->min + low < 0 || bounds->max + high >= size) return std::nullopt;
    return out;
}

std::optional<MacRows> MacRows::match(const Expr& value, const tir::Buffer& accumulator,
                                      const std::vector<NestAxis>& axes, size_t row,
                                      const BufferBytes& buffers)
{
    if (value->kind != ExprKind::Add || value->args[0]->kind != ExprKind::Load ||
        value->args[0]->buffer != accumulator || value->args[1]->kind != ExprKind::Mul ||
        axes[row].isReduce)
        return std::nullopt;
    const Expr& product = value->args[1];
    for (const NestAxis& axis : axes)
        if (axis.extent == 0) return std::nullopt;
    for (const Expr& factor : product->args)
        if (factor->kind == ExprKind::Load && factor->buffer == accumulator) return std::nullopt;
    auto a = operand(product->args[0], axes, row, buffers);
    auto b = operand(product->args[1], axes, row, buffers);
    if (!a || !b) return std::nullopt;
    MacRows out;
    // The operand that stays the same along the row goes second.
    if (a->coefficients[row] == 0) std::swap(a, b);
    out.m_a = *std::move(a);
    out.m_b = *std::move(b);
    out.m_row = row;
    const auto isPlain = [&](const Operand& o) {
        return o.coefficients[row] == 0 || o.coefficients[row] == 1;
    };
    const int64_t length = std::min<int64_t>(axes[row].extent, kRow / 4);
    out.m_score = length * (isPlain(out.m_a) && isPlain(out.m_b) ? 3 : 1);
    for (size_t i = 0; i < axes.size(); ++i) {
        out.m_vars.push_back(axes[i].var);
        if (axes[i].isReduce)
            out.m_steps.push_back(
                {axes[i].extent, out.m_a.coefficients[i], out.m_b.coefficients[i]});
    }
    return out;
}

const float* MacRows::start(const Operand& operand, std::span<const int64_t> position) const
{
    return operand.data + indexAt(*operand.outer, m_vars, position) +
           operand.coefficients[m_row] * position[m_row];
}

void MacRows::run(std::span<const int64_t> position, int64_t count, double* acc) const
{
    const float* a = start(m_a, position);
    const float* b = start(m_b, position);
    const int64_t strideA = m_a.coefficients[m_row], strideB = m_b.coefficients[m_row];
    std::vector<int64_t> at(m_steps.size(), 0);
    while (true) {
        accumulate(a, strideA, b, strideB, count, acc);
        size_t axis = m_steps.size();
        while (axis > 0) {
            const Step& step = m_steps[axis - 1];
            if (++at[axis - 1] < step.extent) {
                a += step.a;
                b += step.b;
                break;
            }
            at[axis - 1] = 0;
            a -= step.a * (step.extent - 1);
            b -= step.b * (step.extent - 1);
            --axis;
        }
        if (axis == 0) return;
    }
}

} // namespace tenon::compiler
