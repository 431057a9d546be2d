// SPDX-License-Identifier: Apache-2.0
// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "compiler/frontend/tflite/converters/quantized.h"

namespace tenon::compiler {
namespace {

constexpr int kActivation = 5;

PictureWindow poolWindow(TfliteNode& node)
{
    return windowOf(node, {.padding = 0, .strideW = 1, .strideH = 2}, 0,
                    {node.integer(4), node.integer(3)});
}

Attrs poolAttrs(const PictureWindow& window)
{
    Attrs attrs = window.attrs();
    attrs.set("pool_size", window.kernel);
    attrs.set("ceil_mode", int64_t{0});
    return attrs;
}

/// Integers within the limits of their type and the activation.
ValueRef limited(TfliteNode& node, ValueRef value, FusedActivation activation)
{
    const Attrs limits = integerLimits(node, 0, activation);
    if (node.hasFailed() || (!limits.has("a_min") && !limits.has("a_max"))) return value;
    const DataType dtype = *node.outputType(0);
    const double bottom =
        dtype.isSigned() ? -static_cast<double>(int64_t{1} << (dtype.bits - 1)) : 0;
    return Formula(node).clip(
        value, static_cast<double>(limits.integer("a_min", static_cast<int64_t>(bottom))),
        static_cast<double>(limits.integer("a_max", (int64_t{1} << dtype.bits) - 1)));
}

/// Rounded to whole numbers, halves away from zero.
ValueRef roundedAway(TfliteNode& node, ValueRef value)
{
    Formula f(node);
    const ValueRef up = f.apply("floor", f.add(value, 0.5));
    const ValueRef down = f.apply("ceil", f.subtract(value, 0.5));
    return f.where(f.compare("greater", value, 0), up, down);
}

} // namespace

void convertAveragePool(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, kActivation);
    const PictureWindow window = poolWindow(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const bool isInteger = node.type(0).dtype.isInt();
    // Integers are averaged as they are, zero point included: sums of them are exact in binary32.
    const ValueRef data = f.cast(node.channelsFirst(0), kFloat32);
    ValueRef out = f.call("nn.avg_pool2d", {data}, poolAttrs(window));
    if (isInteger) {
        out = f.cast(roundedAway(node, out), node.type(0).dtype);
        out = limited(node, out, activation);
    } else {
        out = activated(node, out, activation);
    }
    node.outputChannelsFirst(0, out);
}

void convertMaxPool(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, kActivation);
    const PictureWindow window = poolWindow(node);
    if (node.hasFailed()) return;
    const ValueRef out =
        Formula(node).call("nn.max_pool2d", {node.channelsFirst(0)}, poolAttrs(window));
    if (node.hasFailed()) return;
    node.outputChannelsFirst(0, node.type(0).dtype.isInt() ? limited(node, out, activation)
                                                           : activated(node, out, activation));
}

void convertL2Pool(TfliteNode& node)
{
    const FusedActivation activation = activationAt(node, kActivation);
    const PictureWindow window = poolWindow(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef data = realInput(node, 0, PictureLayout::ChannelsFirst);
    const ValueRef mean = f.call("nn.avg_pool2d", {f.multiply(data, data)}, poolAttrs(window));
    outputReal(node, 0, f.apply("sqrt", mean), PictureLayout::ChannelsFirst, activation);
}

} // namespace tenon::compiler
