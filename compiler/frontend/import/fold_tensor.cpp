// SPDX-License-Identifier: Apache-2.0
// Element loops over a handful of numbers; integers in 64 bits, floats in double.
#include "compiler/frontend/import/fold_tensor.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {

using namespace core;

namespace {

std::optional<std::vector<int64_t>> broadcast(const std::vector<int64_t>& a,
                                              const std::vector<int64_t>& b)
{
    const size_t rank = std::max(a.size(), b.size());
    std::vector<int64_t> out(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
        const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
        const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (x != y && x != 1 && y != 1) return std::nullopt;
        out[rank - 1 - i] = x == 1 ? y : x;
    }
    return out;
}

/// Index into a tensor of `shape` for element `flat` of the broadcast `full` shape.
int64_t sourceIndex(int64_t flat, const std::vector<int64_t>& full,
                    const std::vector<int64_t>& shape)
{
    int64_t index = 0;
    int64_t stride = 1;
    for (size_t i = 0; i < full.size(); ++i) {
        const int64_t extent = full[full.size() - 1 - i];
        const int64_t at = flat % extent;
        flat /= extent;
        if (i >= shape.size()) continue;
        const int64_t own = shape[shape.size() - 1 - i];
        index += (own == 1 ? 0 : at) * stride;
        stride *= own;
    }
    return index;
}

/// Wrapping arithmetic on the unsigned representation, as the machine does it.
std::optional<int64_t> integerOp(std::string_view op, int64_t x, int64_t y)
{
    const auto ux = static_cast<uint64_t>(x);
    const auto uy = static_cast<uint64_t>(y);
    if (op == "add") return static_cast<int64_t>(ux + uy);
    if (op == "subtract") return static_cast<int64_t>(ux - uy);
    if (op == "multiply") return static_cast<int64_t>(ux * uy);
    if (op == "minimum") return std::min(x, y);
    if (op == "maximum") return std::max(x, y);
    if (op == "equal") return x == y;
    if (op == "greater") return x > y;
    if (op == "greater_equal") return x >= y;
    if (op == "less") return x < y;
    if (op == "less_equal") return x <= y;
    if (op == "logical_and") return x && y;
    if (op == "logical_or") return x || y;
    if (op == "logical_xor") return (x != 0) != (y != 0);
    if (y == 0 || y == -1) {
        if (op == "divide" && y == -1) return static_cast<int64_t>(0 - ux);
        if (op == "floor_mod" && y == -1) return 0;
        return std::nullopt;
    }
    if (op == "divide") return x / y;
    if (op == "floor_mod") return (x % y + y) % y;
    return std::nullopt;
}

std::optional<double> floatOp(std::string_view op, double x, double y)
{
    if (op == "add") return x + y;
    if (op == "subtract") return x - y;
    if (op == "multiply") return x * y;
    if (op == "divide") return x / y;
    if (op == "power") return std::pow(x, y);
    if (op == "minimum") return std::fmin(x, y);
    if (op == "maximum") return std::fmax(x, y);
    if (op == "equal") return x == y;
    if (op == "greater") return x > y;
    if (op == "greater_equal") return x >= y;
    if (op == "less") return x < y;
    if (op == "less_equal") return x <= y;
    return std::nullopt;
}

bool isPredicate(std::string_view op)
{
    return op == "equal" || op.starts_with("greater") || op.starts_with("less") ||
           op.starts_with("logical_");
}

void store(DataType dtype, std::span<std::byte> out, int64_t i, double value)
{
    if (dtype.isInt())
        storeInteger(dtype, out, i, static_cast<int64_t>(value));
    else
        storeNumber(dtype, out, i, value);
}

} // namespace

std::optional<Tensor> foldedBinary(std::string_view op, const Tensor& a, const Tensor& b)
{
    const auto shape = broadcast(a.shape(), b.shape());
    if (!shape || a.dtype() != b.dtype() || elementCount(*shape) > 4096) return std::nullopt;
    // Their upper half reads as negative.
    if (a.dtype() == kUInt64) return std::nullopt;
    const DataType dtype = isPredicate(op) ? kBool : a.dtype();
    bool isDefined = true;
    Tensor out = Tensor::make(dtype, *shape, [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < elementCount(*shape); ++i) {
            const int64_t ia = sourceIndex(i, *shape, a.shape());
            const int64_t ib = sourceIndex(i, *shape, b.shape());
            if (a.dtype().isInt()) {
                const auto value = integerOp(op, a.integer(ia), b.integer(ib));
                isDefined = isDefined && value;
                if (value) storeInteger(dtype, bytes, i, *value);
            } else {
                const auto value = floatOp(op, a.number(ia), b.number(ib));
                isDefined = isDefined && value;
                if (value) store(dtype, bytes, i, *value);
            }
        }
    });
    if (!isDefined) return std::nullopt;
    return out;
}

std::optional<Tensor> foldedUnary(std::string_view op, const Tensor& a)
{
    const bool isInt = a.dtype().isInt();
    if (isInt && op != "Neg" && op != "Abs" && op != "Not") return std::nullopt;
    return Tensor::make(a.dtype(), a.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < a.size(); ++i) {
            if (isInt) {
                const int64_t x = a.integer(i);
                const auto negated = static_cast<int64_t>(0 - static_cast<uint64_t>(x));
                storeInteger(a.dtype(), out, i,
                             op == "logical_not"         ? x == 0
                             : op == "negative" || x < 0 ? negated
                                                         : x);
                continue;
            }
            const double x = a.number(i);
            storeNumber(a.dtype(), out, i,
                        op == "negative" ? -x
                        : op == "abs"    ? std::fabs(x)
                        : op == "floor"  ? std::floor(x)
                        : op == "ceil"   ? std::ceil(x)
                                         : std::sqrt(x));
        }
    });
}

std::optional<Tensor> foldedWhere(const Tensor& condition, const Tensor& a, const Tensor& b)
{
    if (a.dtype() != b.dtype()) return std::nullopt;
    const auto values = broadcast(a.shape(), b.shape());
    const auto shape = values ? broadcast(*values, condition.shape()) : std::nullopt;
    if (!shape || elementCount(*shape) > 4096) return std::nullopt;
    return Tensor::make(a.dtype(), *shape, [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < elementCount(*shape); ++i) {
            const bool isFirst = condition.integer(sourceIndex(i, *shape, condition.shape())) != 0;
            const Tensor& from = isFirst ? a : b;
            const int64_t at = sourceIndex(i, *shape, from.shape());
            if (a.dtype().isInt())
                storeInteger(a.dtype(), out, i, from.integer(at));
            else
                storeNumber(a.dtype(), out, i, from.number(at));
        }
    });
}

Tensor foldedCast(const Tensor& a, DataType dtype)
{
    return Tensor::make(dtype, a.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < a.size(); ++i) {
            if (dtype.isBool())
                storeInteger(dtype, out, i, a.number(i) != 0);
            else if (a.dtype().isInt() && dtype.isInt())
                storeInteger(dtype, out, i, a.integer(i));
            else
                storeNumber(dtype, out, i, dtype.isInt() ? std::trunc(a.number(i)) : a.number(i));
        }
    });
}

std::optional<Tensor> foldedConcat(const std::vector<Tensor>& parts)
{
    std::vector<std::byte> all;
    int64_t count = 0;
    for (const Tensor& part : parts) {
        if (part.shape().size() != 1 || part.dtype() != parts[0].dtype()) return std::nullopt;
        all.insert(all.end(), part.bytes().begin(), part.bytes().end());
        count += part.size();
    }
    return Tensor::make(parts[0].dtype(), {count}, [&](std::span<std::byte> out) {
        std::copy(all.begin(), all.end(), out.begin());
    });
}

std::optional<Tensor> foldedGather(const Tensor& data, const Tensor& indices)
{
    if (!indices.dtype().isInt() || indices.dtype().isBool()) return std::nullopt;
    std::vector<int64_t> from;
    for (int64_t at : indices.integers()) {
        if (at < 0) at += data.size();
        if (at < 0 || at >= data.size()) return std::nullopt;
        from.push_back(at);
    }
    const auto size = static_cast<size_t>(data.dtype().bytes());
    return Tensor::make(data.dtype(), indices.shape(), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < from.size(); ++i) {
            const auto one = data.bytes().subspan(static_cast<size_t>(from[i]) * size, size);
            std::copy(one.begin(), one.end(), out.begin() + static_cast<std::ptrdiff_t>(i * size));
        }
    });
}

std::optional<Tensor> foldedSlice(const Tensor& data, int64_t start, int64_t end, int64_t step)
{
    const int64_t extent = data.size();
    if (step == 0 || step > (1 << 20) || step < -(1 << 20)) return std::nullopt;
    const auto clamp = [&](int64_t at) {
        if (at < 0) at = at < -extent ? -1 : at + extent;
        return step > 0 ? std::clamp<int64_t>(at, 0, extent)
                        : std::clamp<int64_t>(at, -1, extent - 1);
    };
    std::vector<int64_t> chosen;
    const int64_t stop = clamp(end);
    for (int64_t at = clamp(start); step > 0 ? at < stop : at > stop; at += step)
        chosen.push_back(at);
    return foldedGather(data,
                        Tensor::of<int64_t>(kInt64, {static_cast<int64_t>(chosen.size())}, chosen));
}

std::optional<Tensor> foldedRange(const Tensor& start, const Tensor& limit, const Tensor& delta)
{
    const int64_t step = delta.integer(0);
    if (step == 0 || start.dtype() != limit.dtype() || start.dtype() != delta.dtype())
        return std::nullopt;
    const double count = std::ceil((limit.number(0) - start.number(0)) / delta.number(0));
    if (!(count <= 4096)) return std::nullopt;
    const auto size = std::max<int64_t>(0, static_cast<int64_t>(count));
    return Tensor::make(start.dtype(), {size}, [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < size; ++i)
            storeInteger(start.dtype(), out, i, start.integer(0) + i * step);
    });
}

std::optional<Tensor> foldedReduce(std::string_view op, const Tensor& data, bool keepsAxis)
{
    if (data.size() == 0) return std::nullopt;
    const std::string_view step = op == "sum"    ? "add"
                                  : op == "prod" ? "multiply"
                                  : op == "min"  ? "minimum"
                                                 : "maximum";
    int64_t value = data.integer(0);
    for (int64_t i = 1; i < data.size(); ++i)
        value = integerOp(step, value, data.integer(i)).value_or(0);
    const std::vector<int64_t> shape = keepsAxis ? std::vector<int64_t>{1} : std::vector<int64_t>{};
    return Tensor::make(data.dtype(), shape, [&](std::span<std::byte> out) {
        storeInteger(data.dtype(), out, 0, value);
    });
}

} // namespace tenon::compiler
