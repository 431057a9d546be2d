// SPDX-License-Identifier: Apache-2.0
// Running a tape: one loop over the row per step, written so that the compiler vectorizes it.
#include "compiler/evaluate/scalar_math.h"
#include "compiler/evaluate/tape.h"
#include "core/tensor/tensor.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

using tir::ExprKind;
using tir::Intrinsic;

/// By -1 the lowest number wraps, where the processor would trap.
int64_t floorDivide(int64_t a, int64_t b)
{
    if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
    const int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

// A NaN operand gives NaN: the comparison with a NaN b is false and takes b. Written with `|` so
// that the loops over it vectorize.
double nanMin(double a, double b) { return bool((a < b) | (a != a)) ? a : b; }
double nanMax(double a, double b) { return bool((a > b) | (a != a)) ? a : b; }

template <class In, class Out, class F>
void rows(const In* a, const In* b, Out* out, int64_t n, F f)
{
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
}

void numberBinary(ExprKind kind, Registers& r, int a, int b, int out, int64_t n)
{
    const double* x = r.number(a);
    const double* y = r.number(b);
    double* z = r.number(out);
    int64_t* flag = r.integer(out);
    switch (kind) {
    case ExprKind::Add: return rows(x, y, z, n, [](double p, double q) { return p + q; });
    case ExprKind::Sub: return rows(x, y, z, n, [](double p, double q) { return p - q; });
    case ExprKind::Mul: return rows(x, y, z, n, [](double p, double q) { return p * q; });
    case ExprKind::Div: return rows(x, y, z, n, [](double p, double q) { return p / q; });
    case ExprKind::Mod: return rows(x, y, z, n, [](double p, double q) { return std::fmod(p, q); });
    case ExprKind::Min: return rows(x, y, z, n, [](double p, double q) { return nanMin(p, q); });
    case ExprKind::Max: return rows(x, y, z, n, [](double p, double q) { return nanMax(p, q); });
    case ExprKind::Equal:
        return rows(x, y, flag, n, [](double p, double q) { return int64_t{p == q}; });
    case ExprKind::NotEqual:
        return rows(x, y, flag, n, [](double p, double q) { return int64_t{p != q}; });
    case ExprKind::Less:
        return rows(x, y, flag, n, [](double p, double q) { return int64_t{p < q}; });
    case ExprKind::LessEqual:
        return rows(x, y, flag, n, [](double p, double q) { return int64_t{p <= q}; });
    case ExprKind::Greater:
        return rows(x, y, flag, n, [](double p, double q) { return int64_t{p > q}; });
    case ExprKind::GreaterEqual:
        return rows(x, y, flag, n, [](double p, double q) { return int64_t{p >= q}; });
    default: CHECK(false) << "float operation " << static_cast<int>(kind);
    }
}

void integerBinary(ExprKind kind, DataType dtype, DataType from, Registers& r, int a, int b,
                   int out, int64_t n)
{
    const int64_t* x = r.integer(a);
    const int64_t* y = r.integer(b);
    int64_t* z = r.integer(out);
    const bool isUnsigned64 = from.kind == DtypeKind::UInt && from.bits == 64;
    const auto less = [&](int64_t p, int64_t q) {
        return isUnsigned64 ? static_cast<uint64_t>(p) < static_cast<uint64_t>(q) : p < q;
    };
    const auto divide = [&](int64_t p, int64_t q, bool remainder) -> int64_t {
        if (q == 0) return 0; // undefined; a masked lane may carry it
        if (isUnsigned64) {
            const uint64_t u = static_cast<uint64_t>(p), v = static_cast<uint64_t>(q);
            return static_cast<int64_t>(remainder ? u % v : u / v);
        }
        if (q == -1) return remainder ? 0 : static_cast<int64_t>(0 - static_cast<uint64_t>(p));
        return remainder ? p % q : p / q;
    };
    const auto wrap = [&](uint64_t v) { return wrapped(dtype, static_cast<int64_t>(v)); };
    const auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
    for (int64_t i = 0; i < n; ++i) {
        const int64_t p = x[i], q = y[i];
        switch (kind) {
        case ExprKind::Add: z[i] = wrap(u(p) + u(q)); break;
        case ExprKind::Sub: z[i] = wrap(u(p) - u(q)); break;
        case ExprKind::Mul: z[i] = wrap(u(p) * u(q)); break;
        case ExprKind::Div: z[i] = wrap(u(divide(p, q, false))); break;
        case ExprKind::Mod: z[i] = wrap(u(divide(p, q, true))); break;
        case ExprKind::FloorDiv:
            z[i] = q == 0 ? 0 : isUnsigned64 ? divide(p, q, false) : wrap(u(floorDivide(p, q)));
            break;
        case ExprKind::FloorMod:
            z[i] = q == 0         ? 0
                   : isUnsigned64 ? divide(p, q, true)
                                  : wrap(u(p) - u(q) * u(floorDivide(p, q)));
            break;
        case ExprKind::Min: z[i] = less(p, q) ? p : q; break;
        case ExprKind::Max: z[i] = less(p, q) ? q : p; break;
        case ExprKind::Equal: z[i] = p == q; break;
        case ExprKind::NotEqual: z[i] = p != q; break;
        case ExprKind::Less: z[i] = less(p, q); break;
        case ExprKind::LessEqual: z[i] = !less(q, p); break;
        case ExprKind::Greater: z[i] = less(q, p); break;
        case ExprKind::GreaterEqual: z[i] = !less(p, q); break;
        case ExprKind::And: z[i] = p && q; break;
        case ExprKind::Or: z[i] = p || q; break;
        default: CHECK(false) << "integer operation " << static_cast<int>(kind);
        }
    }
}

double asDouble(DataType from, int64_t value)
{
    return from == kUInt64 ? static_cast<double>(static_cast<uint64_t>(value))
                           : static_cast<double>(value);
}

template <class T, class Out>
void loadRow(const std::byte* base, int64_t first, int64_t stride, int64_t n, Out* out)
{
    const T* from = reinterpret_cast<const T*>(base) + first;
    if (stride == 1) // apart, so that it vectorizes
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(from[i]);
    else
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Out>(from[i * stride]);
}

/// One element of any dtype, for masked or computed positions.
void loadOne(DataType dtype, std::span<const std::byte> from, int64_t index, Registers& r, int out,
             int64_t i)
{
    const int64_t bytes = dtype.bytes();
    const Tensor element(
        dtype, {}, std::shared_ptr<const void>(std::shared_ptr<const void>(), from.data()),
        from.subspan(static_cast<size_t>(index * bytes), static_cast<size_t>(bytes)));
    if (dtype.isFloat())
        r.number(out)[i] = element.number(0);
    else
        r.integer(out)[i] = element.integer(0);
}

/// Elements of one row, that far apart.
struct Stretch
{
    int64_t stride;
    int64_t count;
};

/// Where in a register values go.
struct Place
{
    int out;
    int64_t at;
};

/// `first` counts from the start of the whole buffer.
void loadStrided(const TapeAccess& access, int64_t first, Stretch row, Registers& r, Place to)
{
    const DataType dtype = access.buffer->dtype;
    std::span<const std::byte> from = access.bytes;
    if (access.local >= 0) {
        const LocalBuffer& local = r.locals[static_cast<size_t>(access.local)];
        from = local.bytes;
        first -= local.skipped;
    }
    const std::byte* base = from.data();
    const auto [stride, n] = row;
    double* numbers = r.number(to.out) + to.at;
    int64_t* integers = r.integer(to.out) + to.at;
    if (dtype == kFloat32) return loadRow<float>(base, first, stride, n, numbers);
    if (dtype == kFloat64) return loadRow<double>(base, first, stride, n, numbers);
    if (dtype == kInt64) return loadRow<int64_t>(base, first, stride, n, integers);
    if (dtype == kInt32) return loadRow<int32_t>(base, first, stride, n, integers);
    if (dtype == kInt8) return loadRow<int8_t>(base, first, stride, n, integers);
    if (dtype == kUInt8) return loadRow<uint8_t>(base, first, stride, n, integers);
    for (int64_t i = 0; i < n; ++i) loadOne(dtype, from, first + i * stride, r, to.out, to.at + i);
}

Diagnostic outside(const TapeAccess& access, int64_t index)
{
    return makeError(DiagnosticCode::InvalidIr, "element " + std::to_string(index) +
                                                    " of buffer `" + access.buffer->name +
                                                    "` is out of bounds");
}

} // namespace

Status Tape::load(const Step& step, Registers& r, std::span<const int64_t> position,
                  RowLines rows) const
{
    const TapeAccess& access = m_accesses[static_cast<size_t>(step.access)];
    const int64_t size = static_cast<int64_t>(access.bytes.size()) / access.buffer->dtype.bytes();
    const auto isInside = [&](int64_t index) { return index >= 0 && index < size; };
    const int64_t first = access.affine ? access.affine->at(position) : 0;
    const int64_t stride = access.affine ? access.affine->coefficients[m_row] : 0;
    const int64_t lineStride = access.affine ? access.affine->coefficients[m_line] : 0;
    const int64_t along = stride * (rows.count - 1), across = lineStride * (rows.lines - 1);
    const auto [low, high] = std::minmax({int64_t{0}, along, across, along + across});
    if (access.affine && isInside(first + low) && isInside(first + high)) {
        for (int64_t line = 0; line < rows.lines; ++line)
            loadStrided(access, first + line * lineStride, {stride, rows.count}, r,
                        {step.out, line * rows.count});
        return kDone;
    }
    const int64_t* index = access.affine ? nullptr : r.integer(access.indexRegister);
    const int64_t* mask = step.mask < 0 ? nullptr : r.integer(step.mask);
    for (int64_t i = 0; i < rows.values(); ++i) {
        const int64_t at =
            index ? index[i] : first + stride * (i % rows.count) + lineStride * (i / rows.count);
        if (mask && !mask[i]) {
            r.integer(step.out)[i] = 0;
            continue;
        }
        if (!isInside(at)) return outside(access, at);
        loadOne(access.buffer->dtype, access.bytes, at, r, step.out, i);
    }
    return kDone;
}

void Tape::intrinsic(const Step& step, Registers& r, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        double numbers[3] = {0, 0, 0};
        int64_t integers[3] = {0, 0, 0};
        const int from[3] = {step.a, step.b, step.c};
        for (size_t k = 0; k < 3; ++k) {
            if (from[k] < 0) continue;
            if (step.from.isFloat())
                numbers[k] = r.number(from[k])[i];
            else
                integers[k] = r.integer(from[k])[i];
        }
        if (step.intrinsic == Intrinsic::IsNan)
            r.integer(step.out)[i] = std::isnan(numbers[0]);
        else if (step.intrinsic == Intrinsic::IsInf)
            r.integer(step.out)[i] = std::isinf(numbers[0]);
        else if (step.from.isFloat())
            r.number(step.out)[i] = floatIntrinsic(step.intrinsic, numbers).value();
        else
            r.integer(step.out)[i] = intIntrinsic(step.intrinsic, step.dtype, integers).value();
    }
}

void Tape::fillConstants(Registers& r) const
{
    for (const Step& step : m_steps) {
        if (step.op == Op::Number) std::fill_n(r.number(step.out), kRow, step.number);
        if (step.op == Op::Integer) std::fill_n(r.integer(step.out), kRow, step.integer);
    }
}

void Tape::affine(const Step& step, Registers& r, std::span<const int64_t> position,
                  RowLines lines) const
{
    const int64_t first = step.form.at(position);
    const int64_t stride = step.form.coefficients[m_row];
    int64_t* out = r.integer(step.out);
    for (int64_t line = 0; line < lines.lines; ++line, out += lines.count)
        for (int64_t i = 0; i < lines.count; ++i)
            out[i] = first + line * step.form.coefficients[m_line] + stride * i;
}

void Tape::maskAndNot(const Step& step, Registers& r, int64_t count)
{
    const int64_t* outer = step.a < 0 ? nullptr : r.integer(step.a);
    const int64_t* condition = r.integer(step.b);
    int64_t* out = r.integer(step.out);
    for (int64_t i = 0; i < count; ++i) out[i] = (!outer || outer[i]) && !condition[i];
}

void Tape::select(const Step& step, Registers& r, int64_t count)
{
    const int64_t* condition = r.integer(step.a);
    const int64_t *t = r.integer(step.b), *f = r.integer(step.c); // the bits, whatever the type
    int64_t* out = r.integer(step.out);
    for (int64_t i = 0; i < count; ++i) out[i] = condition[i] ? t[i] : f[i];
}

void Tape::cast(const Step& step, Registers& r, int64_t count)
{
    for (int64_t i = 0; i < count; ++i) {
        if (step.from.isFloat() && step.dtype.isFloat())
            r.number(step.out)[i] = rounded(step.dtype, r.number(step.a)[i]);
        else if (step.from.isFloat())
            r.integer(step.out)[i] = truncated(step.dtype, r.number(step.a)[i]);
        else if (step.dtype.isFloat())
            r.number(step.out)[i] = rounded(step.dtype, asDouble(step.from, r.integer(step.a)[i]));
        else
            r.integer(step.out)[i] = wrapped(step.dtype, r.integer(step.a)[i]);
    }
}

void Tape::accessIndex(const Step& step, Registers& r, int64_t count)
{
    int64_t* out = r.integer(step.out);
    std::fill_n(out, count, 0);
    for (const auto& [reg, stride] : step.indexParts) {
        const int64_t* part = r.integer(reg);
        for (int64_t i = 0; i < count; ++i) out[i] += part[i] * stride;
    }
}

Status Tape::run(Registers& r, std::span<const int64_t> position, RowLines lines) const
{
    const int64_t count = lines.values();
    for (const Step& step : m_steps) {
        switch (step.op) {
        case Op::Number:
        case Op::Integer: break; // there already
        case Op::Affine: affine(step, r, position, lines); break;
        case Op::Load:
            if (Status done = load(step, r, position, lines); !done) return done;
            break;
        case Op::Binary:
            if (step.from.isFloat())
                numberBinary(step.kind, r, step.a, step.b, step.out, count);
            else
                integerBinary(step.kind, step.dtype, step.from, r, step.a, step.b, step.out, count);
            break;
        case Op::Not:
            rows(r.integer(step.a), r.integer(step.a), r.integer(step.out), count,
                 [](int64_t v, int64_t) { return int64_t{!v}; });
            break;
        case Op::MaskAnd:
            rows(r.integer(step.a), r.integer(step.b), r.integer(step.out), count,
                 [](int64_t p, int64_t q) { return int64_t{p && q}; });
            break;
        case Op::MaskAndNot: maskAndNot(step, r, count); break;
        case Op::Select: select(step, r, count); break;
        case Op::Cast: cast(step, r, count); break;
        case Op::Intrinsic: intrinsic(step, r, count); break;
        case Op::AccessIndex: accessIndex(step, r, count); break;
        }
    }
    return kDone;
}

} // namespace tenon::compiler
