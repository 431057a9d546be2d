// SPDX-License-Identifier: Apache-2.0
// Readers of quantization parameters and constant expressions.
#include "compiler/passes/quantize/quantized_values.h"

#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/ops/ops.h"
#include "core/ir/tir/byte_table.h"

#include <algorithm>
#include <cmath>

namespace tenon::compiler {
namespace {

/// Constant scales and zero points as lists; nothing when they are no constants.
struct Parameters
{
    std::vector<double> scales;
    std::vector<int64_t> zeros;
};

std::optional<Parameters> readParameters(const Module& module, const NodeRecord& node)
{
    const Tensor* scale = constantOf(module, node.operands[1]);
    if (!scale || scale->dtype() != kFloat32 || scale->size() == 0 || scale->shape().size() > 1 ||
        node.attrs.integer("block_size", 0) != 0)
        return std::nullopt;
    Parameters out{scale->numbers(), std::vector<int64_t>(scale->numbers().size(), 0)};
    for (const double value : out.scales)
        if (!(value > 0) || !std::isfinite(value)) return std::nullopt;
    if (node.operands.size() < 3 || !node.operands[2].node.isValid()) return out;
    const Tensor* zero = constantOf(module, node.operands[2]);
    if (!zero || zero->size() != scale->size()) return std::nullopt;
    out.zeros = zero->integers();
    return out;
}

/// [low, high] that an activation limits its operand to.
std::optional<std::pair<double, double>> limitsOf(const NodeRecord& node)
{
    constexpr double kAll = HUGE_VAL;
    if (isOp(node, reluOp)) return std::pair(0.0, kAll);
    if (isOp(node, clipOp))
        return std::pair(node.attrs.number("a_min", -kAll), node.attrs.number("a_max", kAll));
    return std::nullopt;
}

} // namespace

std::optional<Quantized> readDequantized(const QuantizationSite& site, ValueRef value)
{
    if (!value.node.isValid()) return std::nullopt;
    const NodeRecord& node = site.module.node(value.node);
    if (!isOp(node, qnnDequantizeOp) || node.attrs.dtype("out_dtype", kFloat32) != kFloat32)
        return std::nullopt;
    const auto parameters = readParameters(site.module, node);
    if (!parameters) return std::nullopt;
    const TensorType& type = site.module.type(node.operands[0]);
    Quantized out{.integers = node.operands[0],
                  .zeroPoint = node.operands.size() > 2 ? node.operands[2] : ValueRef{},
                  .scales = parameters->scales,
                  .zeros = parameters->zeros,
                  .axis = 0,
                  .dtype = type.dtype};
    if (!out.isPerTensor())
        out.axis = normalizedAxis(node.attrs.integer("axis", 1), type.shape.size());
    return out;
}

Attrs QuantizeTarget::limits() const
{
    Attrs attrs{{"out_dtype", dtype}};
    if (low > (dtype.isSigned() ? -128 : 0)) attrs.set("a_min", low);
    if (high < (dtype.isSigned() ? 127 : 255)) attrs.set("a_max", high);
    return attrs;
}

std::optional<QuantizeTarget> readQuantize(const QuantizationSite& site, const NodeRecord& node)
{
    if (!isOp(node, qnnQuantizeOp)) return std::nullopt;
    const auto parameters = readParameters(site.module, node);
    const DataType dtype = node.types.at(0).dtype;
    if (!parameters || parameters->scales.size() != 1 || dtype.bits != 8 ||
        site.module.type(node.operands[0]).dtype != kFloat32)
        return std::nullopt;
    QuantizeTarget out{.node = &node,
                       .scale = parameters->scales[0],
                       .zero = parameters->zeros[0],
                       .dtype = dtype,
                       .low = dtype.isSigned() ? -128 : 0,
                       .high = dtype.isSigned() ? 127 : 255,
                       .input = node.operands[0],
                       .consumed = {node.id},
                       .zeroPoint = node.operands.size() > 2 ? node.operands[2] : ValueRef{}};
    // Rounding keeps the order of values, so limits of the real value are limits of the integer.
    while (out.input.node.isValid()) {
        const NodeRecord& before = site.module.node(out.input.node);
        const auto limits = limitsOf(before);
        if (!limits || !site.uses.hasOneUser(before.id) ||
            constantOf(site.module, before.operands[0]))
            break;
        const auto integer = [&](double real) {
            const double at = std::nearbyint(real / out.scale) + static_cast<double>(out.zero);
            return static_cast<int64_t>(std::clamp(at, -1e6, 1e6));
        };
        out.low = std::clamp(integer(limits->first), out.low, out.high);
        out.high = std::clamp(integer(limits->second), out.low, out.high);
        out.consumed.insert(out.consumed.begin(), before.id);
        out.input = before.operands[0];
    }
    return out;
}

std::optional<Tensor> constantValue(const QuantizationSite& site, ValueRef value)
{
    if (!value.node.isValid()) return std::nullopt;
    if (const Tensor* constant = constantOf(site.module, value)) return *constant;
    const NodeRecord& node = site.module.node(value.node);
    if (node.kind != NodeKind::Op || node.operands.empty()) return std::nullopt;
    std::vector<Tensor> inputs;
    for (const ValueRef& operand : node.operands) {
        if (!operand.node.isValid()) {
            inputs.emplace_back();
            continue;
        }
        std::optional<Tensor> input = constantValue(site, operand);
        if (!input) return std::nullopt;
        inputs.push_back(std::move(*input));
    }
    Result<std::vector<Tensor>> out = evaluateNode(site.module, node, inputs, site.job);
    if (!out || value.index >= out->size()) return std::nullopt;
    return (*out)[value.index];
}

Tensor floats(const std::vector<double>& values, std::vector<int64_t> shape)
{
    return Tensor::make(kFloat32, std::move(shape), [&](std::span<std::byte> bytes) {
        for (size_t i = 0; i < values.size(); ++i)
            storeNumber(kFloat32, bytes, static_cast<int64_t>(i), values[i]);
    });
}

Tensor integers(const std::vector<int64_t>& values, std::vector<int64_t> shape)
{
    return Tensor::make(kInt32, std::move(shape), [&](std::span<std::byte> bytes) {
        for (size_t i = 0; i < values.size(); ++i)
            storeInteger(kInt32, bytes, static_cast<int64_t>(i), values[i]);
    });
}

Tensor withSignBitFlipped(const Tensor& table)
{
    CHECK(table.size() == tir::kByteTableEntries) << "no table of bytes: " << table.typeText();
    const std::span<const std::byte> from = table.bytes();
    return Tensor::make(table.dtype(), table.shape(), [&](std::span<std::byte> out) {
        const auto half = static_cast<std::ptrdiff_t>(from.size() / 2);
        std::rotate_copy(from.begin(), from.begin() + half, from.end(), out.begin());
    });
}

} // namespace tenon::compiler
