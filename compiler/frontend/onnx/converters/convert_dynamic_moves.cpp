// SPDX-License-Identifier: Apache-2.0
// Slice, Split and Pad of sizes, axes and widths that are known when the model runs.
#include "compiler/frontend/import/run_time_axes.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/tensor/dim_products.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// The smaller or larger of two dimensions, decided by the bounds of sizes where they can.
Dim clamped(const OnnxNode& node, const Dim& a, const Dim& b, bool wantsSmaller)
{
    const auto gap = rangeOf(a - b, node.bounds());
    if (gap && gap->high <= 0) return wantsSmaller ? a : b;
    if (gap && gap->low >= 0) return wantsSmaller ? b : a;
    return wantsSmaller ? minimum(a, b) : maximum(a, b);
}

/// A bound of a slice as ONNX counts: from the end when negative, limited to the axis.
Dim boundOf(const OnnxNode& node, const Dim& given, const Dim& extent)
{
    constexpr int64_t kFar = int64_t{1} << 31; // "to the end" in the words of exporters
    if (given.isConst() && given.value() >= kFar - 1) return extent;
    if (given.isConst() && given.value() <= -kFar) return Dim(0);
    if (given.isConst() && given.value() < 0) return clamped(node, extent + given, Dim(0), false);
    return clamped(node, given, extent, true);
}

/// Sizes are never negative; a difference of sizes may be.
bool isNeverNegative(const OnnxNode& node, const Dim& dim)
{
    if (dim.isConst()) return true; // its sign is known
    if (const auto range = rangeOf(dim, node.bounds())) return range->low >= 0;
    const std::vector<DimProduct> products = productsOf(dim);
    return std::all_of(products.begin(), products.end(),
                       [](const DimProduct& p) { return p.coefficient >= 0; });
}

/// Bounds of a slice with entries where the axes are and elsewhere what leaves the dimension whole.
struct WholeSlice
{
    ValueRef begin, end, step;
};

ValueRef countedFromEnd(Formula& f, ValueRef value, ValueRef sizes)
{
    return f.where(f.compare("less", value, 0), f.add(value, sizes), value);
}

/// Limits the bounds, and how many elements lie between them.
ValueRef lengthsOf(OnnxNode& node, WholeSlice& slice, ValueRef sizes)
{
    Formula f(node);
    const ValueRef zero = wholeNumber(node, 0);
    const ValueRef isForward = f.call("greater", {slice.step, zero});
    const ValueRef last = f.subtract(sizes, 1.0);
    const ValueRef most = f.where(isForward, sizes, last);
    const ValueRef least = f.where(isForward, zero, wholeNumber(node, -1));
    const auto limited = [&](ValueRef value, ValueRef low) {
        return f.call("minimum", {f.call("maximum", {countedFromEnd(f, value, sizes), low}), most});
    };
    slice.begin = limited(slice.begin, zero);
    slice.end = limited(slice.end, least);
    const ValueRef span = f.subtract(slice.end, slice.begin);
    const ValueRef forward = f.where(isForward, span, f.apply("negative", span));
    const ValueRef magnitude = f.apply("abs", slice.step);
    const ValueRef divisor = f.call("maximum", {magnitude, wholeNumber(node, 1)});
    const ValueRef count =
        f.call("floor_divide",
               {f.add(f.call("maximum", {forward, zero}), f.subtract(divisor, 1.0)), divisor});
    // A step of 0 is refused like every negative size.
    return f.where(f.compare("equal", slice.step, 0), wholeNumber(node, -1), count);
}

} // namespace

bool sliceBySizes(OnnxNode& node, const std::vector<int64_t>& axes, const Shape& starts,
                  const Shape& ends)
{
    if (starts.size() != axes.size() || ends.size() != axes.size() || node.hasFailed())
        return false;
    Shape shape = node.type(0).shape;
    Shape begins;
    for (size_t k = 0; k < axes.size(); ++k) {
        Dim& extent = shape[static_cast<size_t>(axes[k])];
        if (!isNeverNegative(node, starts[k]) || !isNeverNegative(node, ends[k])) return false;
        begins.push_back(boundOf(node, starts[k], extent));
        const Dim end = boundOf(node, ends[k], extent);
        extent = clamped(node, end - begins.back(), Dim(0), false);
    }
    if (shape == node.type(0).shape) {
        node.forward(0, 0);
        return true;
    }
    node.output(0, emitSized(node, "dynamic_slice", {node.input(0), node.sizesOf(begins)}, shape,
                             {{"axes", axes}, {"strides", std::vector<int64_t>(axes.size(), 1)}}));
    return true;
}

void sliceAlongRunTimeAxes(OnnxNode& node)
{
    Formula f(node);
    const int64_t rank = node.rank(0);
    const ValueRef starts = f.cast(node.input(1), kInt64), ends = f.cast(node.input(2), kInt64);
    const std::vector<int64_t> count = f.shape(starts);
    if (node.hasFailed()) return;
    if (count.size() != 1 || rank == 0)
        return node.fail(DiagnosticCode::ShapeMismatch, "starts must be a list, data no scalar");
    const ValueRef axes =
        node.has(3) ? node.input(3)
                    : node.constantNode(Tensor::of<int64_t>(kInt64, count, counted(0, count[0])));
    RunTimeAxes named(node, axes, rank, RunTimeAxes::Empty::None);
    const Shape shape = node.type(0).shape;
    const ValueRef sizes = node.sizesOf(shape), one = wholeNumber(node, 1);
    WholeSlice slice{named.spread(starts, wholeNumber(node, 0)), named.spread(ends, sizes), one};
    slice.step = node.has(4) ? named.spread(node.input(4), one) : f.broadcast(one, {rank});
    const Shape lengths = node.boundDims(lengthsOf(node, slice, sizes));
    node.output(0, emitSized(node, "dynamic_slice", {node.input(0), slice.begin, slice.step},
                             lengths, {{"axes", counted(0, rank)}}));
}

void splitBySizes(OnnxNode& node, int64_t axis, const std::vector<Dim>& sizes)
{
    if (node.hasFailed()) return;
    Shape shape = node.type(0).shape;
    Dim& extent = shape[static_cast<size_t>(axis)];
    const Dim whole = extent;
    extent = Dim(0);
    for (const Dim& size : sizes) extent = extent + size;
    // Whether the parts make up the whole is checked where its shape is.
    const ValueRef data = extent == whole ? node.input(0) : reshapedTo(node, node.input(0), shape);
    Dim begin(0);
    for (size_t i = 0; i < sizes.size(); ++i) {
        extent = sizes[i];
        node.output(i, emitSized(node, "dynamic_slice", {data, node.sizesOf({begin})}, shape,
                                 {{"axes", std::vector<int64_t>{axis}},
                                  {"strides", std::vector<int64_t>{1}}}));
        begin = begin + sizes[i];
    }
}

void padAtRunTime(OnnxNode& node)
{
    Formula f(node);
    const std::string mode = node.string("mode", "constant");
    const int64_t rank = node.rank(0);
    const ValueRef pads = f.cast(node.input(1), kInt64);
    const std::vector<int64_t> count = f.shape(pads);
    if (node.hasFailed()) return;
    if (count.size() != 1 || count[0] % 2 != 0 || rank == 0)
        return node.fail(DiagnosticCode::ShapeMismatch, "pads must have two entries per axis",
                         "pads");
    const int64_t axes = count[0] / 2;
    ValueRef before = f.slice(pads, 0, 0, axes), after = f.slice(pads, 0, axes, 2 * axes);
    if (node.has(3)) {
        RunTimeAxes named(node, node.input(3), rank, RunTimeAxes::Empty::None);
        const ValueRef zeros = f.broadcast(wholeNumber(node, 0), {rank});
        before = named.spread(before, zeros);
        after = named.spread(after, zeros);
    } else if (axes != rank) {
        return node.fail(DiagnosticCode::BadAttribute, "pads must have two entries per dimension",
                         "pads");
    }
    const DataType dtype = node.type(0).dtype;
    const ValueRef value =
        node.has(2) ? f.reshape(f.cast(node.input(2), dtype), {}) : node.scalar(0, dtype);
    const ValueRef sizes = node.sizesOf(node.type(0).shape);
    const Shape shape = node.boundDims(f.add(f.add(sizes, before), after));
    node.output(0, emitSized(node, "dynamic_pad", {node.input(0), before, value}, shape,
                             {{"pad_mode", mode}}));
}

} // namespace tenon::compiler
