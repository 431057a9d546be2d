// SPDX-License-Identifier: Apache-2.0
// TransformTensorBilinear and Resampler, custom operators of MediaPipe's models: a picture read
// between its pixels, at points that a matrix or another tensor gives.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/import/sampling.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/custom_options.h"

namespace tenon::compiler {
namespace {

/// Which points count, in pixels of an axis: low <= place <= extent + beyond, or without the bounds
/// themselves.
struct Reach
{
    double low, beyond;
    bool isOpen;
};

ValueRef isWithin(TfliteNode& node, const Reach& reach, ValueRef place, int64_t extent)
{
    Formula f(node);
    return f.both(f.compare(reach.isOpen ? "greater" : "greater_equal", place, reach.low),
                  f.compare(reach.isOpen ? "less" : "less_equal", place,
                            static_cast<double>(extent) + reach.beyond));
}

/// Input 0, pictures [N, H, W, C], read between the pixels at points [N, P]: [N, P, C]. Pixels that
/// are outside, and points that do not count, are zeros.
ValueRef sampled(TfliteNode& node, ValueRef x, ValueRef y, const Reach& reach)
{
    const std::vector<int64_t> shape = node.shape(0);
    Sampling sampling(node, node.channelsFirst(0));
    if (node.hasFailed()) return {};
    Formula f(node);
    const ValueRef values = sampling.sum(
        sampling.terms(f.iota(shape[0], 0, 2), {y, x}, SampleMode::Linear, Outside::Zeros));
    const ValueRef counts =
        f.both(isWithin(node, reach, x, shape[2]), isWithin(node, reach, y, shape[1]));
    return f.where(f.expand(counts, 2), values, f.number(0, values));
}

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
    const ValueRef values = sampled(node, x, y, {.low = 0, .beyond = -1, .isOpen = false});
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
    const ValueRef values = sampled(node, x, y, {.low = -1, .beyond = 0, .isOpen = true});
    node.output(0, f.reshape(values, result));
}

} // namespace tenon::compiler
