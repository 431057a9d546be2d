// SPDX-License-Identifier: Apache-2.0
// Begins, ends and steps of a slice, made whole and non-negative.
#include "compiler/passes/slice_ranges.h"

#include "compiler/ops/ops.h"

#include <algorithm>

namespace tenon::compiler {

std::optional<std::vector<SliceRange>> slicesOf(const Module& module, const NodeRecord& node)
{
    if (!isOp(node, stridedSliceOp)) return std::nullopt;
    const auto shape = knownShape(module, node.operands[0]);
    const auto result = knownShape(module, {node.id, 0});
    if (!shape || !result) return std::nullopt;
    const std::vector<int64_t> begin = node.attrs.integers("begin", {});
    const std::vector<int64_t> strides = node.attrs.integers("strides", {});
    const std::vector<int64_t> axes = node.attrs.integers("axes", {});
    std::vector<SliceRange> ranges;
    for (const int64_t extent : *shape) ranges.push_back({0, 1, extent});
    for (size_t i = 0; i < begin.size(); ++i) {
        const int64_t axis = axes.empty() ? static_cast<int64_t>(i) : axes[i];
        const auto at = static_cast<size_t>(normalizedAxis(axis, shape->size()));
        const int64_t first = begin[i] < 0 ? begin[i] + shape->at(at) : begin[i];
        const int64_t stride = strides.empty() ? 1 : strides[i];
        if (stride < 1) return std::nullopt;
        ranges[at] = {std::clamp<int64_t>(first, 0, shape->at(at)), stride, result->at(at)};
    }
    return ranges;
}

Attrs channelSliceAttrs(int64_t begin, int64_t end)
{
    return {{"axes", std::vector<int64_t>{1}},
            {"begin", std::vector<int64_t>{begin}},
            {"end", std::vector<int64_t>{end}}};
}

std::optional<int64_t> firstOfPiece(const Module& module, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || node.operands.size() != 1) return std::nullopt;
    const auto ranges = slicesOf(module, node);
    if (!ranges) return std::nullopt;
    const std::vector<int64_t> shape = *knownShape(module, node.operands[0]);
    int64_t first = 0, inner = 1;
    bool isWhole = true; // all dimensions so far
    for (size_t d = shape.size(); d-- > 0; inner *= shape[d]) {
        const SliceRange& range = (*ranges)[d];
        if (!isWhole && range.extent != 1) return std::nullopt;
        if (range.stride != 1 && range.extent > 1) return std::nullopt;
        isWhole = isWhole && range.extent == shape[d];
        first += range.begin * inner;
    }
    return first;
}

std::optional<SliceRange> channelSliceOf(const Module& module, const NodeRecord& node)
{
    constexpr size_t kChannelAxis = 1;
    if (node.kind != NodeKind::Op || !isOp(node, stridedSliceOp) || node.operands.size() != 1)
        return std::nullopt;
    const Shape &whole = module.type(node.operands[0]).shape, &part = node.types[0].shape;
    const std::vector<int64_t> begin = node.attrs.integers("begin", {}),
                               axes = node.attrs.integers("axes", {}),
                               strides = node.attrs.integers("strides", {});
    const bool isOfChannels = whole.size() > 2 && axes.size() == 1 && begin.size() == 1 &&
                              normalizedAxis(axes[0], whole.size()) == kChannelAxis;
    if (!isOfChannels || (!strides.empty() && strides[0] != 1) || !whole[kChannelAxis].isConst() ||
        !part[kChannelAxis].isConst())
        return std::nullopt;
    const int64_t channels = whole[kChannelAxis].value();
    const int64_t first = begin[0] < 0 ? begin[0] + channels : begin[0];
    return SliceRange{std::clamp<int64_t>(first, 0, channels), 1, part[kChannelAxis].value()};
}

} // namespace tenon::compiler
