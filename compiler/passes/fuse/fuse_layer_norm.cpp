// SPDX-License-Identifier: Apache-2.0
// FuseLayerNorm: mean, differences, variance and quotient of rows become one operator, with the
// factors and the sum behind. Stands after the simplifications and before layouts are chosen.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/use_index.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

struct LayerNorm
{
    std::vector<NodeId> nodes; ///< in order; the last one's result is the operator's
    ValueRef data, gamma, beta;
    double epsilon = 0;
};

class LayerNormFuser
{
public:
    LayerNormFuser(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order)
            if (auto found = match(m_module.node(id))) {
                addScale(*found);
                patches.push_back(patchOf(*found));
            }
        return patches;
    }

private:
    /// The node behind a value when it applies `op` and `readers` nodes read it.
    const NodeRecord* behind(ValueRef value, const OpDef& op, size_t readers = 1) const
    {
        return operatorBehind(m_module, m_uses, value, op, readers);
    }

    const NodeRecord* rowMean(ValueRef value) const
    {
        const NodeRecord* mean = behind(value, meanOp);
        if (!mean || mean->attrs.integer("keepdims", 0) == 0) return nullptr;
        const std::vector<int64_t> axes = mean->attrs.integers("axis", {});
        const Shape& shape = m_module.type(mean->operands[0]).shape;
        const bool isRow =
            shape.size() > 1 && shape.back().isConst() && axes.size() == 1 &&
            mean->attrs.integer("exclude", 0) == 0 &&
            normalizedAxis(axes[0], shape.size()) == static_cast<int64_t>(shape.size()) - 1;
        return isRow ? mean : nullptr;
    }

    /// d^2 as power or product; null when it is something else.
    const NodeRecord* squareOf(ValueRef value, ValueRef base) const
    {
        if (const NodeRecord* power = behind(value, powerOp))
            return power->operands[0] == base && scalarOf(m_module, power->operands[1]) == 2
                       ? power
                       : nullptr;
        const NodeRecord* product = behind(value, multiplyOp);
        const bool fits = product && product->operands[0] == base && product->operands[1] == base;
        return fits ? product : nullptr;
    }

    /// divide(d, sqrt(mean(d^2) + epsilon)) with d = x - mean(x).
    std::optional<LayerNorm> match(const NodeRecord& quotient) const
    {
        if (!isOp(quotient, divideOp) || quotient.types[0].dtype != kFloat32) return std::nullopt;
        const ValueRef base = quotient.operands[0];
        const NodeRecord* difference = behind(base, subtractOp, 2);
        const NodeRecord* root = behind(quotient.operands[1], sqrtOp);
        const NodeRecord* shifted = root ? behind(root->operands[0], addOp) : nullptr;
        if (!difference || !shifted) return std::nullopt;
        const size_t own = scalarOf(m_module, shifted->operands[1]) ? 0 : 1;
        const auto epsilon = scalarOf(m_module, shifted->operands[1 - own]);
        const NodeRecord* variance = rowMean(shifted->operands[own]);
        const NodeRecord* square = variance ? squareOf(variance->operands[0], base) : nullptr;
        const NodeRecord* mean = rowMean(difference->operands[1]);
        if (!epsilon || !square || !mean || mean->operands[0] != difference->operands[0])
            return std::nullopt;
        return LayerNorm{{mean->id, difference->id, square->id, variance->id, shifted->id, root->id,
                          quotient.id},
                         difference->operands[0],
                         {},
                         {},
                         *epsilon};
    }

    /// The only reader of the result so far, when it applies `op` with one value per element.
    const NodeRecord* perElement(const LayerNorm& found, const OpDef& op, ValueRef& operand) const
    {
        const NodeId last = found.nodes.back();
        if (!m_uses.hasOneUser(last)) return nullptr;
        const NodeRecord& user = m_module.node(m_uses.users(last)[0]);
        if (!isOp(user, op)) return nullptr;
        const size_t own = user.operands[0].node == last ? 0 : 1;
        const Shape& rows = m_module.type(found.data).shape;
        if (m_module.type(user.operands[1 - own]).shape != Shape{rows.back()}) return nullptr;
        operand = user.operands[1 - own];
        return &user;
    }

    void addScale(LayerNorm& found) const
    {
        if (const NodeRecord* scaled = perElement(found, multiplyOp, found.gamma))
            found.nodes.push_back(scaled->id);
        if (const NodeRecord* shifted = perElement(found, addOp, found.beta))
            found.nodes.push_back(shifted->id);
    }

    Patch patchOf(const LayerNorm& found) const
    {
        PatchWriter patch(m_module, m_function.id, "fuse-layer-norm",
                          "rows of " + m_module.type(found.data).shape.back().text() +
                              " stay in the cache",
                          found.nodes);
        std::vector<ValueRef> operands{found.data};
        if (found.gamma.node.isValid() || found.beta.node.isValid())
            operands.push_back(found.gamma);
        if (found.beta.node.isValid()) operands.push_back(found.beta);
        const ValueRef result =
            patch.op(layerNormOp, std::move(operands), {{"epsilon", found.epsilon}});
        patch.replace({found.nodes.back(), 0}, result);
        for (const NodeId id : found.nodes) patch.erase(id);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
};

} // namespace

Result<Patches> runFuseLayerNorm(const Module& module, const PassContext&)
{
    return rewriteFunctions<LayerNormFuser>(module);
}

} // namespace tenon::compiler
