// SPDX-License-Identifier: Apache-2.0
// SplitChannels: images and rows that are split by channels, [N, C, H, W] or [N, C, L], for what
// works on images are slices of them, each of which stays in blocks where these divide its ends,
// is computed where it is read, or is nothing but a place in memory (gates of WaveNet and of
// convolutional LSTMs, halves of ShuffleNet and YOLO). Neighbouring slices that are joined again
// are one slice, or all that they are of.
#include "compiler/ops/ops.h"
#include "compiler/passes/layout/turned_windows.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kRankOfRows = 3, kRankOfImages = 4;
constexpr int64_t kChannels = 1;
constexpr int64_t kSmallestBlock = 4;

class ChannelSplitter
{
public:
    ChannelSplitter(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order)
            if (const NodeRecord& node = m_module.node(id); isSplit(node))
                patches.push_back(patchOf(node));
            else if (auto joined = joinedSlices(node))
                patches.push_back(std::move(*joined));
        return patches;
    }

private:
    bool isSplit(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, splitOp) || m_uses.isResult(node.id))
            return false;
        const Shape& shape = m_module.type(node.operands[0]).shape;
        const bool isOfChannels =
            (shape.size() == kRankOfRows || shape.size() == kRankOfImages) &&
            normalizedAxis(node.attrs.integer("axis", 0), shape.size()) == kChannels &&
            std::all_of(shape.begin() + 1, shape.end(),
                        [](const Dim& dim) { return dim.isConst(); });
        const std::span<const NodeId> users = m_uses.users(node.id);
        return isOfChannels && hasWholeBlocks(node) &&
               std::all_of(users.begin(), users.end(),
                           [&](NodeId id) { return worksOnImages(m_module.node(id)); });
    }

    static bool hasWholeBlocks(const NodeRecord& node)
    {
        return std::all_of(node.types.begin(), node.types.end(), [](const TensorType& type) {
            return type.shape[kChannels].value() % kSmallestBlock == 0;
        });
    }

    bool worksOnImages(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op) return false;
        if (isPlainConvolution(node) || isPlainPool(node) || convertsByOneScale(m_module, node) ||
            isOneOf(node, splitOp, stridedSliceOp, concatenateOp, padOp, resize2dOp))
            return true;
        if (isOp(node, reshapeOp)) // of rows, in front of a convolution
            return m_module.type(node.operands[0]).shape.size() == kRankOfRows &&
                   node.types[0].shape.size() == kRankOfImages;
        return isElementwise(factsOf(node));
    }

    Patch patchOf(const NodeRecord& node) const
    {
        PatchWriter patch(m_module, m_function.id, "split-channels",
                          nodeLabel(m_module, node) + " is a slice for each part", {node.id});
        int64_t begin = 0;
        for (uint32_t i = 0; i < node.types.size(); ++i) {
            const int64_t end = begin + node.types[i].shape[kChannels].value();
            patch.replace({node.id, i}, patch.op(stridedSliceOp, {node.operands[0]},
                                                 channelSliceAttrs(begin, end)));
            begin = end;
        }
        patch.erase(node.id);
        return patch.take();
    }

    /// A concatenation with each run of neighbouring slices as one operand.
    std::optional<Patch> joinedSlices(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, concatenateOp)) return std::nullopt;
        const size_t rank = node.types[0].shape.size();
        if (normalizedAxis(node.attrs.integer("axis", 0), rank) != kChannels) return std::nullopt;
        std::vector<Run> runs;
        for (const ValueRef operand : node.operands)
            if (const auto run = runOf(operand);
                run && !runs.empty() && runs.back().slice && runs.back().source == run->source &&
                runs.back().slice->begin + runs.back().slice->extent == run->slice->begin)
                runs.back().slice->extent += run->slice->extent;
            else
                runs.push_back(run ? *run : Run{operand, {}, operand});
        if (runs.size() == node.operands.size()) return std::nullopt;
        return patchOf(node, runs);
    }

    /// Operands of a concatenation that are one.
    struct Run
    {
        ValueRef source;                 ///< what slices are of
        std::optional<SliceRange> slice; ///< of channels
        ValueRef value = {};             ///< the first operand
    };

    std::optional<Run> runOf(ValueRef operand) const
    {
        const NodeRecord& node = m_module.node(operand.node);
        const auto slice = channelSliceOf(m_module, node);
        return slice ? std::optional(Run{node.operands[0], slice, operand}) : std::nullopt;
    }

    Patch patchOf(const NodeRecord& node, const std::vector<Run>& runs) const
    {
        PatchWriter patch(m_module, m_function.id, "join-slices",
                          nodeLabel(m_module, node) + " joins neighbouring slices", {node.id});
        if (runs.size() == 1 && !m_uses.isResult(node.id)) {
            patch.replaceAndErase(node.id, valueOf(patch, runs.front()));
            return patch.take();
        }
        NodeRecord joined = node;
        joined.operands.clear();
        for (const Run& run : runs) joined.operands.push_back(valueOf(patch, run));
        joined.types.clear();
        patch.change(std::move(joined));
        return patch.take();
    }

    ValueRef valueOf(PatchWriter& patch, const Run& run) const
    {
        if (!run.slice || m_module.type(run.value).shape[kChannels] == Dim(run.slice->extent))
            return run.value;
        if (m_module.type(run.source).shape[kChannels] == Dim(run.slice->extent)) return run.source;
        const int64_t begin = run.slice->begin, end = begin + run.slice->extent;
        return patch.op(stridedSliceOp, {run.source}, channelSliceAttrs(begin, end));
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
};

} // namespace

Result<Patches> runSplitChannels(const Module& module, const PassContext&)
{
    return rewriteFunctions<ChannelSplitter>(module);
}

} // namespace tenon::compiler
