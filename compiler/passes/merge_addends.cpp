// SPDX-License-Identifier: Apache-2.0
// MergeAddends: constants that are added to an integer one behind the other are added at once: a
// bias and what the zero point takes away. Sums of integers wrap, so their order is no matter.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/ir/origin_union.h"

namespace tenon::compiler {
namespace {

/// An addition's two sides where one is a constant of int32.
struct Addition
{
    ValueRef value;
    const Tensor* addend = nullptr;
};

Addition additionOf(const Module& module, const NodeRecord& node)
{
    if (node.kind != NodeKind::Op || !isOp(node, addOp) || node.types.at(0).dtype != kInt32)
        return {};
    for (const size_t side : {size_t{1}, size_t{0}})
        if (const Tensor* addend = constantOf(module, node.operands[side]))
            return {node.operands[1 - side], addend};
    return {};
}

Tensor sumOf(const Tensor& a, const Tensor& b)
{
    return Tensor::make(kInt32, a.shape(), [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < a.size(); ++i)
            storeInteger(kInt32, bytes, i,
                         static_cast<int32_t>(static_cast<uint32_t>(a.integer(i)) +
                                              static_cast<uint32_t>(b.integer(i))));
    });
}

} // namespace

Result<Patches> runMergeAddends(const Module& module, const PassContext&)
{
    Patches patches;
    for (const GraphFunction* function : openFunctions(module)) {
        const UseIndex uses(module, *function);
        for (const NodeId id : function->order) {
            const NodeRecord& node = module.node(id);
            const Addition outer = additionOf(module, node);
            if (!outer.addend || !uses.hasOneUser(outer.value.node) ||
                uses.isResult(outer.value.node))
                continue;
            const NodeRecord& before = module.node(outer.value.node);
            const Addition inner = additionOf(module, before);
            if (!inner.addend || inner.addend->shape() != outer.addend->shape() ||
                before.types != node.types)
                continue;
            PatchWriter patch(module, function->id, "merge-addends",
                              nodeLabel(module, before) + " and " + nodeLabel(module, node) +
                                  " add constants of one shape",
                              {before.id, id});
            NodeRecord record = node;
            record.operands = {inner.value, patch.constant(sumOf(*inner.addend, *outer.addend))};
            OriginUnion origin;
            for (const NodeRecord* each : {&before, &node}) origin.add(each->origin);
            record.origin = origin.take();
            patch.change(std::move(record));
            patch.erase(before.id);
            patches.push_back(patch.take());
        }
    }
    return patches;
}

} // namespace tenon::compiler
