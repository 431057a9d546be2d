// SPDX-License-Identifier: Apache-2.0
// Scales and zero points of integers: of the quantization that makes them, the dequantization that
// reads them, or those of values that the same elements move to.
#include "compiler/compare/program_values.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"

#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Constant parameters of a qnn.quantize or qnn.dequantize, per tensor or per element of an axis.
std::optional<QuantizedUnits> unitsAt(const Module& module, const NodeRecord& node)
{
    const Tensor* scale = constantOf(module, node.operands.at(1));
    if (!scale || scale->size() == 0 || node.attrs.integer("block_size", 0) != 0)
        return std::nullopt;
    QuantizedUnits out{.scales = scale->numbers(),
                       .zeros = std::vector<int64_t>(static_cast<size_t>(scale->size()), 0)};
    if (node.operands.size() > 2 && node.operands[2].node.isValid()) {
        const Tensor* zero = constantOf(module, node.operands[2]);
        if (!zero || zero->size() != scale->size()) return std::nullopt;
        out.zeros = zero->integers();
    }
    if (out.scales.size() > 1)
        out.axis = normalizedAxis(node.attrs.integer("axis", 1),
                                  module.type(node.operands[0]).shape.size());
    return out;
}

/// Elements keep their scale where they only move and there is one scale for all.
bool movesElements(const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || node.types.size() != 1) return false;
    return factsOf(node).choosesValues || isOneOf(node, padOp, clipOp, reluOp);
}

class UnitsSearch
{
public:
    explicit UnitsSearch(const Module& module)
        : m_module(module)
        , m_uses(module, module.main())
    {
    }

    std::optional<QuantizedUnits> of(ValueRef value)
    {
        if (!value.node.isValid() || !m_seen.insert(value).second) return std::nullopt;
        const NodeRecord& node = m_module.node(value.node);
        if (isOp(node, qnnQuantizeOp)) return unitsAt(m_module, node);
        for (const NodeId id : m_uses.users(value.node)) {
            const NodeRecord& user = m_module.node(id);
            if (isOp(user, qnnDequantizeOp) && user.operands[0] == value)
                if (auto units = unitsAt(m_module, user)) return units;
        }
        if (movesElements(node))
            if (auto units = perTensor(of(node.operands.at(0)))) return units;
        for (const NodeId id : m_uses.users(value.node)) {
            const NodeRecord& user = m_module.node(id);
            if (movesElements(user) && user.operands.at(0) == value)
                if (auto units = perTensor(of({id, 0}))) return units;
        }
        return std::nullopt;
    }

private:
    static std::optional<QuantizedUnits> perTensor(std::optional<QuantizedUnits> units)
    {
        return units && units->scales.size() == 1 ? units : std::nullopt;
    }

    const Module& m_module;
    UseIndex m_uses;
    std::unordered_set<ValueRef> m_seen;
};

} // namespace

QuantizedUnits unitsOf(const Module& imported, ValueRef value)
{
    const TensorType& type = imported.type(value);
    if (type.dtype.isFloat() || type.dtype == kBool) return {};
    auto units = UnitsSearch(imported).of(value);
    return units ? std::move(*units) : QuantizedUnits();
}

std::optional<IntegersBehind> integersBehind(const Module& imported, ValueRef value)
{
    const NodeRecord* node = &imported.node(value.node);
    while (movesElements(*node)) node = &imported.node(node->operands.at(0).node);
    if (node->kind != NodeKind::Op || !isOp(*node, qnnDequantizeOp)) return std::nullopt;
    const auto units = unitsAt(imported, *node);
    const bool hasMoved = node->id != value.node;
    if (!units || (hasMoved && units->scales.size() > 1)) return std::nullopt;
    return IntegersBehind{imported.type(node->operands.at(0)).dtype, *units};
}

} // namespace tenon::compiler
