// SPDX-License-Identifier: Apache-2.0
// TransformLandmarks and Landmarks2TransformMatrix, custom operators of MediaPipe's models (version
// 2): points of a face or a hand moved by a matrix, and the matrix that cuts out where they lie.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/custom_options.h"

namespace tenon::compiler {
namespace {

/// Fails unless the input is float32 [1, points, least..most].
std::vector<int64_t> pointsShape(TfliteNode& node, int64_t least, int64_t most)
{
    const TensorType type = node.type(0);
    if (node.hasFailed()) return {};
    const std::vector<int64_t> shape = node.shape(0);
    if (!node.hasFailed() && (type.dtype != kFloat32 || shape.size() != 3 || shape[0] != 1 ||
                              shape[1] < 1 || shape[2] < least || shape[2] > most))
        node.fail(DiagnosticCode::ShapeMismatch, "takes points float32 [1, count, " +
                                                     std::to_string(most) + "] but got " +
                                                     type.text());
    return shape;
}

/// (x, y) turned by the angle whose cosine and sine these are.
struct Turned
{
    ValueRef x, y;
};

Turned turned(Formula& f, const Turned& point, ValueRef cosine, ValueRef sine)
{
    return {f.subtract(f.multiply(point.x, cosine), f.multiply(point.y, sine)),
            f.add(f.multiply(point.x, sine), f.multiply(point.y, cosine))};
}

/// The smallest and largest element, [1].
struct Range
{
    ValueRef low, high;

    Range(Formula& f, ValueRef values)
        : low(f.reduce("min", values, {0}, Formula::Keep::Yes))
        , high(f.reduce("max", values, {0}, Formula::Keep::Yes))
    {
    }
    ValueRef middle(Formula& f) const { return f.multiply(f.add(low, high), 0.5); }
    ValueRef size(Formula& f) const { return f.subtract(high, low); }
};

/// Column `axis` of the points named, [count].
ValueRef coordinates(Formula& f, ValueRef points, const std::vector<int64_t>& which, int64_t axis)
{
    const ValueRef column = f.squeeze(f.slice(points, 2, axis, axis + 1), {0, 2});
    return f.take(column, f.integers(which, {static_cast<int64_t>(which.size())}), 0);
}

/// The angle of the line from one point to another, [1], by its cosine and sine: turned by `target`
/// less it, the line has the angle `target`.
Turned angleOff(Formula& f, const Turned& line, double target)
{
    const ValueRef squared = f.add(f.multiply(line.x, line.x), f.multiply(line.y, line.y));
    const ValueRef length = f.apply("sqrt", squared);
    // No line has the angle 0, as the arc tangent of two zeros.
    const ValueRef isLine = f.compare("greater", length, 0);
    const ValueRef cosine = f.where(isLine, f.divide(line.x, length), f.number(1, length));
    const ValueRef sine = f.where(isLine, f.divide(line.y, length), f.number(0, length));
    const ValueRef angle = f.number(target, length);
    return turned(f, {f.apply("cos", angle), f.apply("sin", angle)}, cosine,
                  f.apply("negative", sine));
}

} // namespace

/// Source: mediapipe/util/tflite/operations/transform_landmarks: x and y times the first two rows
/// of a 4 x 4 matrix; a third coordinate stays as it is, and counts as 0 in the products.
void convertTransformLandmarks(TfliteNode& node)
{
    const std::vector<int64_t> shape = pointsShape(node, 2, 3);
    if (node.hasFailed()) return;
    if (node.type(1).dtype != kFloat32 || node.shape(1) != std::vector<int64_t>{1, 4, 4})
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "takes one 4 x 4 matrix of float32 but got " + node.type(1).text());
    Formula f(node);
    const ValueRef points = node.input(0), matrix = f.reshape(node.input(1), {16});
    const ValueRef x = f.slice(points, 2, 0, 1), y = f.slice(points, 2, 1, 2);
    const auto row = [&](int64_t first) {
        const auto factor = [&](int64_t i) { return f.slice(matrix, 0, first + i, first + i + 1); };
        return f.add(f.add(f.multiply(x, factor(0)), f.multiply(y, factor(1))), factor(3));
    };
    std::vector<ValueRef> parts{row(0), row(4)};
    if (shape[2] == 3) parts.push_back(f.slice(points, 2, 2, 3));
    node.output(0, f.concat(parts, 2));
}

/// Source: mediapipe/util/tflite/operations/landmarks_to_transform_matrix: the upright box around
/// some points once the line between two of them is turned to an angle; the matrix takes pixels of
/// a result of the given size to that box, enlarged.
void convertLandmarksToTransformMatrix(TfliteNode& node)
{
    const std::vector<int64_t> shape = pointsShape(node, 3, 3);
    const int64_t count = node.hasFailed() ? 1 : shape[1];
    const int64_t left = wholeOption(node, "left_rotation_idx", 0, count - 1);
    const int64_t right = wholeOption(node, "right_rotation_idx", 0, count - 1);
    const std::vector<int64_t> subset = indicesOption(node, "subset_idxs", count);
    const auto width = static_cast<double>(wholeOption(node, "output_width", 1, 1 << 14));
    const auto height = static_cast<double>(wholeOption(node, "output_height", 1, 1 << 14));
    const double scaleX = positiveOption(node, "scale_x"), scaleY = positiveOption(node, "scale_y");
    const double target = realOption(node, "target_rotation_radians", 0);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef points = node.input(0);
    const auto side = [&](int64_t axis) {
        return f.subtract(coordinates(f, points, {right}, axis),
                          coordinates(f, points, {left}, axis));
    };
    const Turned off = angleOff(f, {side(0), side(1)}, target);
    const Turned box = turned(
        f, {coordinates(f, points, subset, 0), coordinates(f, points, subset, 1)}, off.x, off.y);
    const Range alongX(f, box.x), alongY(f, box.y);
    const ValueRef back = f.apply("negative", off.y);
    const Turned middle = turned(f, {alongX.middle(f), alongY.middle(f)}, off.x, back);
    const ValueRef zoomX = f.multiply(alongX.size(f), scaleX / width);
    const ValueRef zoomY = f.multiply(alongY.size(f), scaleY / height);
    const Turned alongWidth{f.multiply(off.x, zoomX), f.multiply(back, zoomX)};
    const Turned alongHeight{f.multiply(off.y, zoomY), f.multiply(off.x, zoomY)};
    const auto shift = [&](ValueRef to, ValueRef perColumn, ValueRef perRow) {
        return f.subtract(f.subtract(to, f.multiply(perColumn, width / 2)),
                          f.multiply(perRow, height / 2));
    };
    const ValueRef zero = f.numbers({0}, {1}, kFloat32);
    const ValueRef rest = f.numbers({0, 0, 1, 0, 0, 0, 0, 1}, {8}, kFloat32);
    const ValueRef elements = f.concat(
        {alongWidth.x, alongHeight.x, zero, shift(middle.x, alongWidth.x, alongHeight.x),
         alongWidth.y, alongHeight.y, zero, shift(middle.y, alongWidth.y, alongHeight.y), rest},
        0);
    node.output(0, f.reshape(elements, {1, 4, 4}));
}

} // namespace tenon::compiler
