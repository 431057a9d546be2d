// SPDX-License-Identifier: Apache-2.0
// Which taps and pixels each phase takes.
#include "compiler/passes/transposed_phases.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace tenon::compiler {

int64_t TransposedAxis::phases() const { return std::min(stride, output); }

/// Result o takes tap k from pixel (o + padding - k * dilation) / stride where that divides: of
/// every stride / gcd-th tap, pixels that are dilation / gcd apart.
AxisPhase TransposedAxis::phase(int64_t index) const
{
    const int64_t shared = std::gcd(stride, dilation), at = index + padding;
    AxisPhase out{.stride = stride / shared,
                  .dilation = dilation / shared,
                  .results = (output - index + stride - 1) / stride};
    if (at % shared != 0) return out;
    while ((at - out.first * dilation) % stride != 0) ++out.first;
    out.taps = std::max<int64_t>(0, (kernel - out.first + out.stride - 1) / out.stride);
    if (out.taps == 0) return out;
    if (out.taps == 1) out.dilation = 1;
    const int64_t reach = (out.taps - 1) * out.dilation;
    out.before = reach - (at - out.first * dilation) / stride;
    out.after = out.results + reach - out.before - input;
    return out;
}

std::pair<int64_t, int64_t> TransposedAxis::pixelsOf(const AxisPhase& phase) const
{
    if (phase.taps == 0) return {0, 0};
    const int64_t first = std::max<int64_t>(0, -phase.before);
    const int64_t end = input - std::max<int64_t>(0, -phase.after);
    return {first, std::max(first, end)};
}

bool TransposedAxis::hasPhases() const
{
    for (int64_t index = 0; index < stride; ++index) {
        const AxisPhase each = phase(index);
        if (each.taps < 1 || each.results < 1 || each.before < 0 || each.after < 0) return false;
    }
    return true;
}

TransposedAxis transposedAxis(const Module& module, const NodeRecord& node,
                              const std::vector<int64_t>& weight, size_t axis)
{
    return {module.type(node.operands[0]).shape[2 + axis].value(),
            weight[2 + axis],
            node.attrs.integers("strides", {1, 1})[axis],
            node.attrs.integers("padding", {0, 0, 0, 0})[axis],
            node.types[0].shape[2 + axis].value(),
            node.attrs.integers("dilation", {1, 1})[axis]};
}

std::vector<int64_t> TransposedPhase::padding() const
{
    return {rows.before, columns.before, rows.after, columns.after};
}

Tensor TransposedPhase::weightOf(const Tensor& weight, int64_t groups) const
{
    const std::vector<int64_t>& from = weight.shape();
    const std::vector<int64_t> to{from[1] * groups, from[0] / groups, rows.taps, columns.taps};
    const size_t each = weight.dtype().bytes();
    return Tensor::make(weight.dtype(), to, [&](std::span<std::byte> out) {
        std::byte* at = out.data();
        for (int64_t o = 0; o < to[0]; ++o)
            for (int64_t c = 0; c < to[1]; ++c)
                for (int64_t y = to[2]; y-- > 0;)
                    for (int64_t x = to[3]; x-- > 0; at += each) {
                        const int64_t row = rows.first + y * rows.stride;
                        const int64_t column = columns.first + x * columns.stride;
                        const int64_t group = o / from[1];
                        const int64_t plane = (group * to[1] + c) * from[1] + o % from[1];
                        const int64_t source = (plane * from[2] + row) * from[3] + column;
                        std::memcpy(at, weight.bytes().data() + static_cast<size_t>(source) * each,
                                    each);
                    }
    });
}

std::vector<TransposedPhase> phasesOf(const TransposedAxis& rows, const TransposedAxis& columns)
{
    std::vector<TransposedPhase> out;
    for (int64_t y = 0; y < rows.phases(); ++y)
        for (int64_t x = 0; x < columns.phases(); ++x)
            out.push_back({rows.phase(y), columns.phase(x)});
    return out;
}

std::vector<TransposedPhase> phasesOf(const Module& module, const NodeRecord& node,
                                      const std::vector<int64_t>& weight)
{
    const std::vector<int64_t> ones{1, 1};
    const Shape& shape = module.type(node.operands[0]).shape;
    if (node.attrs.integer("groups", 1) != 1 || node.attrs.integers("dilation", ones) != ones ||
        !constantShape({shape.begin() + 1, shape.end()}))
        return {};
    const TransposedAxis rows = transposedAxis(module, node, weight, 0);
    const TransposedAxis columns = transposedAxis(module, node, weight, 1);
    if (!rows.hasPhases() || !columns.hasPhases()) return {};
    return phasesOf(rows, columns);
}

Tensor withOutputsFirst(const Tensor& weight)
{
    std::vector<int64_t> shape = weight.shape();
    const int64_t in = shape[0], out = shape[1];
    const int64_t each = weight.size() / std::max<int64_t>(1, in * out);
    std::swap(shape[0], shape[1]);
    return Tensor::make(weight.dtype(), shape, [&](std::span<std::byte> bytes) {
        for (int64_t o = 0; o < out; ++o)
            for (int64_t i = 0; i < in; ++i)
                for (int64_t at = 0; at < each; ++at)
                    storeInteger(weight.dtype(), bytes, (o * in + i) * each + at,
                                 weight.integer((i * out + o) * each + at));
    });
}

} // namespace tenon::compiler
