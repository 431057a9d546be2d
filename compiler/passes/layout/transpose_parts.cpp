// SPDX-License-Identifier: Apache-2.0
// TransposeParts: detectors join, for each image size, parts [N, c, H, W] along the channels,
// flatten them to [N, C, H*W], join the sizes to [N, C, A] and transpose that to [N, A, C]. Instead
// each part becomes [N, H*W, c] by itself, while its channels lie side by side anyway; parts of the
// same channels are joined over the sizes, [N, A, c], and those along c, in the memory of one
// tensor. The whole is then moved twice, not four times.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/use_index.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// One size of image: parts of all its channels.
using Parts = std::vector<ValueRef>;

struct Joined
{
    std::vector<Parts> images;
    std::vector<NodeId> nodes; ///< from the transposition to what joins the parts
};

class Transposer
{
public:
    Transposer(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto joined = joinedBehind(node);
            if (joined && haveSameChannels(*joined) && comeFromConvolutions(*joined))
                patches.push_back(patchOf(node, *joined));
        }
        return patches;
    }

private:
    const NodeRecord* behind(ValueRef value, const OpDef& op) const
    {
        return operatorBehind(m_module, m_uses, value, op);
    }

    const NodeRecord* joinBehind(ValueRef value, int64_t axis, size_t rank) const
    {
        const NodeRecord* join = behind(value, concatenateOp);
        const bool fits = join && normalizedAxis(join->attrs.integer("axis", 0), rank) == axis;
        return fits ? join : nullptr;
    }

    /// [N, C, H, W] as [N, C, H W].
    const NodeRecord* flattenedImage(ValueRef value) const
    {
        const NodeRecord* reshape = behind(value, reshapeOp);
        const auto to = knownShape(m_module, value);
        const auto from = reshape ? knownShape(m_module, reshape->operands[0]) : std::nullopt;
        const bool fits = from && to && from->size() == 4 && to->size() == 3 &&
                          from->at(0) == to->at(0) && from->at(1) == to->at(1);
        return fits ? reshape : nullptr;
    }

    std::optional<Joined> joinedBehind(const NodeRecord& node) const
    {
        const std::vector<int64_t> channelsLast{0, 2, 1};
        if (!isOp(node, transposeOp) || node.attrs.integers("axes", {}) != channelsLast)
            return std::nullopt;
        const NodeRecord* sizes = joinBehind(node.operands[0], 2, 3);
        if (!sizes) return std::nullopt;
        Joined out{{}, {node.id, sizes->id}};
        for (const ValueRef operand : sizes->operands) {
            const NodeRecord* image = flattenedImage(operand);
            if (!image) return std::nullopt;
            out.nodes.push_back(image->id);
            const NodeRecord* channels = joinBehind(image->operands[0], 1, 4);
            if (channels) out.nodes.push_back(channels->id);
            out.images.push_back(channels ? channels->operands : image->operands);
        }
        return out;
    }

    int64_t channelsOf(ValueRef part) const
    {
        const auto shape = knownShape(m_module, part);
        return shape && shape->size() == 4 ? shape->at(1) : -1;
    }

    bool haveSameChannels(const Joined& joined) const
    {
        const Parts& first = joined.images[0];
        return std::all_of(joined.images.begin(), joined.images.end(), [&](const Parts& parts) {
            return std::equal(parts.begin(), parts.end(), first.begin(), first.end(),
                              [&](ValueRef a, ValueRef b) {
                                  return channelsOf(a) > 0 && channelsOf(a) == channelsOf(b);
                              });
        });
    }

    /// Functions of single elements keep how a convolution lays its channels.
    bool comesFromConvolution(ValueRef part) const
    {
        constexpr int kMostSteps = 8;
        for (int step = 0; step < kMostSteps && part.node.isValid(); ++step) {
            const NodeRecord& node = m_module.node(part.node);
            if (isOp(node, conv2dOp)) return true;
            if (node.kind != NodeKind::Op || node.operands.empty() ||
                knownShape(m_module, part) != knownShape(m_module, node.operands[0]))
                return false;
            part = node.operands[0];
        }
        return false;
    }

    bool comeFromConvolutions(const Joined& joined) const
    {
        return std::all_of(joined.images.begin(), joined.images.end(), [&](const Parts& parts) {
            return std::any_of(parts.begin(), parts.end(),
                               [&](ValueRef part) { return comesFromConvolution(part); });
        });
    }

    ValueRef transposed(PatchWriter& patch, ValueRef part) const
    {
        const std::vector<int64_t> shape = *knownShape(m_module, part);
        Attrs axes, rows;
        axes.set("axes", std::vector<int64_t>{0, 2, 3, 1});
        rows.set("newshape", std::vector<int64_t>{shape[0], shape[2] * shape[3], shape[1]});
        return patch.op(reshapeOp, {patch.op(transposeOp, {part}, std::move(axes))},
                        std::move(rows));
    }

    static ValueRef joined(PatchWriter& patch, std::vector<ValueRef> parts, int64_t axis)
    {
        if (parts.size() == 1) return parts[0];
        Attrs attrs;
        attrs.set("axis", axis);
        return patch.op(concatenateOp, std::move(parts), std::move(attrs));
    }

    Patch patchOf(const NodeRecord& node, const Joined& found) const
    {
        PatchWriter patch(m_module, m_function.id, "transpose-parts",
                          "channels of " + std::to_string(found.images.size()) +
                              " images become the last axis part by part",
                          found.nodes);
        std::vector<ValueRef> channels;
        for (size_t i = 0; i < found.images[0].size(); ++i) {
            std::vector<ValueRef> sizes;
            for (const Parts& parts : found.images) sizes.push_back(transposed(patch, parts[i]));
            channels.push_back(joined(patch, std::move(sizes), 1));
        }
        patch.replace({node.id, 0}, joined(patch, std::move(channels), 2));
        for (const NodeId id : found.nodes) patch.erase(id);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
};

} // namespace

Result<Patches> runTransposeParts(const Module& module, const PassContext&)
{
    return rewriteFunctions<Transposer>(module);
}

} // namespace tenon::compiler
