// SPDX-License-Identifier: Apache-2.0
// Result q * s + r - padding is the sum over t of tap r + t * s with pixel q - t: as many pixels
// for every r, though the last taps of some are zero.
#include "compiler/passes/transposed_windows.h"

#include "compiler/ops/ops.h"

#include <cstring>

namespace tenon::compiler {
namespace {

WindowAxis windowsOf(const TransposedAxis& axis)
{
    const int64_t first = axis.padding / axis.stride;
    const int64_t last = (axis.output - 1 + axis.padding) / axis.stride;
    const int64_t taps = (axis.kernel + axis.stride - 1) / axis.stride;
    return {.stride = axis.stride,
            .taps = taps,
            .before = taps - 1 - first,
            .after = last - (axis.input - 1),
            .cut = axis.padding % axis.stride,
            .results = axis.output};
}

ValueRef reshaped(PatchWriter& patch, ValueRef value, std::vector<int64_t> shape)
{
    return patch.op(reshapeOp, {value}, {{"newshape", std::move(shape)}});
}

} // namespace

std::vector<int64_t> TransposedWindows::padding() const
{
    return {m_axes[0].before, m_axes[1].before, m_axes[0].after, m_axes[1].after};
}

Tensor TransposedWindows::weightOf(const Tensor& weight) const
{
    const auto& [rows, columns] = m_axes;
    const std::vector<int64_t>& from = weight.shape();
    const int64_t inputs = from[0] / m_groups;
    const std::vector<int64_t> to{m_groups * phases() * from[1], inputs, rows.taps, columns.taps};
    const size_t each = weight.dtype().bytes();
    return Tensor::make(
        weight.dtype(), to, [&, &rows = rows, &columns = columns](std::span<std::byte> out) {
            std::memset(out.data(), 0, out.size());
            const int64_t area = from[2] * from[3];
            for (int64_t plane = 0; plane < from[0] * from[1]; ++plane)
                for (int64_t tap = 0; tap < area; ++tap) {
                    const int64_t y = tap / from[3], x = tap % from[3];
                    const int64_t phase = y % rows.stride * columns.stride + x % columns.stride;
                    const int64_t input = plane / from[1], group = input / inputs;
                    const int64_t result = (group * phases() + phase) * from[1] + plane % from[1];
                    const int64_t filter = result * inputs + input % inputs;
                    const int64_t row = rows.taps - 1 - y / rows.stride;
                    const int64_t column = columns.taps - 1 - x / columns.stride;
                    const int64_t at = (filter * rows.taps + row) * columns.taps + column;
                    std::memcpy(out.data() + static_cast<size_t>(at) * each,
                                weight.bytes().data() +
                                    static_cast<size_t>(plane * area + tap) * each,
                                each);
                }
        });
}

ValueRef TransposedWindows::imageOf(PatchWriter& patch, ValueRef windows, int64_t channels) const
{
    const auto& [rows, columns] = m_axes;
    const int64_t height = rows.count(), width = columns.count();
    ValueRef image =
        reshaped(patch, windows, {-1, rows.stride, columns.stride, channels, height, width});
    image = patch.op(transposeOp, {image}, {{"axes", std::vector<int64_t>{0, 3, 4, 1, 5, 2}}});
    image = reshaped(patch, image,
                     {-1, m_groups * channels, height * rows.stride, width * columns.stride});
    std::vector<int64_t> begin, end;
    bool isWhole = true;
    for (const WindowAxis& axis : m_axes) {
        begin.push_back(axis.cut);
        end.push_back(axis.cut + axis.results);
        isWhole = isWhole && axis.cut == 0 && axis.results == axis.count() * axis.stride;
    }
    if (isWhole) return image;
    return patch.op(stridedSliceOp, {image},
                    {{"axes", std::vector<int64_t>{2, 3}}, {"begin", begin}, {"end", end}});
}

std::optional<TransposedWindows> transposedWindows(const Module& module, const NodeRecord& node,
                                                   const std::vector<int64_t>& weight)
{
    const std::vector<int64_t> ones{1, 1};
    const Shape& shape = module.type(node.operands[0]).shape;
    if (node.attrs.integers("dilation", ones) != ones ||
        !constantShape({shape.begin() + 1, shape.end()}))
        return std::nullopt;
    std::array<WindowAxis, 2> axes;
    for (size_t i = 0; i < axes.size(); ++i) {
        axes[i] = windowsOf(transposedAxis(module, node, weight, i));
        if (axes[i].before < 0 || axes[i].after < 0) return std::nullopt;
    }
    return TransposedWindows(axes, node.attrs.integer("groups", 1));
}

} // namespace tenon::compiler
