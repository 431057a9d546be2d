// SPDX-License-Identifier: Apache-2.0
// Finds nn.dilate, with or without nn.pad, in front of a convolution.
#include "compiler/passes/layout/spread_film.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

constexpr size_t kAxes = 3, kFirstAxis = 2;
using Extents = std::vector<int64_t>;

/// The node that makes `value`, if it is of this operator.
const NodeRecord* makerOf(const Module& module, ValueRef value, const OpDef& op)
{
    if (!value.node.isValid()) return nullptr;
    const NodeRecord& node = module.node(value.node);
    return node.kind == NodeKind::Op && isOp(node, op) ? &node : nullptr;
}

/// A convolution of one group that steps by one.
bool isDense(const NodeRecord& node)
{
    const Extents ones(kAxes, 1);
    return isOp(node, convOp) && node.attrs.integer("groups", 1) == 1 &&
           node.attrs.integers("strides", ones) == ones &&
           node.attrs.integers("dilation", ones) == ones;
}

/// Zeros around frames, rows and columns, none around films and channels.
bool isOfZeros(const NodeRecord& pad)
{
    const Extents width = pad.attrs.integers("pad_width", {});
    return pad.attrs.string("pad_mode", "constant") == "constant" &&
           pad.attrs.number("pad_value", 0) == 0 && width.size() == 2 * (kFirstAxis + kAxes) &&
           std::all_of(width.begin(), width.begin() + 4, [](int64_t w) { return w == 0; });
}

} // namespace

std::optional<Attrs> SpreadFilm::planeAttrs() const
{
    Extents strides, padding(4), extra;
    for (size_t i = 0; i < 2; ++i) {
        const TransposedAxis& axis = axes[1 + i];
        if (axis.padding >= axis.kernel) return std::nullopt;
        const int64_t whole = (axis.input - 1) * axis.stride + axis.kernel;
        const int64_t after = whole - axis.padding - axis.output; // below 0: zeros are added
        strides.push_back(axis.stride);
        padding[i] = axis.padding;
        padding[2 + i] = std::max<int64_t>(0, after);
        extra.push_back(std::max<int64_t>(0, -after));
    }
    return Attrs{{"strides", strides}, {"padding", padding}, {"output_padding", extra}};
}

Tensor SpreadFilm::filtersOf(const Tensor& weight, const AxisPhase& phase) const
{
    const Extents& from = weight.shape();
    const int64_t channels = from[1], results = from[0], plane = from[3] * from[4];
    const int64_t last = phase.first + (phase.taps - 1) * phase.stride; // of the kernel unmirrored
    const auto fill = [&](std::span<std::byte> out) {
        std::byte* at = out.data();
        for (int64_t row = 0; row < phase.taps * channels; ++row)
            for (int64_t o = 0; o < results; ++o) {
                const int64_t frame = from[2] - 1 - last + row / channels * phase.stride;
                const int64_t filter = (o * channels + row % channels) * from[2] + frame;
                for (int64_t k = plane; k-- > 0; at += sizeof(float))
                    std::memcpy(at,
                                weight.bytes().data() +
                                    static_cast<size_t>(filter * plane + k) * sizeof(float),
                                sizeof(float));
            }
    };
    return Tensor::make(kFloat32, {phase.taps * channels, results, from[3], from[4]}, fill);
}

std::optional<SpreadFilm> spreadFilmOf(const Module& module, const NodeRecord& node)
{
    if (!isDense(node)) return std::nullopt;
    const Tensor* weight = constantOf(module, node.operands[1]);
    const NodeRecord* pad = makerOf(module, node.operands[0], padOp);
    if (pad && !isOfZeros(*pad)) return std::nullopt;
    const NodeRecord* spread = makerOf(module, (pad ? *pad : node).operands[0], dilateOp);
    if (!spread || !weight || weight->dtype() != kFloat32) return std::nullopt;
    const Extents strides = spread->attrs.integers("strides", {});
    const Shape& shape = module.type(spread->operands[0]).shape;
    if (shape.size() != kFirstAxis + kAxes || strides.size() != shape.size() || strides[0] != 1 ||
        strides[1] != 1)
        return std::nullopt;
    // There may be any number of films.
    const auto sizes = constantShape({shape.begin() + kFirstAxis, shape.end()});
    const Shape& made = node.types[0].shape;
    const auto results = constantShape({made.begin() + kFirstAxis, made.end()});
    if (!sizes || !results) return std::nullopt;
    const Extents own = node.attrs.integers("padding", Extents(2 * kAxes, 0));
    const Extents width = pad ? pad->attrs.integers("pad_width", {}) : Extents(2 * shape.size(), 0);
    SpreadFilm film{spread->operands[0], {}};
    for (size_t i = 0; i < kAxes; ++i) {
        const size_t axis = kFirstAxis + i;
        const int64_t kernel = weight->shape()[axis];
        film.axes[i] = {sizes->at(i), kernel, strides[axis], kernel - 1 - own[i] - width[2 * axis],
                        results->at(i)};
        if (film.axes[i].padding < 0) return std::nullopt;
    }
    return film;
}

} // namespace tenon::compiler
