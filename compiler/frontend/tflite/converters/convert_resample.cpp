// SPDX-License-Identifier: Apache-2.0
// TransformTensorBilinear and Resampler, custom operators of MediaPipe's models: a picture read
// between its pixels, at points that a matrix or another tensor gives.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/custom_options.h"

namespace tenon::compiler {
namespace {

/// The pixels of pictures [N, H, W, C] around points [N, P] in pixels, each weighed by how near it
/// is; those outside count as zeros.
class Bilinear
{
public:
    Bilinear(TfliteNode& node, ValueRef pictures)
        : f(node)
        , m_shape(f.shape(pictures))
    {
        if (node.hasFailed()) return;
        m_pixels = f.reshape(pictures, {m_shape[0] * m_shape[1] * m_shape[2], m_shape[3]});
        const ValueRef pictureOf = f.iota(m_shape[0], 0, 2);
        m_first = f.call("multiply", {pictureOf, f.integers({m_shape[1] * m_shape[2]}, {})});
    }

    /// [N, P, C].
    ValueRef at(ValueRef x, ValueRef y)
    {
        const ValueRef left = f.apply("floor", x), top = f.apply("floor", y);
        const ValueRef right = f.add(left, 1), bottom = f.add(top, 1);
        const ValueRef fromLeft = f.subtract(x, left), fromTop = f.subtract(y, top);
        const ValueRef upper = between(pixel(left, top), pixel(right, top), fromLeft);
        const ValueRef lower = between(pixel(left, bottom), pixel(right, bottom), fromLeft);
        return between(upper, lower, fromTop);
    }

    /// True where low <= x <= width + beyond, and likewise y; without the bounds themselves when
    /// `isOpen`.
    ValueRef within(ValueRef x, ValueRef y, double low, double beyond, bool isOpen)
    {
        const char* above = isOpen ? "greater" : "greater_equal";
        const char* below = isOpen ? "less" : "less_equal";
        const auto inAxis = [&](ValueRef value, int64_t extent) {
            return f.both(f.compare(above, value, low),
                          f.compare(below, value, static_cast<double>(extent) + beyond));
        };
        return f.both(inAxis(x, m_shape[2]), inAxis(y, m_shape[1]));
    }

    /// `values` [N, P, C] where `holds` [N, P], else zeros.
    ValueRef where(ValueRef holds, ValueRef values)
    {
        return f.where(f.expand(holds, 2), values, f.number(0, values));
    }

private:
    ValueRef pixel(ValueRef x, ValueRef y)
    {
        const ValueRef column = inside(x, m_shape[2]), row = inside(y, m_shape[1]);
        const ValueRef width = f.integers({m_shape[2]}, {});
        const ValueRef index = f.add(f.add(m_first, f.multiply(row, width)), column);
        return where(within(x, y, 0, -1, false), f.take(m_pixels, index, 0));
    }

    ValueRef inside(ValueRef place, int64_t extent)
    {
        return f.cast(f.clip(place, 0, static_cast<double>(extent - 1)), kInt64);
    }

    ValueRef between(ValueRef a, ValueRef b, ValueRef part)
    {
        const ValueRef rest = f.subtract(f.number(1, part), part);
        return f.add(f.multiply(a, f.expand(rest, 2)), f.multiply(b, f.expand(part, 2)));
    }

    Formula f;
    std::vector<int64_t> m_shape;
    ValueRef m_pixels, m_first; ///< [N * H * W, C]; the index of each picture's first, [N, 1]
};

bool needFloats(TfliteNode& node, size_t input, size_t rank)
{
    const TensorType type = node.type(input);
    if (node.hasFailed()) return false;
    if (type.dtype == kFloat32 && type.shape.size() == rank) return true;
    node.fail(DiagnosticCode::ShapeMismatch, "input " + std::to_string(input) +
                                                 " is to be float32 of rank " +
                                                 std::to_string(rank) + " but is " + type.text());
    return false;
}

} // namespace

/// Source: mediapipe/util/tflite/operations/transform_tensor_bilinear (version 2): a point of the
/// result, half a pixel in, times the first two rows of a 4 x 4 matrix is a point of the picture.
void convertTransformTensorBilinear(TfliteNode& node)
{
    const int64_t height = wholeOption(node, "output_height", 1, 1 << 14);
    const int64_t width = wholeOption(node, "output_width", 1, 1 << 14);
    const std::vector<int64_t> shape = node.shape(0);
    if (!needFloats(node, 0, 4) || !needFloats(node, 1, 3)) return;
    if (shape[0] != 1 || node.shape(1) != std::vector<int64_t>{1, 4, 4})
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "takes one picture and one 4 x 4 matrix but got " + node.type(0).text() +
                             " and " + node.type(1).text());
    Formula f(node);
    const ValueRef matrix = f.reshape(node.input(1), {16});
    const ValueRef column = f.iota(width, 1, 2, kFloat32), row = f.iota(height, 0, 2, kFloat32);
    const auto transformed = [&](int64_t first) {
        const auto factor = [&](int64_t i) { return f.slice(matrix, 0, first + i, first + i + 1); };
        const ValueRef halves = f.multiply(f.add(factor(0), factor(1)), 0.5);
        const ValueRef shift = f.subtract(f.add(factor(3), halves), 0.5);
        const ValueRef turned = f.add(f.multiply(column, factor(0)), f.multiply(row, factor(1)));
        return f.reshape(f.add(turned, shift), {1, height * width});
    };
    const ValueRef x = transformed(0), y = transformed(4);
    Bilinear picture(node, node.input(0));
    const ValueRef values = picture.where(picture.within(x, y, 0, -1, false), picture.at(x, y));
    node.output(0, f.reshape(values, {1, height, width, shape[3]}));
}

/// Source: Resampler of TensorFlow Addons, as mediapipe/util/tflite/operations/resampler has it:
/// points [N, .., 2] are (x, y) in pixels of pictures [N, H, W, C].
void convertResampler(TfliteNode& node)
{
    const std::vector<int64_t> shape = node.shape(0), points = node.shape(1);
    if (node.hasFailed() || !needFloats(node, 0, 4) || !needFloats(node, 1, points.size())) return;
    if (points.size() < 2 || points.back() != 2 || points[0] != shape[0])
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "takes pictures [N, H, W, C] and points [N, .., 2] but got " +
                             node.type(0).text() + " and " + node.type(1).text());
    Formula f(node);
    std::vector<int64_t> result(points.begin(), points.end() - 1);
    int64_t each = 1;
    for (size_t i = 1; i < result.size(); ++i) each *= result[i];
    result.push_back(shape[3]);
    const ValueRef pairs = f.reshape(node.input(1), {shape[0], each, 2});
    const ValueRef x = f.squeeze(f.slice(pairs, 2, 0, 1), {2});
    const ValueRef y = f.squeeze(f.slice(pairs, 2, 1, 2), {2});
    Bilinear picture(node, node.input(0));
    const ValueRef values = picture.where(picture.within(x, y, -1, 0, true), picture.at(x, y));
    node.output(0, f.reshape(values, result));
}

} // namespace tenon::compiler
