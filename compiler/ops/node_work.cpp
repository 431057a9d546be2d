// SPDX-License-Identifier: Apache-2.0
// Costs of operators, and windows of convolutions and pools axis by axis.
#include "compiler/ops/node_work.h"

#include "compiler/ops/op.h"
#include "compiler/ops/winograd.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tenon::compiler {

using namespace core;

namespace {

/// A window along one spatial axis, of known sizes.
struct Axis
{
    int64_t size = 0;
    int64_t steps = 0; ///< of the result
    int64_t kernel = 1;
    int64_t stride = 1;
    int64_t dilation = 1;
    int64_t padding = 0; ///< before the first element

    int64_t at(int64_t step, int64_t tap) const { return step * stride + tap * dilation - padding; }
    bool isInside(int64_t position) const { return position >= 0 && position < size; }

    /// Taps that meet an element, of all.
    double insideShare() const
    {
        int64_t inside = 0;
        for (int64_t step = 0; step < steps; ++step)
            for (int64_t tap = 0; tap < kernel; ++tap) inside += isInside(at(step, tap));
        return steps * kernel == 0
                   ? 1
                   : static_cast<double>(inside) / static_cast<double>(steps * kernel);
    }
    /// Elements that some tap meets, of all.
    double readShare() const
    {
        std::set<int64_t> met;
        for (int64_t step = 0; step < steps; ++step)
            for (int64_t tap = 0; tap < kernel; ++tap)
                if (isInside(at(step, tap))) met.insert(at(step, tap));
        return size == 0 ? 1 : static_cast<double>(met.size()) / static_cast<double>(size);
    }
};

constexpr size_t kFirstSpatial = 2; ///< of [N, C, spatial axes.., blocks]

bool hasWindow(const OpDef& op, const NodeRecord& node)
{
    if (op.name.find("transpose") != std::string_view::npos) return false;
    const bool isPool = op.name == "nn.max_pool2d" || op.name == "nn.avg_pool2d";
    if (op.family != Family::Convolution && !isPool) return false;
    for (const char* layout : {"data_layout", "layout"})
        if (const AttrValue* value = node.attrs.find(layout))
            if (const auto* text = std::get_if<std::string>(value);
                text && !text->starts_with("NCHW"))
                return false;
    return true;
}

std::vector<int64_t> kernelOf(const Module& module, const NodeRecord& node, size_t axes)
{
    if (node.attrs.has("tile_size") || node.attrs.has("products"))
        return node.attrs.integers("kernel_size", {3, 3});
    if (node.attrs.has("pool_size")) return node.attrs.integers("pool_size", {});
    std::vector<int64_t> kernel;
    const Shape& weight = module.type(node.operands[1]).shape;
    for (size_t i = 0; i < axes && kFirstSpatial + i < weight.size(); ++i)
        kernel.push_back(weight[kFirstSpatial + i].constant().value_or(0));
    return kernel;
}

/// Empty where there is no window, or sizes are not known.
std::vector<Axis> axesOf(const Module& module, const NodeRecord& node)
{
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    if (!op || node.types.empty() || node.operands.empty() || !hasWindow(*op, node)) return {};
    const Shape& data = module.type(node.operands[0]).shape;
    const Shape& result = node.types[0].shape;
    const size_t count = node.attrs.integers("strides", {1, 1}).size();
    const std::vector<int64_t> none(count, 1), kernel = kernelOf(module, node, count);
    const auto strides = node.attrs.integers("strides", none);
    const auto dilation = node.attrs.integers("dilation", none);
    const auto padding = node.attrs.integers("padding", std::vector<int64_t>(2 * count, 0));
    if (data.size() < kFirstSpatial + count || result.size() < kFirstSpatial + count) return {};
    if (kernel.size() != count || dilation.size() != count || padding.size() < count) return {};
    std::vector<Axis> axes;
    for (size_t i = 0; i < count; ++i) {
        const auto size = data[kFirstSpatial + i].constant();
        const auto steps = result[kFirstSpatial + i].constant();
        if (!size || !steps) return {};
        axes.push_back({*size, *steps, kernel[i], strides[i], dilation[i], padding[i]});
    }
    return axes;
}

bool multiplies(const NodeRecord& node)
{
    const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
    return op && (op->family == Family::Convolution || op->family == Family::Dense);
}

bool hasKnownSizes(const Module& module, const NodeRecord& node)
{
    return std::all_of(
               node.types.begin(), node.types.end(),
               [](const TensorType& type) { return constantShape(type.shape).has_value(); }) &&
           std::all_of(node.operands.begin(), node.operands.end(), [&](const ValueRef& operand) {
               return !operand.node.isValid() ||
                      constantShape(module.type(operand).shape).has_value();
           });
}

/// Products of a tile, of all phases, for those of its results.
double shareOfWinograd(const NodeRecord& node)
{
    const std::vector<int64_t> tile = node.attrs.integers("tile_size", {2, 2});
    const std::vector<int64_t> kernel = node.attrs.integers("kernel_size", {3, 3});
    const std::vector<int64_t> strides = node.attrs.integers("strides", {1, 1});
    double share = 1;
    for (size_t i = 0; i < 2; ++i)
        share *= static_cast<double>(winogradProducts(kernel.at(i), strides.at(i), tile.at(i))) /
                 static_cast<double>(tile.at(i) * kernel.at(i));
    return share;
}

} // namespace

int64_t macsOf(const Module& module, const NodeRecord& node)
{
    return multiplies(node) && hasKnownSizes(module, node)
               ? std::llround(costOf(module, node).flops / 2)
               : 0;
}

double leastFlops(const Module& module, const NodeRecord& node)
{
    if (!multiplies(node) || !hasKnownSizes(module, node)) return 0;
    const double flops = costOf(module, node).flops;
    if (node.attrs.has("tile_size")) return flops * shareOfWinograd(node);
    if (node.attrs.has("products")) // for eight of halves
        return flops * static_cast<double>(node.attrs.integer("products", 8)) / 8;
    double share = 1;
    for (const Axis& axis : axesOf(module, node)) share *= axis.insideShare();
    return flops * share;
}

double readShare(const Module& module, const NodeRecord& node, size_t operand)
{
    double share = 1;
    if (operand == 0)
        for (const Axis& axis : axesOf(module, node)) share *= axis.readShare();
    return share;
}

} // namespace tenon::compiler
