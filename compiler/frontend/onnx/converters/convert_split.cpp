// SPDX-License-Identifier: Apache-2.0
// Split: parts of stated or equal sizes along one axis.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/dynamic.h"
#include "core/base/text.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {
namespace {

/// The parts of a dimension that is known by name only: as stated, or equal but for the last.
std::vector<Dim> partsOf(OnnxNode& node, int64_t axis)
{
    if (node.has(1)) return node.boundDims(1);
    const std::vector<int64_t> stated = node.integers("split", {});
    if (!stated.empty()) return {stated.begin(), stated.end()};
    const auto count = static_cast<int64_t>(node.outputCount());
    const Dim extent = node.type(0).shape[static_cast<size_t>(axis)];
    const Dim part = floorDiv(extent + Dim(count - 1), Dim(count));
    std::vector<Dim> out(static_cast<size_t>(count), part);
    out.back() = extent - part * Dim(count - 1);
    return out;
}

/// Each part has a kernel of its own, for where it lies. Of many parts, groups are cut out first,
/// so that parts of different groups share one.
std::vector<ValueRef> splitInto(OnnxNode& node, ValueRef value, const std::vector<int64_t>& sizes,
                                int64_t axis)
{
    constexpr size_t kMostParts = 48;
    const size_t perGroup = sizes.size() <= kMostParts ? 1 : kMostParts;
    std::vector<int64_t> groups;
    for (size_t i = 0; i < sizes.size(); i += perGroup) {
        const auto first = sizes.begin() + static_cast<std::ptrdiff_t>(i);
        const size_t count = std::min(perGroup, sizes.size() - i);
        groups.push_back(
            std::accumulate(first, first + static_cast<std::ptrdiff_t>(count), int64_t{0}));
    }
    std::vector<ValueRef> parts{value};
    if (groups.size() > kMostParts) {
        parts = splitInto(node, value, groups, axis);
    } else if (groups.size() > 1) {
        std::vector<int64_t> indices;
        for (size_t i = 0; i + 1 < groups.size(); ++i)
            indices.push_back((indices.empty() ? 0 : indices.back()) + groups[i]);
        const ValueRef out = node.emit("split", {value}, {{"indices", indices}, {"axis", axis}});
        parts.clear();
        for (uint32_t i = 0; i < static_cast<uint32_t>(groups.size()); ++i)
            parts.push_back({out.node, i});
    }
    if (perGroup == 1) return parts;
    std::vector<ValueRef> out;
    for (size_t i = 0; i < parts.size(); ++i) {
        const size_t from = i * perGroup, to = std::min(sizes.size(), from + perGroup);
        const std::vector<int64_t> own(sizes.begin() + static_cast<std::ptrdiff_t>(from),
                                       sizes.begin() + static_cast<std::ptrdiff_t>(to));
        for (const ValueRef part : splitInto(node, parts[i], own, axis)) out.push_back(part);
    }
    return out;
}

} // namespace

void convertSplit(OnnxNode& node)
{
    const int64_t axis = node.axisOf(node.integer("axis", 0), node.rank(0));
    if (node.isOpen(1)) return splitBySizes(node, axis, node.boundDims(1));
    if (node.hasFailed()) return;
    if (!node.type(0).shape[static_cast<size_t>(axis)].isConst())
        return splitBySizes(node, axis, partsOf(node, axis));
    std::vector<int64_t> sizes = node.has(1) ? node.staticIntegers(1) : node.integers("split", {});
    if (node.hasFailed()) return;
    const int64_t extent = node.type(0).shape[static_cast<size_t>(axis)].value();
    const auto count = static_cast<int64_t>(node.outputCount());
    if (sizes.empty() && count > 0) {
        const int64_t part = (extent + count - 1) / count;
        sizes.assign(static_cast<size_t>(count), part);
        sizes.back() = extent - part * (count - 1);
    }
    const bool isPositive = std::all_of(sizes.begin(), sizes.end(),
                                        [&](int64_t size) { return size >= 0 && size <= extent; });
    if (!isPositive || static_cast<int64_t>(sizes.size()) != count ||
        std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != extent) {
        node.fail(DiagnosticCode::BadAttribute,
                  "the sizes [" + join(sizes, ", ") + "] do not split an axis of " +
                      std::to_string(extent) + " into " + std::to_string(count) + " outputs",
                  "split");
        return;
    }
    if (count == 1) {
        node.forward(0, 0);
        return;
    }
    const std::vector<ValueRef> parts = splitInto(node, node.input(0), sizes, axis);
    for (size_t i = 0; i < parts.size(); ++i) node.output(i, parts[i]);
}

} // namespace tenon::compiler
