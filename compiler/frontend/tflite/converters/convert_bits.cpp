// SPDX-License-Identifier: Apache-2.0
// RIGHT_SHIFT, and BITCAST, which joins or cuts elements where their sizes differ.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

DataType wordOf(DataType dtype)
{
    switch (dtype.bytes()) {
    case 1: return kUInt8;
    case 2: return kUInt16;
    case 4: return kUInt32;
    default: return kUInt64;
    }
}

ValueRef readAs(TfliteNode& node, ValueRef value, DataType to)
{
    Formula f(node);
    if (node.hasFailed() || f.dtype(value) == to) return value;
    if (f.dtype(value).isInt() && to.isInt()) return f.cast(value, to); // wraps
    return f.call("reinterpret", {value}, {{"dtype", to}});
}

/// 0, b, 2 b, .. along the last of `rank` axes: where parts of `b` bits begin, the lowest first.
ValueRef places(Formula& f, int64_t parts, int64_t rank, DataType part, DataType whole)
{
    return f.multiply(f.iota(parts, rank - 1, rank, whole), static_cast<double>(part.bytes() * 8));
}

/// Each element as a row of smaller ones.
ValueRef cutUp(TfliteNode& node, ValueRef value, DataType to)
{
    Formula f(node);
    const DataType whole = f.dtype(value), part = wordOf(to);
    const int64_t rank = f.rank(value) + 1;
    const ValueRef shifts = places(f, whole.bytes() / part.bytes(), rank, part, whole);
    return f.cast(f.call("right_shift", {f.expand(value, rank - 1), shifts}), part);
}

/// Each row of elements as one larger one.
ValueRef joined(TfliteNode& node, ValueRef value, DataType to)
{
    Formula f(node);
    const DataType part = f.dtype(value), whole = wordOf(to);
    const std::vector<int64_t> shape = f.shape(value);
    const int64_t parts = whole.bytes() / part.bytes();
    if (node.hasFailed()) return {};
    if (shape.empty() || shape.back() != parts) {
        node.fail(DiagnosticCode::ShapeMismatch,
                  "rows of " + std::to_string(parts) + " elements become one of " + to.text() +
                      " but the shape is (" + join(shape, ", ") + ")");
        return {};
    }
    const auto rank = static_cast<int64_t>(shape.size());
    const ValueRef shifts = places(f, parts, rank, part, whole);
    const ValueRef shifted = f.call("left_shift", {f.cast(value, whole), shifts});
    ValueRef out = f.slice(shifted, rank - 1, 0, 1);
    for (int64_t i = 1; i < parts; ++i)
        out = f.call("bitwise_or", {out, f.slice(shifted, rank - 1, i, i + 1)});
    return f.squeeze(out, {rank - 1});
}

} // namespace

void convertBitcast(TfliteNode& node)
{
    const ValueRef value = node.input(0);
    const std::optional<DataType> to = node.outputType(0);
    if (node.hasFailed()) return;
    const DataType from = node.type(0).dtype;
    if (!to || to->isBool() || from.isBool() || node.narrowType(0)) {
        node.fail(DiagnosticCode::UnsupportedDtype,
                  "the bits of " + from.text() + " cannot be read as " +
                      (to ? to->text() : std::string("what the file declares")));
        return;
    }
    ValueRef words = readAs(node, value, wordOf(from));
    if (from.bytes() > to->bytes()) words = cutUp(node, words, *to);
    if (from.bytes() < to->bytes()) words = joined(node, words, *to);
    if (!node.hasFailed()) node.output(0, readAs(node, words, *to));
}

/// Counts outside of the word are drawn to its ends.
void convertRightShift(TfliteNode& node)
{
    const ValueRef value = node.input(0), count = node.input(1);
    if (node.hasFailed()) return;
    const DataType dtype = node.type(0).dtype;
    if (!dtype.isInt() || dtype.isBool() || node.type(1).dtype != dtype) {
        node.fail(DiagnosticCode::DtypeMismatch, "integers of one type are needed but they are " +
                                                     dtype.text() + " and " +
                                                     node.type(1).dtype.text());
        return;
    }
    Formula f(node);
    const ValueRef inside = f.clip(count, 0, static_cast<double>(dtype.bits - 1));
    node.output(0, f.call("right_shift", {value, inside}));
}

} // namespace tenon::compiler
