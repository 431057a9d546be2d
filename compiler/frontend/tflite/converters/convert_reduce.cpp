// SPDX-License-Identifier: Apache-2.0
// Reductions along axes, and the places of extremes.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

struct Reduction
{
    PictureLayout layout = PictureLayout::File;
    std::vector<int64_t> axes; ///< in the layout
    Formula::Keep keep = Formula::Keep::No;
};

Reduction reductionOf(TfliteNode& node)
{
    Reduction out;
    const int64_t rank = node.rank(0);
    std::vector<int64_t> axes = node.axesOf(node.staticIntegers(1), rank);
    out.keep = node.flag(0) ? Formula::Keep::Yes : Formula::Keep::No;
    if (node.hasFailed()) return out;
    const auto has = [&](int64_t axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
    };
    // Without the reduced axes the others must stand in the file's order.
    const bool keepsOrder = out.keep == Formula::Keep::Yes || has(3) || (has(1) && has(2));
    if (rank == 4 && keepsOrder) out.layout = layoutOf(node, {0});
    for (int64_t& axis : axes) axis = axisIn(axis, out.layout);
    std::sort(axes.begin(), axes.end());
    out.axes = std::move(axes);
    return out;
}

void finish(TfliteNode& node, const Reduction& r, ValueRef value)
{
    if (node.hasFailed()) return;
    outputReal(node, 0, value, r.keep == Formula::Keep::Yes ? r.layout : PictureLayout::File);
}

void reduceReal(TfliteNode& node, const char* op)
{
    const Reduction r = reductionOf(node);
    const ValueRef value = realInput(node, 0, r.layout);
    if (!node.hasFailed()) finish(node, r, Formula(node).reduce(op, value, r.axes, r.keep));
}

/// What chooses a value does so among integers, too.
void reduceChoosing(TfliteNode& node, const char* op)
{
    if (!haveSameScale(node.inputTensor(0), node.outputTensor(0))) return reduceReal(node, op);
    const Reduction r = reductionOf(node);
    const ValueRef value = inputIn(node, 0, r.layout);
    if (node.hasFailed()) return;
    const ValueRef out = Formula(node).reduce(op, value, r.axes, r.keep);
    outputIn(node, 0, out, r.keep == Formula::Keep::Yes ? r.layout : PictureLayout::File);
}

} // namespace

namespace {

/// Whether the kernels of integers divide the sums of stored values, and round towards zero: where
/// the scale stays, except for means over the plane of a picture of bytes.
bool dividesStored(TfliteNode& node, const Reduction& r)
{
    if (!node.isQuantized(0) || !haveSameScale(node.inputTensor(0), node.outputTensor(0)))
        return false;
    std::vector<int64_t> axes = node.axesOf(node.staticIntegers(1), node.rank(0));
    std::sort(axes.begin(), axes.end());
    const bool isPlane =
        node.rank(0) == 4 && axes == std::vector<int64_t>{1, 2} && r.keep == Formula::Keep::Yes;
    return !isPlane || node.type(0).dtype.bits > 8;
}

void meanOfStored(TfliteNode& node, const Reduction& r)
{
    const ValueRef value = inputIn(node, 0, r.layout);
    if (node.hasFailed()) return;
    Formula f(node);
    const DataType dtype = node.type(0).dtype;
    int64_t count = 1;
    for (const int64_t axis : r.axes) count *= f.shape(value)[static_cast<size_t>(axis)];
    const ValueRef sum = f.reduce("sum", f.cast(value, kInt64), r.axes, r.keep);
    const ValueRef mean = f.cast(f.divide(sum, static_cast<double>(count)), dtype);
    outputIn(node, 0, mean, r.keep == Formula::Keep::Yes ? r.layout : PictureLayout::File);
}

} // namespace

void convertMean(TfliteNode& node)
{
    const Reduction r = reductionOf(node);
    if (node.hasFailed()) return;
    dividesStored(node, r) ? meanOfStored(node, r) : reduceReal(node, "mean");
}

void convertSum(TfliteNode& node) { reduceReal(node, "sum"); }
void convertReduceProd(TfliteNode& node) { reduceReal(node, "prod"); }
void convertReduceMax(TfliteNode& node) { reduceChoosing(node, "max"); }
void convertReduceMin(TfliteNode& node) { reduceChoosing(node, "min"); }
void convertReduceAny(TfliteNode& node) { reduceChoosing(node, "any"); }
void convertReduceAll(TfliteNode& node) { reduceChoosing(node, "all"); }

namespace {

void argExtreme(TfliteNode& node, const char* op)
{
    const std::vector<int64_t> axes = node.axesOf(node.staticIntegers(1), node.rank(0));
    if (!node.hasFailed() && axes.size() != 1)
        node.fail(DiagnosticCode::BadAttribute, "one axis is needed");
    if (node.hasFailed()) return;
    // The order of the other axes stays only where the channels go.
    const PictureLayout layout =
        axes[0] == 3 && node.rank(0) == 4 ? layoutOf(node, {0}) : PictureLayout::File;
    const ValueRef value = inputIn(node, 0, layout);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef out =
        f.call(op, {value}, {{"axis", std::vector<int64_t>{axisIn(axes[0], layout)}}});
    if (!node.hasFailed()) node.output(0, f.cast(out, node.outputType(0).value_or(kInt64)));
}

} // namespace

void convertArgMax(TfliteNode& node) { argExtreme(node, "argmax"); }
void convertArgMin(TfliteNode& node) { argExtreme(node, "argmin"); }

void convertCumsum(TfliteNode& node)
{
    const std::vector<int64_t> axes = node.axesOf(node.staticIntegers(1), node.rank(0));
    if (!node.hasFailed() && axes.size() != 1)
        node.fail(DiagnosticCode::BadAttribute, "one axis is needed");
    const ValueRef value = realInput(node, 0);
    if (node.hasFailed()) return;
    outputReal(node, 0,
               node.emit("cumsum", {value},
                         {{"axis", axes[0]},
                          {"exclusive", int64_t{node.flag(0)}},
                          {"reverse", int64_t{node.flag(1)}}}));
}

} // namespace tenon::compiler
