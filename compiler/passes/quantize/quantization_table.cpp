// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one 8-bit tensor: all 256 values are computed now, with the very
// definition that opt level 0 runs.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/quantize/quantization_rules.h"
#include "core/ir/tir/byte_table.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

/// All that the type has, from the lowest on.
Tensor allBytes(DataType dtype)
{
    const int64_t lowest = dtype.isSigned() ? -tir::kByteTableEntries / 2 : 0;
    return Tensor::make(dtype, {tir::kByteTableEntries}, [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < tir::kByteTableEntries; ++i)
            storeInteger(dtype, bytes, i, lowest + i);
    });
}

/// What `allBytes` became, for each of the integers.
ValueRef lookedUp(PatchWriter& patch, Tensor table, const Quantized& source)
{
    ValueRef index = source.integers;
    if (source.dtype.isSigned()) {
        index = patch.op(castOp, {index}, {{"dtype", kUInt8}});
        // From -128 to 127 into the order of the bits, 0 to 127 first.
        table = withSignBitFlipped(table);
    }
    return patch.op(takeOp, {patch.constant(std::move(table)), index},
                    {{"axis", int64_t{0}}, {"mode", std::string("clip")}});
}

/// The elementwise nodes between one dequantization and the target, operands first.
class FunctionOfOne
{
public:
    FunctionOfOne(const QuantizationSite& site, const QuantizeTarget& target)
        : m_site(site)
        , m_target(target)
    {
    }

    bool collect()
    {
        return visit(m_target.node->operands[0]) && m_source && m_nodes.size() > 1 &&
               m_nodes.size() <= kLongestFunction && isClosed();
    }
    /// Without the dequantization, which others may read too.
    const std::vector<NodeId>& nodes() const { return m_nodes; }
    const Quantized& source() const { return *m_source; }

    /// Of a vector of floats; nothing where one of the operators takes more than a few.
    std::optional<double> instructions() const
    {
        double sum = 0;
        for (const NodeId id : m_nodes) {
            const NodeRecord& node = m_site.module.node(id);
            if (isOneOf(node, addOp, subtractOp, multiplyOp, maximumOp, minimumOp, reluOp))
                sum += 1;
            else if (isOp(node, clipOp))
                sum += 2;
            else if (!isOp(node, qnnDequantizeOp))
                return std::nullopt;
        }
        return sum;
    }

    /// Integers that the source's integers become.
    std::optional<Tensor> table() const
    {
        std::map<NodeId, Tensor> values{{m_source->integers.node, allBytes(m_source->dtype)}};
        for (const NodeId id : m_nodes)
            if (!evaluate(m_site.module.node(id), values)) return std::nullopt;
        if (!evaluate(*m_target.node, values)) return std::nullopt;
        return values.at(m_target.node->id);
    }

private:
    bool visit(ValueRef value)
    {
        if (constantOf(m_site.module, value)) return scalarOf(m_site.module, value).has_value();
        if (std::find(m_nodes.begin(), m_nodes.end(), value.node) != m_nodes.end()) return true;
        const NodeRecord& node = m_site.module.node(value.node);
        if (auto source = readDequantized(m_site, value)) {
            if (!source->isPerTensor() || source->dtype.bits != 8) return false;
            if (m_source && m_source->integers != source->integers) return false;
            m_source = std::move(source);
            m_nodes.push_back(value.node);
            return true;
        }
        const OpDef* op = node.kind == NodeKind::Op ? findOp(node.op) : nullptr;
        if (!op || !isElementwise(*op) || node.types.size() != 1 ||
            op->accuracy == Accuracy::Random || m_nodes.size() > kLongestFunction)
            return false;
        for (const ValueRef& operand : node.operands)
            if (!operand.node.isValid() || !visit(operand)) return false;
        m_nodes.push_back(value.node);
        return node.types[0].shape == m_target.node->types.at(0).shape;
    }

    /// Nothing outside reads what lies between.
    bool isClosed() const
    {
        const auto isInside = [&](NodeId id) {
            return id == m_target.node->id ||
                   std::find(m_nodes.begin(), m_nodes.end(), id) != m_nodes.end();
        };
        return std::all_of(m_nodes.begin(), m_nodes.end(), [&](NodeId id) {
            if (isOp(m_site.module.node(id), qnnDequantizeOp)) return true;
            const std::span<const NodeId> users = m_site.uses.users(id);
            return !m_site.uses.isResult(id) && std::all_of(users.begin(), users.end(), isInside);
        });
    }

    bool evaluate(const NodeRecord& node, std::map<NodeId, Tensor>& values) const
    {
        NodeRecord row = node;
        row.types = {{node.types.at(0).dtype, {Dim(tir::kByteTableEntries)}}};
        std::vector<Tensor> inputs;
        for (const ValueRef& operand : node.operands) {
            const Tensor* constant = constantOf(m_site.module, operand);
            if (!operand.node.isValid())
                inputs.emplace_back();
            else if (constant)
                inputs.push_back(constant->reshaped({}));
            else
                inputs.push_back(values.at(operand.node));
        }
        auto out = evaluateNode(m_site.module, row, inputs, m_site.job);
        if (!out) return false;
        values[node.id] = std::move((*out)[0]);
        return true;
    }

    const QuantizationSite& m_site;
    const QuantizeTarget& m_target;
    std::vector<NodeId> m_nodes;
    std::optional<Quantized> m_source;
};

} // namespace

std::optional<ValueRef> requantizeByTable(const QuantizationSite& site, PatchWriter& patch,
                                          const QuantizeTarget& target, const Quantized& value)
{
    if (!site.costs.looksUpVectors()) return std::nullopt;
    NodeRecord requantize;
    requantize.op = qnnRequantizeOp.name;
    requantize.attrs = target.limits();
    requantize.attrs.set("input_zero_point", value.zeros[0]);
    const Tensor zero = Tensor::make(target.dtype, {}, [&](std::span<std::byte> bytes) {
        storeInteger(target.dtype, bytes, 0, target.zero);
    });
    auto table = evaluateNode(
        site.module, requantize,
        {allBytes(value.dtype), floats({value.scales[0] / target.scale}, {}), zero}, site.job);
    if (!table) return std::nullopt;
    return lookedUp(patch, std::move(table->at(0)), value);
}

std::optional<Patch> quantizeByTable(const QuantizationSite& site, const QuantizeTarget& target)
{
    FunctionOfOne function(site, target);
    if (!function.collect()) return std::nullopt;
    const auto perVector = function.instructions();
    if (perVector && site.costs.isBelowTable(*perVector)) return std::nullopt;
    std::optional<Tensor> table = function.table();
    if (!table) return std::nullopt;
    std::vector<NodeId> consumed;
    for (const NodeId id : function.nodes())
        if (!isOp(site.module.node(id), qnnDequantizeOp)) consumed.push_back(id);
    QuantizeTarget whole = target;
    whole.consumed = {target.node->id};
    PatchWriter patch =
        quantizePatch(site, whole, "integer-table",
                      "what stands in front of " + nodeLabel(site.module, *target.node) +
                          " is a function of 256 values",
                      consumed);
    const ValueRef out = lookedUp(patch, *std::move(table), function.source());
    return finishQuantize(patch, whole, out, consumed);
}

} // namespace tenon::compiler
