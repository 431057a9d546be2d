// SPDX-License-Identifier: Apache-2.0
// MergeGroups: a convolution of g groups of narrow channels, weight [O, C/g, KH, KW], becomes one
// of g/m groups, weight [O, m*C/g, KH, KW] with zeros between the groups that were: blocks of whole
// vectors make up for m times the products (ResNeXt's groups of 4 and 8 channels).
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/group_merge.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <cstring>

namespace tenon::compiler {
namespace {

class GroupMerger
{
public:
    GroupMerger(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_machine{blockLanes(context.facts), 0, false, context.facts}
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto conv =
                node.kind == NodeKind::Op ? blockableConvolution(m_module, node) : std::nullopt;
            if (!conv || conv->groups == 1 || conv->isDepthwise || conv->isWeightComputed) continue;
            const GroupMerge merge = groupMergeOf(*conv, m_machine);
            if (merge.groups > 1 && isFaster(node, *conv, merge))
                patches.push_back(patchOf(node, *conv, merge));
        }
        return patches;
    }

private:
    /// Than plain loops, whose values need no transformation.
    bool isFaster(const NodeRecord& node, const BlockableConvolution& conv,
                  const GroupMerge& merge) const
    {
        double plain = convolutionCycles(conv, 0, 0, m_machine);
        plain += transformCycles(m_module.type(node.operands[0]), m_machine.facts);
        plain += transformCycles(node.types[0], m_machine.facts);
        return mergedCycles(conv, merge, m_machine) < plain;
    }

    /// [O, C/g, KH, KW] -> [O, m * C/g, KH, KW]: filter o's channels stand behind those of the
    /// groups before its own that become one with it.
    static Tensor weightOf(const Tensor& weight, int64_t groups, int64_t merged)
    {
        std::vector<int64_t> shape = weight.shape();
        const int64_t filters = shape[0], perGroup = filters / groups;
        const size_t run = weight.bytes().size() / static_cast<size_t>(filters);
        shape[1] *= merged;
        return Tensor::make(weight.dtype(), shape, [&](std::span<std::byte> out) {
            std::memset(out.data(), 0, out.size());
            for (int64_t o = 0; o < filters; ++o) {
                const int64_t place = o * merged + o / perGroup % merged;
                std::memcpy(out.data() + static_cast<size_t>(place) * run,
                            weight.bytes().data() + static_cast<size_t>(o) * run, run);
            }
        });
    }

    Patch patchOf(const NodeRecord& node, const BlockableConvolution& conv,
                  const GroupMerge& merge) const
    {
        PatchWriter patch(m_module, m_function.id, "merge-groups",
                          std::to_string(conv.groups) + " groups of " +
                              std::to_string(conv.inChannels / conv.groups) + " channels fill " +
                              "blocks of " + std::to_string(merge.block) + " as " +
                              std::to_string(conv.groups / merge.groups),
                          {node.id});
        const Tensor& weight = *constantOf(m_module, node.operands[1]);
        NodeRecord record = node;
        record.operands[1] = patch.constant(weightOf(weight, conv.groups, merge.groups),
                                            m_module.node(node.operands[1].node).name);
        record.attrs.set("groups", conv.groups / merge.groups);
        patch.change(std::move(record));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    LayoutMachine m_machine;
};

} // namespace

Result<Patches> runMergeGroups(const Module& module, const PassContext& context)
{
    return rewriteFunctions<GroupMerger>(module, context);
}

} // namespace tenon::compiler
