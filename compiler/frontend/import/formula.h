// SPDX-License-Identifier: Apache-2.0
// Formula: graph IR written like the formula a converter decomposes its operator into.
#pragma once

#include "compiler/frontend/import/node_import.h"

#include <string>
#include <vector>

namespace tenon::compiler {

/// Every function emits at most one operator and none where it would change nothing; after a
/// failure of the node all do nothing.
class Formula
{
public:
    using Axes = std::vector<int64_t>;

    explicit Formula(NodeImport& node)
        : m_node(node)
    {
    }

    ValueRef call(const char* op, std::vector<ValueRef> operands, Attrs attrs = {});
    ValueRef apply(const char* op, ValueRef a) { return call(op, {a}); }

    DataType dtype(ValueRef value) const { return m_node.typeOf(value).dtype; }
    int64_t rank(ValueRef value) const
    {
        return static_cast<int64_t>(m_node.typeOf(value).shape.size());
    }
    std::vector<int64_t> shape(ValueRef value) { return m_node.shapeOf(value); }

    /// A scalar of the type of `like`.
    ValueRef number(double value, ValueRef like) { return m_node.scalar(value, dtype(like)); }
    ValueRef numbers(const std::vector<double>& values, Axes shape, DataType dtype);
    ValueRef integers(const std::vector<int64_t>& values, Axes shape, DataType dtype = kInt64);
    /// 0, 1, .. along `axis` of a tensor of `rank`, whose other dimensions are 1.
    ValueRef iota(int64_t count, int64_t axis, int64_t rank, DataType dtype = kInt64);

    ValueRef add(ValueRef a, ValueRef b) { return call("add", {a, b}); }
    ValueRef subtract(ValueRef a, ValueRef b) { return call("subtract", {a, b}); }
    ValueRef multiply(ValueRef a, ValueRef b) { return call("multiply", {a, b}); }
    ValueRef divide(ValueRef a, ValueRef b) { return call("divide", {a, b}); }
    ValueRef add(ValueRef a, double b) { return b == 0 ? a : add(a, number(b, a)); }
    ValueRef subtract(ValueRef a, double b) { return b == 0 ? a : subtract(a, number(b, a)); }
    ValueRef multiply(ValueRef a, double b) { return b == 1 ? a : multiply(a, number(b, a)); }
    ValueRef divide(ValueRef a, double b) { return b == 1 ? a : divide(a, number(b, a)); }
    ValueRef compare(const char* op, ValueRef a, double b) { return call(op, {a, number(b, a)}); }
    ValueRef where(ValueRef condition, ValueRef a, ValueRef b)
    {
        return call("where", {condition, a, b});
    }
    ValueRef clip(ValueRef a, double low, double high);
    ValueRef both(ValueRef a, ValueRef b) { return call("logical_and", {a, b}); }
    /// A vector in front is a row, one behind a column; its axis is not in the product.
    ValueRef matmul(ValueRef a, ValueRef b);

    enum class Keep : uint8_t
    {
        No,
        Yes
    };
    ValueRef reduce(const char* op, ValueRef a, const Axes& axes, Keep keep);

    ValueRef cast(ValueRef a, DataType to);
    ValueRef reshape(ValueRef a, const Axes& shape);
    ValueRef transpose(ValueRef a, const Axes& axes);
    ValueRef expand(ValueRef a, int64_t axis, int64_t count = 1);
    ValueRef squeeze(ValueRef a, const Axes& axes);
    ValueRef broadcast(ValueRef a, const Axes& shape);
    /// Elements [begin, end) of `axis`; whole numbers inside the axis.
    ValueRef slice(ValueRef a, int64_t axis, int64_t begin, int64_t end);
    /// Every `stride`-th element from `begin` on.
    ValueRef every(ValueRef a, int64_t axis, int64_t begin, int64_t stride);
    ValueRef reversed(ValueRef a, int64_t axis);
    ValueRef concat(const std::vector<ValueRef>& parts, int64_t axis);
    /// `width`: before and after each dimension.
    ValueRef pad(ValueRef a, const Axes& width, double value);
    ValueRef take(ValueRef a, ValueRef indices, int64_t axis);

private:
    /// Fails when the value has no such axis.
    bool hasAxis(ValueRef value, int64_t axis);

    NodeImport& m_node;
};

/// More elements than a constant that a converter makes up may have; a small file must not fill the
/// memory.
inline constexpr int64_t kMaxMadeUp = int64_t{1} << 23;
/// Product of the extents, or kMaxMadeUp + 1 when it is larger.
int64_t limitedCount(const std::vector<int64_t>& extents);

/// first, first + 1, .. last - 1.
std::vector<int64_t> counted(int64_t first, int64_t last);

} // namespace tenon::compiler
