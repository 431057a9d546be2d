// SPDX-License-Identifier: Apache-2.0
// Emission of single operators; operations that would change nothing are left out.
#include "compiler/frontend/import/formula.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {

int64_t limitedCount(const std::vector<int64_t>& extents)
{
    int64_t count = 1;
    for (const int64_t extent : extents) {
        if (extent <= 0) return 0;
        count = extent > kMaxMadeUp / count ? kMaxMadeUp + 1 : count * extent;
        if (count > kMaxMadeUp) return kMaxMadeUp + 1;
    }
    return count;
}

std::vector<int64_t> counted(int64_t first, int64_t last)
{
    std::vector<int64_t> out(static_cast<size_t>(std::max<int64_t>(last - first, 0)));
    std::iota(out.begin(), out.end(), first);
    return out;
}

ValueRef Formula::call(const char* op, std::vector<ValueRef> operands, Attrs attrs)
{
    return m_node.emit(op, std::move(operands), std::move(attrs));
}

ValueRef Formula::numbers(const std::vector<double>& values, Axes shape, DataType dtype)
{
    return m_node.constantNode(Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < values.size(); ++i)
            storeNumber(dtype, out, static_cast<int64_t>(i), values[i]);
    }));
}

ValueRef Formula::integers(const std::vector<int64_t>& values, Axes shape, DataType dtype)
{
    return m_node.constantNode(Tensor::make(dtype, std::move(shape), [&](std::span<std::byte> out) {
        for (size_t i = 0; i < values.size(); ++i)
            storeInteger(dtype, out, static_cast<int64_t>(i), values[i]);
    }));
}

ValueRef Formula::iota(int64_t count, int64_t axis, int64_t rank, DataType dtype)
{
    if (m_node.hasFailed()) return {};
    if (count > kMaxMadeUp) {
        m_node.fail(DiagnosticCode::UnsupportedFeature,
                    "an axis of " + std::to_string(count) + " elements is too long here; up to " +
                        std::to_string(kMaxMadeUp) + " are supported");
        return {};
    }
    Axes shape(static_cast<size_t>(rank), 1);
    shape[static_cast<size_t>(axis)] = count;
    const std::vector<int64_t> values = counted(0, count);
    if (dtype.isInt()) return integers(values, std::move(shape), dtype);
    return numbers({values.begin(), values.end()}, std::move(shape), dtype);
}

ValueRef Formula::clip(ValueRef a, double low, double high)
{
    return call("clip", {a}, {{"a_min", low}, {"a_max", high}});
}

ValueRef Formula::matmul(ValueRef a, ValueRef b)
{
    const bool isRow = rank(a) == 1, isColumn = rank(b) == 1;
    if (isRow) a = expand(a, 0);
    if (isColumn) b = expand(b, 1);
    const ValueRef out =
        call("nn.matmul", {a, b}, {{"transpose_a", int64_t{0}}, {"transpose_b", int64_t{0}}});
    Axes extra;
    if (isRow) extra.push_back(rank(out) - 2);
    if (isColumn) extra.push_back(rank(out) - 1);
    return squeeze(out, extra);
}

ValueRef Formula::reduce(const char* op, ValueRef a, const Axes& axes, Keep keep)
{
    if (axes.empty()) return a;
    return call(op, {a}, {{"axis", axes}, {"keepdims", int64_t{keep == Keep::Yes}}});
}

ValueRef Formula::cast(ValueRef a, DataType to)
{
    if (m_node.hasFailed() || dtype(a) == to) return a;
    return call("cast", {a}, {{"dtype", to}});
}

ValueRef Formula::reshape(ValueRef a, const Axes& shape)
{
    if (m_node.hasFailed() || m_node.typeOf(a).shape == makeShape(shape)) return a;
    return call("reshape", {a}, {{"newshape", shape}});
}

ValueRef Formula::transpose(ValueRef a, const Axes& axes)
{
    if (std::is_sorted(axes.begin(), axes.end())) return a;
    return call("transpose", {a}, {{"axes", axes}});
}

ValueRef Formula::expand(ValueRef a, int64_t axis, int64_t count)
{
    return call("expand_dims", {a}, {{"axis", axis}, {"num_newaxis", count}});
}

ValueRef Formula::squeeze(ValueRef a, const Axes& axes)
{
    return axes.empty() ? a : call("squeeze", {a}, {{"axis", axes}});
}

ValueRef Formula::broadcast(ValueRef a, const Axes& shape)
{
    if (m_node.hasFailed() || m_node.typeOf(a).shape == makeShape(shape)) return a;
    return call("broadcast_to", {a}, {{"shape", shape}});
}

bool Formula::hasAxis(ValueRef value, int64_t axis)
{
    if (m_node.hasFailed()) return false;
    if (axis >= 0 && axis < rank(value)) return true;
    m_node.fail(DiagnosticCode::ShapeMismatch, "an operand of the shape " +
                                                   shapeText(m_node.typeOf(value).shape) +
                                                   " has no axis " + std::to_string(axis));
    return false;
}

ValueRef Formula::slice(ValueRef a, int64_t axis, int64_t begin, int64_t end)
{
    if (!hasAxis(a, axis)) return {};
    if (begin == 0 && m_node.typeOf(a).shape[static_cast<size_t>(axis)] == Dim(end)) return a;
    return call(
        "strided_slice", {a},
        {{"begin", Axes{begin}}, {"end", Axes{end}}, {"strides", Axes{1}}, {"axes", Axes{axis}}});
}

ValueRef Formula::every(ValueRef a, int64_t axis, int64_t begin, int64_t stride)
{
    return call("strided_slice", {a},
                {{"begin", Axes{begin}},
                 {"end", Axes{(int64_t{1} << 31) - 1}},
                 {"strides", Axes{stride}},
                 {"axes", Axes{axis}}});
}

ValueRef Formula::reversed(ValueRef a, int64_t axis)
{
    if (!hasAxis(a, axis)) return {};
    const auto extent = m_node.typeOf(a).shape[static_cast<size_t>(axis)].constant();
    if (!extent) {
        shape(a); // says that the dimension is needed
        return {};
    }
    return call("strided_slice", {a},
                {{"begin", Axes{*extent - 1}},
                 {"end", Axes{-*extent - 1}},
                 {"strides", Axes{-1}},
                 {"axes", Axes{axis}}});
}

ValueRef Formula::concat(const std::vector<ValueRef>& parts, int64_t axis)
{
    return parts.size() == 1 ? parts[0] : call("concatenate", parts, {{"axis", axis}});
}

ValueRef Formula::pad(ValueRef a, const Axes& width, double value)
{
    if (std::all_of(width.begin(), width.end(), [](int64_t w) { return w == 0; })) return a;
    return call(
        "nn.pad", {a},
        {{"pad_width", width}, {"pad_value", value}, {"pad_mode", std::string("constant")}});
}

ValueRef Formula::take(ValueRef a, ValueRef indices, int64_t axis)
{
    return call("take", {a, indices}, {{"axis", axis}, {"mode", std::string("fast")}});
}

} // namespace tenon::compiler
