// SPDX-License-Identifier: Apache-2.0
// SignalDelay, SignalFramer, SignalStacker, SignalOverlapAdd and CIRCULAR_BUFFER: what remembers
// earlier samples. They start with silence in every run.
#include "compiler/frontend/tflite/converters/converters.h"
#include "compiler/frontend/tflite/converters/quantized.h"
#include "compiler/frontend/tflite/converters/signal.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr int64_t kLongest = 1 << 20;
/// Frames that overlap at one place: each takes a step of its own.
constexpr int64_t kMostOverlaps = 64;

void noteSilence(TfliteNode& node)
{
    node.notes().push_back(
        makeWarning(DiagnosticCode::UnsupportedFeature,
                    "it starts with silence in every run; what TensorFlow Lite Micro keeps of "
                    "earlier ones is not read"));
}

/// The input's shape; fails for one of no axes, of unknown sizes or of another type.
std::vector<int64_t> streamShape(TfliteNode& node, std::initializer_list<DataType> taken)
{
    std::vector<int64_t> shape = node.shape(0);
    if (node.hasFailed()) return {};
    const DataType dtype = node.type(0).dtype;
    const bool isTaken = std::find(taken.begin(), taken.end(), dtype) != taken.end();
    const int64_t count = limitedCount(shape);
    if (isTaken && !shape.empty() && count >= 1 && count <= kMaxMadeUp) return shape;
    node.fail(isTaken ? DiagnosticCode::ShapeMismatch : DiagnosticCode::UnsupportedDtype,
              "cannot take " + node.type(0).text());
    return {};
}

/// Rows of the last axis as [rows, last].
int64_t rowCount(const std::vector<int64_t>& shape)
{
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    return rows;
}

void outputFlag(TfliteNode& node, size_t output, bool isSet)
{
    if (node.outputCount() > output)
        node.output(output, Formula(node).integers({isSet ? 1 : 0}, {}, kBool));
}

} // namespace

void convertSignalDelay(TfliteNode& node)
{
    const int64_t delay = wholeOption(node, "delay_length", 0, kLongest);
    if (node.hasFailed()) return;
    const std::vector<int64_t> shape = streamShape(node, {kInt16});
    if (node.hasFailed()) return;
    noteSilence(node);
    Formula f(node);
    const int64_t length = shape.back(), shift = std::min(delay, length);
    const ValueRef rows = f.reshape(node.input(0), {rowCount(shape), length});
    const ValueRef late = f.slice(f.pad(rows, {0, 0, shift, 0}, 0), 1, 0, length);
    node.output(0, f.reshape(late, shape));
}

void convertSignalFramer(TfliteNode& node)
{
    const int64_t size = wholeOption(node, "frame_size", 1, kLongest);
    const int64_t step = wholeOption(node, "frame_step", 1, kLongest);
    const bool isFilled = wholeOption(node, "prefill", 0, 1) != 0;
    if (node.hasFailed()) return;
    std::vector<int64_t> shape = streamShape(node, {kInt16});
    if (node.hasFailed()) return;
    const int64_t length = shape.back(), rows = rowCount(shape), count = length / step;
    const bool isFit = length % step == 0 && size >= step && count <= kMaxMadeUp / size / rows;
    if (!isFit)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "frames of " + std::to_string(size) + " samples every " +
                             std::to_string(step) + " do not fit " + node.type(0).text());
    noteSilence(node);
    // Without silence to begin with, the first frames are not whole, which the flag says.
    const int64_t late = (size - 1) / step;
    const int64_t silence = isFilled ? size - step : late * step;
    std::vector<int64_t> places;
    for (int64_t frame = 0; frame < count; ++frame)
        for (int64_t i = 0; i < size; ++i)
            places.push_back(std::min(frame * step + i, silence + length - 1));
    Formula f(node);
    const ValueRef all = f.pad(f.reshape(node.input(0), {rows, length}), {0, 0, silence, 0}, 0);
    const ValueRef frames = f.take(all, f.integers(places, {count, size}), 1);
    shape.back() = count;
    shape.push_back(size);
    node.output(0, f.reshape(frames, shape));
    outputFlag(node, 1, isFilled || late == 0);
}

void convertSignalStacker(TfliteNode& node)
{
    const int64_t channels = wholeOption(node, "num_channels", 1, kLongest);
    const int64_t left = wholeOption(node, "stacker_left_context", 0, kLongest);
    const int64_t right = wholeOption(node, "stacker_right_context", 0, kLongest);
    if (node.hasFailed()) return;
    const std::vector<int64_t> shape = streamShape(node, {kInt16});
    if (node.hasFailed()) return;
    const int64_t frames = left + right + 1;
    if (shape != std::vector<int64_t>{channels} || frames > kMaxMadeUp / channels)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         node.type(0).text() + " is no frame of " + std::to_string(channels) +
                             " channels to stack " + std::to_string(frames) + " of");
    noteSilence(node);
    // The first frame stands for those before it; those behind it are still to come.
    Formula f(node);
    const ValueRef known =
        f.broadcast(f.reshape(node.input(0), {1, channels}), {left + 1, channels});
    node.output(0, f.reshape(f.pad(known, {0, right, 0, 0}, 0), {frames * channels}));
    outputFlag(node, 1, right == 0);
}

void convertSignalOverlapAdd(TfliteNode& node)
{
    const int64_t step = wholeOption(node, "frame_step", 1, kLongest);
    if (node.hasFailed()) return;
    std::vector<int64_t> shape = streamShape(node, {kInt16, kFloat32});
    if (node.hasFailed()) return;
    const int64_t size = shape.back(), overlaps = (size + step - 1) / step;
    if (shape.size() < 2 || step > size || overlaps > kMostOverlaps)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         "frames of " + std::to_string(size) + " samples every " +
                             std::to_string(step) + " cannot be added from " + node.type(0).text());
    noteSilence(node);
    shape.pop_back();
    const int64_t count = shape.back(), rows = rowCount(shape);
    const bool isFixed = node.type(0).dtype == kInt16;
    Formula f(node);
    ValueRef frames = f.reshape(node.input(0), {rows, count, size});
    frames = f.pad(frames, {0, 0, 0, 0, 0, overlaps * step - size}, 0);
    if (isFixed) frames = f.cast(frames, kInt32);
    // Each place adds the frames that reach it, from the oldest on; every sum saturates.
    std::optional<ValueRef> sum;
    for (int64_t back = std::min(overlaps, count); back-- > 0;) {
        ValueRef piece = f.slice(frames, 2, back * step, (back + 1) * step);
        piece = f.pad(f.slice(piece, 1, 0, count - back), {0, 0, back, 0, 0, 0}, 0);
        sum = sum ? f.add(*sum, piece) : piece;
        if (isFixed) sum = f.clip(*sum, -32768, 32767);
    }
    shape.back() = count * step;
    node.output(0, f.cast(f.reshape(*sum, shape), node.type(0).dtype));
}

void convertCircularBuffer(TfliteNode& node)
{
    const std::vector<int64_t> shape = streamShape(node, {kInt8});
    const TfliteTensor* result = node.outputTensor(0);
    if (node.hasFailed() || !result) return;
    const bool isFit = shape.size() == 4 && result->shape.size() == 4 && shape[1] == 1 &&
                       result->shape[1] >= 1 && limitedCount(result->shape) <= kMaxMadeUp &&
                       result->shape[0] == shape[0] && result->shape[2] == shape[2] &&
                       result->shape[3] == shape[3];
    if (!isFit)
        return node.fail(DiagnosticCode::ShapeMismatch,
                         node.type(0).text() + " is no entry of its buffer");
    noteSilence(node);
    const double zero =
        result->quantization.zeros.empty() ? 0 : static_cast<double>(result->quantization.zeros[0]);
    Formula f(node);
    node.output(0, f.pad(node.input(0), {0, 0, result->shape[1] - 1, 0, 0, 0, 0, 0}, zero));
}

} // namespace tenon::compiler
