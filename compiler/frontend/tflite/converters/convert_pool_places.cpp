// SPDX-License-Identifier: Apache-2.0
// MaxPoolingWithArgmax2D and MaxUnpooling2D, custom operators of MediaPipe's models: a pooling that
// says where in its window each maximum was, and its way back.
#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/custom_options.h"
#include "compiler/frontend/tflite/converters/picture_window.h"
#include "compiler/frontend/tflite/converters/quantized.h"

#include <limits>

namespace tenon::compiler {
namespace {

/// TfLitePoolParams: padding (1 is SAME, 2 VALID), stride and window as width and height,
/// activation.
struct PoolOptions
{
    WindowSizes sizes;
    FusedActivation activation = FusedActivation::None;
};

PoolOptions poolOptions(TfliteNode& node)
{
    const std::vector<int64_t> numbers = structOptions(node, 6);
    if (!node.hasFailed() && (numbers[0] < 1 || numbers[0] > 2 || numbers[5] < 0 || numbers[5] > 3))
        node.fail(DiagnosticCode::BadAttribute, "its padding " + std::to_string(numbers[0]) +
                                                    " or its activation " +
                                                    std::to_string(numbers[5]) + " is not known");
    return {.sizes = {.kernel = {numbers[4], numbers[3]},
                      .strides = {numbers[2], numbers[1]},
                      .isSame = numbers[0] == 1},
            .activation = static_cast<FusedActivation>(numbers[5])};
}

} // namespace

/// Source: mediapipe/util/tflite/operations/max_pool_argmax. The places are floats, a tenth above
/// row * width + column in the window.
void convertMaxPoolPlaces(TfliteNode& node)
{
    const PoolOptions options = poolOptions(node);
    const PictureWindow window = windowOf(node, options.sizes, 0);
    if (node.hasFailed()) return;
    const std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return;
    Formula f(node);
    const ValueRef data = f.pad(
        node.input(0),
        {0, 0, window.padding[0], window.padding[2], window.padding[1], window.padding[3], 0, 0},
        static_cast<double>(std::numeric_limits<float>::lowest()));
    std::vector<ValueRef> taps;
    std::vector<int64_t> extents;
    for (size_t i = 0; i < 2; ++i)
        extents.push_back(
            (shape[1 + i] + window.padding[i] + window.padding[2 + i] - window.kernel[i]) /
                window.strides[i] +
            1);
    if (extents[0] < 1 || extents[1] < 1 || window.kernel[0] * window.kernel[1] > 1024)
        return node.fail(DiagnosticCode::BadAttribute, "its window does not fit the input");
    for (int64_t row = 0; row < window.kernel[0]; ++row)
        for (int64_t column = 0; column < window.kernel[1]; ++column) {
            ValueRef tap = data;
            for (const auto& [axis, first] : {std::pair<size_t, int64_t>{0, row}, {1, column}}) {
                const auto dimension = static_cast<int64_t>(axis) + 1;
                const int64_t reach = (extents[axis] - 1) * window.strides[axis] + 1;
                tap = f.slice(tap, dimension, first, first + reach);
                tap = f.every(tap, dimension, 0, window.strides[axis]);
            }
            taps.push_back(f.expand(tap, 0));
        }
    const ValueRef all = f.concat(taps, 0);
    const ValueRef best =
        f.call("argmax", {all}, {{"axis", std::vector<int64_t>{0}}, {"keepdims", int64_t{0}}});
    node.output(0,
                activated(node, f.reduce("max", all, {0}, Formula::Keep::No), options.activation));
    node.output(1, f.add(f.cast(best, kFloat32), 0.1));
}

/// Source: mediapipe/util/tflite/operations/max_unpooling, for windows that do not overlap.
void convertMaxUnpool(TfliteNode& node)
{
    const PoolOptions options = poolOptions(node);
    const std::vector<int64_t> shape = node.shape(0), places = node.shape(1);
    if (node.hasFailed()) return;
    const std::vector<int64_t>& kernel = options.sizes.kernel;
    if (shape.size() != 4 || places != shape || node.type(0).dtype != kFloat32 ||
        node.type(1).dtype != kFloat32)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "takes pictures and places of one shape, float32, but got " +
                             node.type(0).text() + " and " + node.type(1).text());
    if (kernel != options.sizes.strides || kernel[0] < 1 || kernel[1] < 1 || kernel[0] > 1024 ||
        kernel[1] > 1024)
        return node.fail(DiagnosticCode::UnsupportedFeature,
                         "is supported for windows from 1 to 1,024 whose strides are as large");
    Formula f(node);
    const auto spread = [&](ValueRef value) {
        return f.reshape(value, {shape[0], shape[1], 1, shape[2], 1, shape[3]});
    };
    const ValueRef place = f.cast(spread(node.input(1)), kInt64);
    const ValueRef own =
        f.reshape(f.iota(kernel[0] * kernel[1], 0, 1), {1, 1, kernel[0], 1, kernel[1], 1});
    const ValueRef values = spread(node.input(0));
    const ValueRef result = f.where(f.call("equal", {place, own}), values, f.number(0, values));
    node.output(
        0, f.reshape(result, {shape[0], shape[1] * kernel[0], shape[2] * kernel[1], shape[3]}));
}

} // namespace tenon::compiler
