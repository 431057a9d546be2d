// SPDX-License-Identifier: Apache-2.0
// SOFTMAX, LOG_SOFTMAX, L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION: along the last axis of
// the file, whichever axis that is here.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"

namespace tenon::compiler {
namespace {

struct Rows
{
    PictureLayout layout;
    ValueRef value;
    int64_t axis = 0;
};

Rows rowsOf(TfliteNode& node)
{
    Rows out{layoutOf(node, {0}), {}, 0};
    const int64_t rank = node.rank(0);
    if (!node.hasFailed() && rank == 0)
        node.fail(DiagnosticCode::ShapeMismatch, "a scalar has no axis to normalize along");
    out.value = realInput(node, 0, out.layout);
    if (!node.hasFailed()) out.axis = axisIn(rank - 1, out.layout);
    return out;
}

} // namespace

void convertSoftmax(TfliteNode& node)
{
    const Rows rows = rowsOf(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef scaled = f.multiply(rows.value, node.number(0, 1));
    outputReal(node, 0, f.call("nn.softmax", {scaled}, {{"axis", rows.axis}}), rows.layout);
}

void convertLogSoftmax(TfliteNode& node)
{
    const Rows rows = rowsOf(node);
    if (node.hasFailed()) return;
    outputReal(node, 0, node.emit("nn.log_softmax", {rows.value}, {{"axis", rows.axis}}),
               rows.layout);
}

void convertL2Normalization(TfliteNode& node)
{
    const Rows rows = rowsOf(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef squares =
        f.reduce("sum", f.multiply(rows.value, rows.value), {rows.axis}, Formula::Keep::Yes);
    const ValueRef length = f.call("maximum", {f.apply("sqrt", squares), f.number(1e-6, squares)});
    outputReal(node, 0, f.divide(rows.value, length), rows.layout);
}

void convertLocalResponseNormalization(TfliteNode& node)
{
    const Rows rows = rowsOf(node);
    if (node.hasFailed()) return;
    Formula f(node);
    const int64_t radius = node.integer(0);
    const std::vector<int64_t> shape = f.shape(rows.value);
    if (radius < 0 || radius > 1024)
        node.fail(DiagnosticCode::BadAttribute,
                  "a radius of " + std::to_string(radius) + " is not usable");
    if (node.hasFailed()) return;
    std::vector<int64_t> width(2 * shape.size(), 0);
    const auto at = static_cast<size_t>(rows.axis);
    width[2 * at] = width[2 * at + 1] = radius;
    const ValueRef padded = f.pad(f.multiply(rows.value, rows.value), width, 0);
    ValueRef sum = f.slice(padded, rows.axis, 0, shape[at]);
    for (int64_t i = 1; i <= 2 * radius; ++i)
        sum = f.add(sum, f.slice(padded, rows.axis, i, shape[at] + i));
    const ValueRef base = f.add(f.multiply(sum, node.number(2)), node.number(1));
    const ValueRef power = f.call("power", {base, f.number(-node.number(3), base)});
    outputReal(node, 0, f.multiply(rows.value, power), rows.layout);
}

} // namespace tenon::compiler
