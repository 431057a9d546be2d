// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools and resizing in doubles. Images have two axes; one more or less is lifted.
#include "tests/fuzz/quantized/exact_operators.h"

#include <algorithm>
#include <cmath>

namespace tenon::test {

using tenon_onnx::NodeProto;

namespace {

/// What a window does along rows and columns.
struct Sight
{
    Dims kernel, strides, dilation;
    Dims before, after; ///< padding

    Sight(const NodeProto& node, const Dims& sizes)
        : kernel(lifted(sizes, 1))
        , strides(lifted(intsOf(node, "strides", Dims(sizes.size(), 1)), 1))
        , dilation(lifted(intsOf(node, "dilations", Dims(sizes.size(), 1)), 1))
    {
        const Dims pads = intsOf(node, "pads", Dims(2 * sizes.size(), 0));
        const auto middle = pads.begin() + static_cast<int64_t>(sizes.size());
        before = lifted({pads.begin(), middle}, 0);
        after = lifted({middle, pads.end()}, 0);
    }

    static Dims lifted(Dims sizes, int64_t with)
    {
        if (sizes.size() == 1) sizes.insert(sizes.begin(), with);
        return sizes;
    }
    int64_t outputs(size_t axis, int64_t size) const
    {
        const int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
        return (size + before[axis] + after[axis] - reach) / strides[axis] + 1;
    }
    int64_t inputAt(size_t axis, int64_t output, int64_t element) const
    {
        return output * strides[axis] - before[axis] + element * dilation[axis];
    }
};

/// Rank 3 as rank 4 with one row.
Array lifted(const Array& array)
{
    Array out = array;
    if (out.shape.size() == 3) out.shape.insert(out.shape.begin() + 2, 1);
    return out;
}

double pixel(const Array& x, int64_t plane, int64_t row, int64_t column)
{
    return x.data[static_cast<size_t>((plane * x.shape[2] + row) * x.shape[3] + column)];
}

bool isInside(const Array& x, int64_t row, int64_t column)
{
    return row >= 0 && row < x.shape[2] && column >= 0 && column < x.shape[3];
}

/// Calls `each(row, column, element)` for what lies inside the image.
template <typename Each>
void lookThrough(const Array& x, const Sight& sight, const Dims& output, const Each& each)
{
    for (int64_t ky = 0; ky < sight.kernel[0]; ++ky)
        for (int64_t kx = 0; kx < sight.kernel[1]; ++kx) {
            const int64_t row = sight.inputAt(0, output[2], ky);
            const int64_t column = sight.inputAt(1, output[3], kx);
            if (isInside(x, row, column)) each(row, column, ky * sight.kernel[1] + kx);
        }
}

Array convolution(const NodeProto& node, const Operands& in)
{
    const Array x = lifted(*in[0]), w = lifted(*in[1]);
    const Sight sight(node, {in[1]->shape.begin() + 2, in[1]->shape.end()});
    const int64_t groups = intOf(node, "group", 1), filters = w.shape[0], channels = w.shape[1];
    const int64_t window = w.shape[2] * w.shape[3];
    Array out{{x.shape[0], filters, sight.outputs(0, x.shape[2]), sight.outputs(1, x.shape[3])},
              {}};
    forEachIndex(out.shape, [&](const Dims& index) {
        double sum = in.size() > 2 && in[2] ? in[2]->data[static_cast<size_t>(index[1])] : 0;
        const int64_t first = index[1] / (filters / groups) * channels;
        for (int64_t c = 0; c < channels; ++c)
            lookThrough(x, sight, index, [&](int64_t row, int64_t column, int64_t element) {
                sum += pixel(x, index[0] * x.shape[1] + first + c, row, column) *
                       w.data[static_cast<size_t>((index[1] * channels + c) * window + element)];
            });
        out.data.push_back(sum);
    });
    if (in[0]->shape.size() == 3) out.shape.erase(out.shape.begin() + 2);
    return out;
}

/// One group; [C, filters, KH, KW].
Array transposedConvolution(const NodeProto& node, const Operands& in)
{
    const Array& x = *in[0];
    const Array& w = *in[1];
    const Sight sight(node, {w.shape[2], w.shape[3]});
    const auto size = [&](size_t axis) {
        return (x.shape[2 + axis] - 1) * sight.strides[axis] + sight.kernel[axis] -
               sight.before[axis] - sight.after[axis];
    };
    const int64_t filters = w.shape[1], window = w.shape[2] * w.shape[3];
    Array out = arrayOf({x.shape[0], filters, size(0), size(1)}, [](int64_t) { return 0.0; });
    const int64_t area = out.shape[2] * out.shape[3];
    if (in.size() > 2 && in[2])
        for (size_t i = 0; i < out.data.size(); ++i)
            out.data[i] = in[2]->data[i / static_cast<size_t>(area) % static_cast<size_t>(filters)];
    forEachIndex(x.shape, [&](const Dims& index) {
        const double value = x.data[static_cast<size_t>(flatIndex(x.shape, index))];
        for (int64_t f = 0; f < filters; ++f)
            for (int64_t k = 0; k < window; ++k) {
                const Dims at{index[0], f,
                              index[2] * sight.strides[0] - sight.before[0] + k / w.shape[3],
                              index[3] * sight.strides[1] - sight.before[1] + k % w.shape[3]};
                if (!isInside(out, at[2], at[3])) continue;
                const int64_t weight = (index[1] * filters + f) * window + k;
                out.data[static_cast<size_t>(flatIndex(out.shape, at))] +=
                    value * w.data[static_cast<size_t>(weight)];
            }
    });
    return out;
}

Array pool(const NodeProto& node, const Array& x, const Sight& sight, bool isMean)
{
    const bool countsPadding = intOf(node, "count_include_pad", 0) != 0;
    const auto whole = static_cast<double>(sight.kernel[0] * sight.kernel[1]);
    Array out{{x.shape[0], x.shape[1], sight.outputs(0, x.shape[2]), sight.outputs(1, x.shape[3])},
              {}};
    forEachIndex(out.shape, [&](const Dims& index) {
        double sum = 0, most = -HUGE_VAL, seen = 0;
        lookThrough(x, sight, index, [&](int64_t row, int64_t column, int64_t) {
            const double value = pixel(x, index[0] * x.shape[1] + index[1], row, column);
            sum += value;
            most = std::max(most, value);
            ++seen;
        });
        out.data.push_back(isMean ? sum / (countsPadding ? whole : seen) : most);
    });
    return out;
}

/// Twice, three times... as many rows and columns.
Array resized(const NodeProto& node, const Operands& in)
{
    const Array& x = *in[0];
    const double factorY = in[2]->data[2], factorX = in[2]->data[3];
    const bool isNearest = textOf(node, "mode") == "nearest";
    Array out{{x.shape[0], x.shape[1],
               static_cast<int64_t>(static_cast<double>(x.shape[2]) * factorY),
               static_cast<int64_t>(static_cast<double>(x.shape[3]) * factorX)},
              {}};
    forEachIndex(out.shape, [&](const Dims& index) {
        const int64_t plane = index[0] * x.shape[1] + index[1];
        const auto y = static_cast<double>(index[2]), at = static_cast<double>(index[3]);
        if (isNearest) {
            out.data.push_back(pixel(x, plane, static_cast<int64_t>(y / factorY),
                                     static_cast<int64_t>(at / factorX)));
            return;
        }
        const auto clamped = [](double v, int64_t size) {
            return std::clamp(v, 0.0, static_cast<double>(size - 1));
        };
        const double row = clamped((y + 0.5) / factorY - 0.5, x.shape[2]);
        const double column = clamped((at + 0.5) / factorX - 0.5, x.shape[3]);
        const auto top = static_cast<int64_t>(row), left = static_cast<int64_t>(column);
        const int64_t bottom = std::min(top + 1, x.shape[2] - 1);
        const int64_t right = std::min(left + 1, x.shape[3] - 1);
        const double down = row - static_cast<double>(top);
        const double over = column - static_cast<double>(left);
        const auto mixed = [&](int64_t line) {
            return pixel(x, plane, line, left) * (1 - over) + pixel(x, plane, line, right) * over;
        };
        out.data.push_back(mixed(top) * (1 - down) + mixed(bottom) * down);
    });
    return out;
}

} // namespace

bool evaluateWindow(const NodeProto& node, const Operands& in, Array& out)
{
    const std::string& op = node.op_type();
    if (op == "Conv") {
        out = convolution(node, in);
    } else if (op == "ConvTranspose") {
        out = transposedConvolution(node, in);
    } else if (op == "MaxPool" || op == "AveragePool") {
        const Sight sight(node, intsOf(node, "kernel_shape", {}));
        out = pool(node, *in[0], sight, op == "AveragePool");
    } else if (op == "GlobalMaxPool" || op == "GlobalAveragePool") {
        const Sight sight(NodeProto(), {in[0]->shape[2], in[0]->shape[3]});
        out = pool(node, *in[0], sight, op == "GlobalAveragePool");
    } else if (op == "Resize") {
        out = resized(node, in);
    } else {
        return false;
    }
    return true;
}

} // namespace tenon::test
