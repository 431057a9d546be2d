// SPDX-License-Identifier: Apache-2.0
// SignWeights: weights of bytes less their zero points become int8, as products of bytes want them.
// Where such a difference does not fit int8 the layer is a sum of layers: the first holds what fits
// of each, the next what is left. In the usual case that is the one weight of a layer that is
// furthest from zero.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <optional>

namespace tenon::compiler {
namespace {

constexpr size_t kWeight = 1, kDataZero = 2, kWeightZero = 3;

/// No part holds -128: two products of it and of another -128 would not fit 16 bits.
constexpr int64_t kMost = 127;

class WeightSigner
{
public:
    WeightSigner(const Module& module, const GraphFunction& function, bool savesMemory)
        : m_module(module)
        , m_function(function)
        , m_savesMemory(savesMemory)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto differences = differencesOf(node);
            if (!differences) continue;
            const std::vector<Tensor> parts = partsOf(node, *differences);
            // Sums of 32 bits between layers take more than all else on a microcontroller.
            if (parts.size() > 1 && m_savesMemory && isOp(node, qnnConv2dOp)) continue;
            patches.push_back(patchOf(node, parts));
        }
        return patches;
    }

private:
    /// Weights less their zero points, where these are known and not all zero.
    std::optional<std::vector<int64_t>> differencesOf(const NodeRecord& node) const
    {
        const bool isLayer =
            node.kind == NodeKind::Op && (isOp(node, qnnConv2dOp) || isOp(node, qnnDenseOp));
        const Tensor* weight = isLayer ? constantOf(m_module, node.operands[kWeight]) : nullptr;
        if (!weight || weight->size() == 0) return std::nullopt;
        const bool hasZero =
            node.operands.size() > kWeightZero && node.operands[kWeightZero].node.isValid();
        const Tensor* zeros = hasZero ? constantOf(m_module, node.operands[kWeightZero]) : nullptr;
        if (hasZero ? !zeros : weight->dtype() == kInt8) return std::nullopt;
        const int64_t each = weight->size() / weight->shape()[0];
        std::vector<int64_t> out(static_cast<size_t>(weight->size()));
        for (int64_t i = 0; i < weight->size(); ++i) {
            const int64_t zero =
                zeros ? zeros->integer(zeros->size() == 1 ? 0 : i / each) : int64_t{0};
            out[static_cast<size_t>(i)] = weight->integer(i) - zero;
        }
        return out;
    }

    /// Tensors of int8 whose sum the differences are.
    std::vector<Tensor> partsOf(const NodeRecord& node, std::vector<int64_t> rest) const
    {
        const std::vector<int64_t>& shape = constantOf(m_module, node.operands[kWeight])->shape();
        const bool fits = std::all_of(rest.begin(), rest.end(), [](int64_t value) {
            return value >= -kMost - 1 && value <= kMost;
        });
        const int64_t least = fits ? -kMost - 1 : -kMost;
        std::vector<Tensor> parts;
        do {
            parts.push_back(Tensor::make(kInt8, shape, [&](std::span<std::byte> bytes) {
                for (size_t i = 0; i < rest.size(); ++i) {
                    const int64_t part = std::clamp(rest[i], least, kMost);
                    storeInteger(kInt8, bytes, static_cast<int64_t>(i), part);
                    rest[i] -= part;
                }
            }));
        } while (std::any_of(rest.begin(), rest.end(), [](int64_t value) { return value != 0; }));
        return parts;
    }

    Patch patchOf(const NodeRecord& node, const std::vector<Tensor>& parts) const
    {
        PatchWriter patch(m_module, m_function.id, "signed-weights",
                          nodeLabel(m_module, node) + " has weights of int8 without a zero point" +
                              (parts.size() == 1 ? std::string()
                                                 : ", in " + std::to_string(parts.size()) +
                                                       " parts that are added"),
                          {node.id});
        NodeRecord last = node;
        last.operands.resize(kDataZero + 1);
        if (!last.operands[kDataZero].node.isValid()) last.operands.resize(kDataZero);
        if (parts.size() == 1) {
            last.operands[kWeight] = patch.constant(parts[0]);
            patch.change(std::move(last));
            return patch.take();
        }
        const OpDef& layer = isOp(node, qnnConv2dOp) ? qnnConv2dOp : qnnDenseOp;
        ValueRef sum;
        for (size_t i = parts.size(); i-- > 0;) {
            std::vector<ValueRef> operands = last.operands;
            operands[kWeight] = patch.constant(parts[i]);
            const ValueRef product = patch.op(layer, std::move(operands), node.attrs);
            if (i == 0) {
                last.op = addOp.name;
                last.attrs = {};
                last.operands = {product, sum};
            } else {
                sum = sum.node.isValid() ? patch.op(addOp, {product, sum}) : product;
            }
        }
        patch.change(std::move(last));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    bool m_savesMemory;
};

} // namespace

Result<Patches> runSignWeights(const Module& module, const PassContext& context)
{
    if (!context.code.byteProducts) return Patches();
    return rewriteFunctions<WeightSigner>(module, context.code.savesMemory);
}

} // namespace tenon::compiler
