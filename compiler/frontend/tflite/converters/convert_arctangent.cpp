// SPDX-License-Identifier: Apache-2.0
// ATAN2: the angle of a point, by the arc tangent of the smaller side over the larger one.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"

#include <numbers>

namespace tenon::compiler {
namespace {

/// True for what has a minus, which a zero may have too.
ValueRef isNegative(Formula& f, ValueRef value)
{
    const DataType word = f.dtype(value).bits == 64 ? kInt64 : kInt32;
    return f.compare("less", f.call("reinterpret", {value}, {{"dtype", word}}), 0);
}

ValueRef from(Formula& f, double constant, ValueRef value)
{
    return f.subtract(f.number(constant, value), value);
}

} // namespace

void convertAtan2(TfliteNode& node)
{
    const ValueRef y = node.input(0), x = node.input(1);
    if (node.hasFailed()) return;
    const DataType dtype = node.type(0).dtype;
    if ((dtype != kFloat32 && dtype != kFloat64) || node.type(1).dtype != dtype) {
        node.fail(DiagnosticCode::UnsupportedDtype, "takes float32 or float64 but got " +
                                                        dtype.text() + " and " +
                                                        node.type(1).dtype.text());
        return;
    }
    Formula f(node);
    const ValueRef up = f.apply("abs", y), along = f.apply("abs", x);
    const ValueRef isSteep = f.call("greater", {up, along});
    const ValueRef small = f.where(isSteep, along, up), large = f.where(isSteep, up, along);
    // Two zeros make no angle, two infinities that of equal sides.
    const ValueRef equal = f.cast(f.compare("greater", large, 0), dtype);
    const ValueRef ratio = f.where(f.call("equal", {small, large}), equal, f.divide(small, large));
    ValueRef angle = f.apply("atan", ratio);
    angle = f.where(isSteep, from(f, std::numbers::pi / 2, angle), angle);
    angle = f.where(isNegative(f, x), from(f, std::numbers::pi, angle), angle);
    node.output(0, f.where(isNegative(f, y), f.apply("negative", angle), angle));
}

} // namespace tenon::compiler
