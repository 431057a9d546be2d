// SPDX-License-Identifier: Apache-2.0
// RFFT2D and what reads complex numbers, which are floats with an axis of two parts behind.
#include "compiler/frontend/import/fourier.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

constexpr int64_t kLongest = 8192; ///< transform, a product with a matrix

/// Part 0 (real) or 1 (imaginary) of complex numbers.
ValueRef part(TfliteNode& node, int64_t which)
{
    Formula f(node);
    const ValueRef value = node.input(0);
    const int64_t last = node.fileRank(0);
    return f.squeeze(f.slice(value, last, which, which + 1), {last});
}

bool needComplex(TfliteNode& node)
{
    if (node.hasFailed() || node.isComplex(0)) return !node.hasFailed();
    node.fail(DiagnosticCode::UnsupportedDtype,
              "takes complex numbers but got " + node.type(0).text());
    return false;
}

/// `axis` cut to the first `length`, or with zeros behind up to that.
ValueRef ofLength(TfliteNode& node, ValueRef value, int64_t axis, int64_t length)
{
    Formula f(node);
    const Shape shape = node.typeOf(value).shape;
    const std::optional<int64_t> extent = shape[static_cast<size_t>(axis)].constant();
    if (!extent) {
        node.fail(DiagnosticCode::DynamicShape,
                  "the transformed dimension " + std::to_string(axis) + " must be known");
        return value;
    }
    if (*extent > length) return f.slice(value, axis, 0, length);
    std::vector<int64_t> width(2 * shape.size(), 0);
    width[2 * static_cast<size_t>(axis) + 1] = length - *extent;
    return f.pad(value, width, 0);
}

} // namespace

void convertRfft2d(TfliteNode& node)
{
    const TensorType type = node.type(0);
    const std::vector<int64_t> lengths = node.staticIntegers(1);
    if (node.hasFailed()) return;
    const auto rank = static_cast<int64_t>(type.shape.size());
    if (type.dtype != kFloat32 || rank < 2 || lengths.size() != 2 || lengths[0] < 1 ||
        lengths[1] < 1 || lengths[0] > kLongest || lengths[1] > kLongest)
        return node.fail(DiagnosticCode::BadAttribute,
                         "takes float32 of at least two dimensions and two lengths from 1 to " +
                             std::to_string(kLongest) + " but got " + type.text() + " and (" +
                             join(lengths, ", ") + ")");
    Formula f(node);
    ValueRef value = ofLength(node, node.input(0), rank - 2, lengths[0]);
    value = ofLength(node, value, rank - 1, lengths[1]);
    if (node.hasFailed()) return;
    Fourier columns(node, Dim(lengths[1]), Fourier::Direction::Forward, true);
    value = columns.transform(f.expand(value, rank));
    if (lengths[0] > 1) {
        std::vector<int64_t> swapped = counted(0, rank + 1);
        std::swap(swapped[static_cast<size_t>(rank) - 2], swapped[static_cast<size_t>(rank) - 1]);
        Fourier rows(node, Dim(lengths[0]), Fourier::Direction::Forward, false);
        value = f.transpose(rows.transform(f.transpose(value, swapped)), swapped);
    }
    node.output(0, value);
}

void convertComplexAbs(TfliteNode& node)
{
    if (!needComplex(node)) return;
    Formula f(node);
    const ValueRef value = node.input(0);
    const ValueRef squares =
        f.reduce("sum", f.multiply(value, value), {node.fileRank(0)}, Formula::Keep::No);
    node.output(0, f.apply("sqrt", squares));
}

void convertReal(TfliteNode& node)
{
    if (needComplex(node)) node.output(0, part(node, 0));
}

void convertImag(TfliteNode& node)
{
    if (needComplex(node)) node.output(0, part(node, 1));
}

} // namespace tenon::compiler
