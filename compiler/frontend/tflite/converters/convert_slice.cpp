// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor: slices and splits.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/operand_layout.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kEnd = (int64_t{1} << 31) - 1;

/// Bounds for every axis of the data, in the data's order.
struct Bounds
{
    std::vector<int64_t> begin, end, strides;
};

ValueRef sliced(TfliteNode& node, ValueRef value, const Bounds& bounds, PictureLayout layout)
{
    return node.emit("strided_slice", {value},
                     {{"begin", listIn(bounds.begin, layout)},
                      {"end", listIn(bounds.end, layout)},
                      {"strides", listIn(bounds.strides, layout)}});
}

class StridedSlice
{
public:
    explicit StridedSlice(TfliteNode& node)
        : m_node(node)
        , m_begin(node.staticIntegers(1))
        , m_end(node.staticIntegers(2))
        , m_strides(node.staticIntegers(3))
    {
        if (!node.hasFailed() && (m_begin.size() != m_end.size() ||
                                  m_begin.size() != m_strides.size() || m_begin.size() > 32))
            node.fail(DiagnosticCode::ShapeMismatch,
                      "begin, end and strides need one length of at most 32");
    }

    void run()
    {
        const int64_t rank = m_node.rank(0);
        if (m_node.hasFailed() || !readBounds(rank)) return;
        const PictureLayout layout = m_isPlain ? layoutOf(m_node, {0}) : PictureLayout::File;
        ValueRef out = sliced(m_node, inputIn(m_node, 0, layout), m_bounds, layout);
        if (m_node.hasFailed()) return;
        if (m_isPlain) return outputIn(m_node, 0, out, layout);
        m_node.output(0, reshaped(out));
    }

private:
    bool has(int field, size_t i) const { return ((m_node.integer(field) >> i) & 1) != 0; }

    /// Walks the entries; `at` is the data's axis that the next one is about.
    bool readBounds(int64_t rank)
    {
        int64_t given = 0; // entries that stand for an axis of the data
        for (size_t i = 0; i < m_begin.size(); ++i) given += !has(kEllipsis, i) && !has(kNew, i);
        for (size_t i = 0; i < m_begin.size(); ++i) {
            if (has(kEllipsis, i)) {
                for (int64_t k = given; k < rank; ++k) addWhole();
                given = rank;
            } else if (has(kNew, i)) {
                m_shape.push_back(-1);
                m_isPlain = false;
            } else {
                m_isPlain = m_isPlain && !has(kShrink, i);
                if (!addEntry(i, rank)) return false;
            }
        }
        while (static_cast<int64_t>(m_bounds.begin.size()) < rank) addWhole();
        return true;
    }

    void addWhole()
    {
        m_shape.push_back(static_cast<int64_t>(m_bounds.begin.size()));
        m_bounds.begin.push_back(0);
        m_bounds.end.push_back(kEnd);
        m_bounds.strides.push_back(1);
    }

    bool addEntry(size_t i, int64_t rank)
    {
        const auto axis = static_cast<int64_t>(m_bounds.begin.size());
        if (axis >= rank || m_strides[i] == 0) {
            m_node.fail(DiagnosticCode::BadAttribute,
                        axis >= rank ? "more axes are sliced than the input has" : "a stride is 0");
            return false;
        }
        const bool isBack = m_strides[i] < 0;
        int64_t begin = has(kBegin, i) ? (isBack ? kEnd : 0) : m_begin[i];
        int64_t end = has(kEndMask, i) ? (isBack ? -kEnd : kEnd) : m_end[i];
        int64_t stride = m_strides[i];
        if (m_node.flag(kOffset) && !has(kEndMask, i) && __builtin_add_overflow(begin, end, &end))
            end = kEnd;
        if (has(kShrink, i)) {
            begin = m_begin[i];
            end = begin == -1 ? kEnd : begin + 1;
            stride = 1;
        } else {
            m_shape.push_back(axis);
        }
        m_bounds.begin.push_back(begin);
        m_bounds.end.push_back(end);
        m_bounds.strides.push_back(stride);
        return true;
    }

    /// Without the axes that shrink, with the new ones.
    ValueRef reshaped(ValueRef value)
    {
        const std::vector<int64_t> shape = m_node.shapeOf(value);
        if (m_node.hasFailed()) return {};
        std::vector<int64_t> out;
        for (const int64_t axis : m_shape)
            out.push_back(axis < 0 ? 1 : shape[static_cast<size_t>(axis)]);
        return m_node.emit("reshape", {value}, {{"newshape", out}});
    }

    static constexpr int kBegin = 0, kEndMask = 1, kEllipsis = 2, kNew = 3, kShrink = 4,
                         kOffset = 5;

    TfliteNode& m_node;
    std::vector<int64_t> m_begin, m_end, m_strides;
    Bounds m_bounds;
    bool m_isPlain = true;        ///< no axis comes or goes
    std::vector<int64_t> m_shape; ///< per axis of the result: the data's, or -1 for a new one
};

} // namespace

void convertStridedSlice(TfliteNode& node) { StridedSlice(node).run(); }

void convertSlice(TfliteNode& node)
{
    Bounds bounds{node.staticIntegers(1), node.staticIntegers(2), {}};
    const int64_t rank = node.rank(0);
    if (node.hasFailed()) return;
    if (static_cast<int64_t>(bounds.begin.size()) != rank ||
        static_cast<int64_t>(bounds.end.size()) != rank) {
        node.fail(DiagnosticCode::ShapeMismatch, "begin and size need one entry per axis");
        return;
    }
    for (size_t i = 0; i < bounds.begin.size(); ++i) {
        const int64_t size = bounds.end[i];
        if (size < 0 || __builtin_add_overflow(bounds.begin[i], size, &bounds.end[i]))
            bounds.end[i] = kEnd;
    }
    bounds.strides.assign(bounds.begin.size(), 1);
    const PictureLayout layout = layoutOf(node, {0});
    outputIn(node, 0, sliced(node, inputIn(node, 0, layout), bounds, layout), layout);
}

namespace {

/// Parts of input `data` along `axis`, of these sizes.
void split(TfliteNode& node, size_t data, int64_t axis, const std::vector<int64_t>& sizes)
{
    if (node.hasFailed()) return;
    if (sizes.size() != node.outputCount()) {
        node.fail(DiagnosticCode::BadOperandCount, std::to_string(sizes.size()) + " parts are " +
                                                       std::to_string(node.outputCount()) +
                                                       " outputs");
        return;
    }
    const PictureLayout layout = layoutOf(node, {data});
    const ValueRef value = inputIn(node, data, layout);
    int64_t at = 0;
    for (size_t i = 0; i < sizes.size() && !node.hasFailed(); ++i) {
        const ValueRef part = Formula(node).slice(value, axisIn(axis, layout), at, at + sizes[i]);
        at += sizes[i];
        outputIn(node, i, part, layout);
    }
}

int64_t oneAxis(TfliteNode& node, size_t input, size_t data)
{
    const std::vector<int64_t> axes = node.staticIntegers(input);
    if (!node.hasFailed() && axes.size() != 1)
        node.fail(DiagnosticCode::BadAttribute, "one axis is needed");
    return node.hasFailed() ? 0 : node.axisOf(axes[0], node.rank(data));
}

} // namespace

void convertSplit(TfliteNode& node)
{
    const int64_t axis = oneAxis(node, 0, 1);
    const std::vector<int64_t> shape = node.shape(1);
    if (node.hasFailed()) return;
    const auto count = static_cast<int64_t>(node.outputCount());
    const int64_t extent = shape[static_cast<size_t>(axis)];
    if (count < 1 || extent % count != 0) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  std::to_string(extent) + " elements are not divided by " + std::to_string(count));
        return;
    }
    split(node, 1, axis, std::vector<int64_t>(static_cast<size_t>(count), extent / count));
}

void convertSplitV(TfliteNode& node)
{
    std::vector<int64_t> sizes = node.staticIntegers(1);
    const int64_t axis = oneAxis(node, 2, 0);
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    const auto open = std::find(sizes.begin(), sizes.end(), -1);
    if (open != sizes.end()) {
        int64_t rest = shape[static_cast<size_t>(axis)];
        for (const int64_t size : sizes) rest -= std::max<int64_t>(size, 0);
        *open = rest;
    }
    for (const int64_t size : sizes)
        if (size < 0 || size > shape[static_cast<size_t>(axis)])
            node.fail(DiagnosticCode::BadAttribute,
                      "the sizes [" + join(sizes, ", ") + "] are not usable");
    split(node, 0, axis, sizes);
}

} // namespace tenon::compiler
