// SPDX-License-Identifier: Apache-2.0
// PadOutputs: the weight [N, K] of a dense layer whose N fills no whole vectors gets a few rows of
// zeros more, [N + p, K]; what follows it alone and has a number per output computes on [M, N + p],
// too, and the result is a slice of that. Rows of weights then lie side by side in whole vectors,
// where there were parts of vectors, or for an odd N none.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/use_index.h"

#include <cstring>

namespace tenon::compiler {
namespace {

constexpr size_t kMatrixRank = 2;
constexpr int64_t kOutputAxis = 1;

/// The constant with zeros behind its outputs, which are its axis `axis`.
Tensor longer(const Tensor& constant, size_t axis, int64_t outputs)
{
    std::vector<int64_t> shape = constant.shape();
    shape[axis] = outputs;
    return Tensor::make(constant.dtype(), shape, [&](std::span<std::byte> out) {
        const auto in = constant.bytes(); // all axes before this one are 1
        std::memcpy(out.data(), in.data(), in.size());
        std::memset(out.data() + in.size(), 0, out.size() - in.size());
    });
}

class OutputPadder
{
public:
    OutputPadder(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_facts(context.facts)
        , m_uses(module, function)
        , m_lanes(blockLanes(context.facts))
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const Tensor* weight = weightOf(node);
            if (!weight) continue;
            const DenseLayer layer = denseLayer(m_module.type(node.operands[0]).shape, *weight);
            const int64_t outputs = denseOutputs(layer, m_lanes, m_facts);
            if (outputs > layer.outputs) patches.push_back(patchOf(node, layer.outputs, outputs));
        }
        return patches;
    }

private:
    const Tensor* weightOf(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, denseOp)) return nullptr;
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        const bool isMatrix = weight && weight->dtype() == kFloat32 &&
                              weight->shape().size() == kMatrixRank &&
                              node.types.at(0).shape.size() == kMatrixRank;
        return isMatrix ? weight : nullptr;
    }

    /// A constant with a number for each output, or one for all.
    bool isPerOutput(ValueRef operand, int64_t outputs) const
    {
        const Tensor* constant = constantOf(m_module, operand);
        return constant && (constant->size() == 1 ||
                            (constant->size() == outputs && constant->shape().back() == outputs &&
                             constant->shape().size() <= kMatrixRank));
    }

    /// Computes every output from the same output, with constants that can be longer.
    bool keepsOutputs(const NodeRecord& node, int64_t outputs) const
    {
        if (node.kind != NodeKind::Op || node.types.size() != 1 ||
            node.types[0].shape.size() != kMatrixRank)
            return false;
        if (isOneOf(node, addOp, subtractOp, multiplyOp, maximumOp, minimumOp))
            return isPerOutput(node.operands[0], outputs) || isPerOutput(node.operands[1], outputs);
        return factsOf(node).pattern == Pattern::Elementwise && node.operands.size() == 1;
    }

    NodeRecord widened(PatchWriter& patch, NodeRecord node, int64_t own, int64_t outputs) const
    {
        for (ValueRef& operand : node.operands) {
            const Tensor* constant = constantOf(m_module, operand);
            if (!constant || constant->size() == 1) continue;
            const size_t axis = isOp(node, denseOp) ? 0 : constant->shape().size() - 1;
            CHECK(constant->shape()[axis] == own) << nodeLabel(m_module, node);
            operand =
                patch.constant(longer(*constant, axis, outputs), m_module.node(operand.node).name);
        }
        node.types.clear();
        return node;
    }

    Patch patchOf(const NodeRecord& dense, int64_t own, int64_t outputs) const
    {
        std::vector<NodeId> chain{dense.id};
        while (m_uses.hasOneUser(chain.back())) {
            const NodeRecord& user = m_module.node(m_uses.users(chain.back())[0]);
            if (!keepsOutputs(user, own)) break;
            chain.push_back(user.id);
        }
        PatchWriter patch(m_module, m_function.id, "pad-outputs",
                          std::to_string(own) + " outputs of " + nodeLabel(m_module, dense) +
                              " fill " + std::to_string(outputs) + " in whole vectors",
                          chain);
        for (const NodeId id : chain) patch.change(widened(patch, m_module.node(id), own, outputs));
        const ValueRef last{chain.back(), 0};
        patch.replace(last, patch.op(stridedSliceOp, {last},
                                     {{"axes", std::vector<int64_t>{kOutputAxis}},
                                      {"begin", std::vector<int64_t>{0}},
                                      {"end", std::vector<int64_t>{own}}}));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    const TargetFacts& m_facts;
    UseIndex m_uses;
    int m_lanes;
};

} // namespace

Result<Patches> runPadOutputs(const Module& module, const PassContext& context)
{
    return rewriteFunctions<OutputPadder>(module, context);
}

} // namespace tenon::compiler
