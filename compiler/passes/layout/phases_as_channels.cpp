// SPDX-License-Identifier: Apache-2.0
// Result q * s + r - padding is the sum over t of tap r + t * s with pixel q - t: as many pixels
// for every r, though the last taps of some are zero.
#include "compiler/passes/layout/phases_as_channels.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/transposed_phases.h"

#include <array>
#include <cstring>

namespace tenon::compiler {
namespace {

/// The windows of the image along an axis.
struct WindowAxis
{
    int64_t stride = 1;
    int64_t taps = 1;   ///< of a window
    int64_t before = 0; ///< pixels that the first window begins outside of the image
    int64_t after = 0;
    int64_t cut = 0; ///< results of the first window that the padding takes
    int64_t results = 0;

    int64_t count() const { return (cut + results + stride - 1) / stride; }
};

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

class ChannelsPatch
{
public:
    ChannelsPatch(const Module& module, const GraphFunction& function, const NodeRecord& node)
        : m_module(module)
        , m_node(node)
        , m_patch(module, function.id, "phases-as-channels",
                  "one convolution makes all results of a window of the image", {node.id})
    {
        for (size_t i = 0; i < m_axes.size(); ++i)
            m_axes[i] = windowsOf(transposedAxis(module, node, weight().shape(), i));
    }

    bool isPossible() const
    {
        for (const WindowAxis& axis : m_axes)
            if (axis.before < 0 || axis.after < 0) return false;
        return true;
    }

    Patch take()
    {
        const auto [rows, columns] = m_axes;
        const int64_t results = m_node.types[0].shape[1].value();
        const ValueRef filters =
            m_patch.constant(windowFilters(), m_module.node(m_node.operands[1].node).name);
        const std::vector<int64_t> padding{rows.before, columns.before, rows.after, columns.after};
        const ValueRef windows =
            m_patch.op(conv2dOp, {m_node.operands[0], filters}, {{"padding", padding}});
        const int64_t height = rows.count(), width = columns.count();
        ValueRef image =
            reshaped(windows, {-1, rows.stride, columns.stride, results, height, width});
        image =
            m_patch.op(transposeOp, {image}, {{"axes", std::vector<int64_t>{0, 3, 4, 1, 5, 2}}});
        image = reshaped(image, {-1, results, height * rows.stride, width * columns.stride});
        m_patch.replace({m_node.id, 0}, cropped(image));
        m_patch.erase(m_node.id);
        return m_patch.take();
    }

private:
    const Tensor& weight() const { return *m_module.node(m_node.operands[1].node).constant; }

    ValueRef reshaped(ValueRef value, std::vector<int64_t> shape)
    {
        return m_patch.op(reshapeOp, {value}, {{"newshape", std::move(shape)}});
    }

    ValueRef cropped(ValueRef image)
    {
        std::vector<int64_t> begin, end;
        bool isWhole = true;
        for (const WindowAxis& axis : m_axes) {
            begin.push_back(axis.cut);
            end.push_back(axis.cut + axis.results);
            isWhole = isWhole && axis.cut == 0 && axis.results == axis.count() * axis.stride;
        }
        if (isWhole) return image;
        return m_patch.op(stridedSliceOp, {image},
                          {{"axes", std::vector<int64_t>{2, 3}}, {"begin", begin}, {"end", end}});
    }

    /// [C, O, KH, KW] -> [s * s * O, C, taps, taps]; zeros where a phase has no such tap.
    Tensor windowFilters() const
    {
        const auto [rows, columns] = m_axes;
        const std::vector<int64_t> from = weight().shape();
        const std::vector<int64_t> to{rows.stride * columns.stride * from[1], from[0], rows.taps,
                                      columns.taps};
        return Tensor::make(
            kFloat32, to, [&, rows = rows, columns = columns](std::span<std::byte> out) {
                std::memset(out.data(), 0, out.size());
                const int64_t area = from[2] * from[3];
                for (int64_t plane = 0; plane < from[0] * from[1]; ++plane)
                    for (int64_t tap = 0; tap < area; ++tap) {
                        const int64_t y = tap / from[3], x = tap % from[3];
                        const int64_t phase = y % rows.stride * columns.stride + x % columns.stride;
                        const int64_t result = phase * from[1] + plane % from[1];
                        const int64_t filter = result * from[0] + plane / from[1];
                        const int64_t row = rows.taps - 1 - y / rows.stride;
                        const int64_t column = columns.taps - 1 - x / columns.stride;
                        const int64_t at = (filter * rows.taps + row) * columns.taps + column;
                        std::memcpy(out.data() + static_cast<size_t>(at) * sizeof(float),
                                    weight().bytes().data() +
                                        static_cast<size_t>(plane * area + tap) * sizeof(float),
                                    sizeof(float));
                    }
            });
    }

    const Module& m_module;
    const NodeRecord& m_node;
    PatchWriter m_patch;
    std::array<WindowAxis, 2> m_axes;
};

} // namespace

std::optional<Patch> phasesAsChannels(const Module& module, const GraphFunction& function,
                                      const NodeRecord& node)
{
    ChannelsPatch patch(module, function, node);
    if (!patch.isPossible()) return std::nullopt;
    return patch.take();
}

} // namespace tenon::compiler
