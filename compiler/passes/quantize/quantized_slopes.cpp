// SPDX-License-Identifier: Apache-2.0
// PReLU of a quantized tensor: one ratio of scales for values above zero, others below it.
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_bounds.h"
#include "compiler/passes/quantize/quantization_rules.h"
#include "compiler/passes/quantize/real_layer.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Operands of an operator that nothing but the function reads.
class SlopesReader
{
public:
    SlopesReader(const QuantizationSite& site, ValueRef value)
        : m_site(site)
        , m_value(value)
    {
    }

    std::optional<Slopes> read()
    {
        if (auto sum = asSum()) return sum;
        m_slopes = {};
        return asChoice();
    }

private:
    const NodeRecord* own(ValueRef value, const OpDef& op)
    {
        if (!value.node.isValid()) return nullptr;
        const NodeRecord& node = m_site.module.node(value.node);
        if (!isOp(node, op) || !m_site.uses.hasOneUser(node.id)) return nullptr;
        m_slopes.nodes.push_back(node.id);
        return &node;
    }
    bool isZero(ValueRef value) const
    {
        const auto number = scalarOf(m_site.module, value);
        return number && *number == 0;
    }

    /// relu(x) + minimum(x, 0) * slope, as ONNX's is imported.
    std::optional<Slopes> asSum()
    {
        const NodeRecord* sum = own(m_value, addOp);
        if (!sum) return std::nullopt;
        const NodeRecord* above = own(sum->operands[0], reluOp);
        const NodeRecord* product = own(sum->operands[1], multiplyOp);
        if (!above || !product) return std::nullopt;
        const NodeRecord* below = own(product->operands[0], minimumOp);
        if (!below || !isZero(below->operands[1]) || below->operands[0] != above->operands[0])
            return std::nullopt;
        return found(above->operands[0], product->operands[1]);
    }

    /// where(x < 0, x * slope, x), as TensorFlow Lite's is.
    std::optional<Slopes> asChoice()
    {
        const NodeRecord* choice = own(m_value, whereOp);
        if (!choice) return std::nullopt;
        const NodeRecord* compare = own(choice->operands[0], lessOp);
        const NodeRecord* product = own(choice->operands[1], multiplyOp);
        const ValueRef x = choice->operands[2];
        if (!compare || !product || compare->operands[0] != x || !isZero(compare->operands[1]) ||
            product->operands[0] != x)
            return std::nullopt;
        return found(x, product->operands[1]);
    }

    Slopes found(ValueRef x, ValueRef slope)
    {
        m_slopes.x = x;
        m_slopes.slope = slope;
        return std::move(m_slopes);
    }

    const QuantizationSite& m_site;
    ValueRef m_value;
    Slopes m_slopes;
};

} // namespace

std::optional<Slopes> readSlopes(const QuantizationSite& site, ValueRef value)
{
    return SlopesReader(site, value).read();
}

/// As `requantize`; both ratios are rounded once, as it rounds its one.
std::optional<Patch> quantizeSlopes(const QuantizationSite& site, const QuantizeTarget& target)
{
    const std::optional<Slopes> found = readSlopes(site, target.input);
    if (!found) return std::nullopt;
    const auto data = readDequantized(site, found->x);
    const auto slopes = constantValue(site, found->slope);
    // One slope for all is a table.
    if (!data || !data->isPerTensor() || !isByte(*data) || !slopes || !slopes->dtype().isFloat() ||
        slopes->size() == 1 || site.module.type(found->x).shape != target.node->types.at(0).shape)
        return std::nullopt;
    const double ratio = data->scales[0] / target.scale;
    std::vector<double> below = slopes->numbers();
    for (double& slope : below) slope *= ratio;
    if (!areRatios({ratio}) || !areRatios(below)) return std::nullopt;
    PatchWriter patch =
        quantizePatch(site, target, "integer-slopes",
                      "what stands in front of " + nodeLabel(site.module, *target.node) +
                          " has one slope above zero and another below it",
                      found->nodes);
    Attrs attrs = target.limits();
    attrs.set("input_zero_point", data->zeros[0]);
    const ValueRef out =
        patch.op(qnnRequantizeOp,
                 {data->integers, patch.constant(floats({ratio}, {})), zeroPointOf(patch, target),
                  ValueRef{}, patch.constant(floats(below, slopes->shape()))},
                 std::move(attrs));
    return finishQuantize(patch, target, out, found->nodes);
}

} // namespace tenon::compiler
