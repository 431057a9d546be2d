// SPDX-License-Identifier: Apache-2.0
// Patches come from cut_patches, which says what they cover; what is computed of them keeps their
// order.
#include "compiler/passes/fuse/patch_grid.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

bool isPrimitiveCall(const Module& module, const NodeRecord& node)
{
    if (node.kind != NodeKind::Call || node.types.empty() || node.types[0].shape.empty())
        return false;
    const GraphFunction& callee = module.function(node.callee);
    return callee.attrs.integer("primitive", 0) != 0 && !callee.order.empty();
}

class GridReader
{
public:
    explicit GridReader(const Module& module)
        : m_module(module)
    {
    }

    /// Of the patches that the first result of the call is.
    const std::optional<PatchGrid>& of(const NodeRecord& call)
    {
        const auto [known, isNew] = m_known.try_emplace(call.id);
        if (isNew) known->second = read(call);
        return known->second;
    }

private:
    std::optional<PatchGrid> read(const NodeRecord& call)
    {
        for (const NodeId id : m_module.function(call.callee).order)
            if (isOp(m_module.node(id), cutPatchesOp)) return gridOf(m_module.node(id));
        for (const ValueRef operand : call.operands) {
            if (!operand.node.isValid()) continue;
            const Shape& shape = m_module.type(operand).shape;
            const NodeRecord& producer = m_module.node(operand.node);
            if (!shape.empty() && !shape[0].isConst() && shape[0] == call.types[0].shape.at(0) &&
                isPrimitiveCall(m_module, producer))
                return of(producer);
        }
        return std::nullopt;
    }

    static std::optional<PatchGrid> gridOf(const NodeRecord& cut)
    {
        PatchGrid grid{.images = cut.attrs.strings("images", {}),
                       .sides = cut.attrs.integers("sides", {}),
                       .patch = cut.attrs.integers("patch", {}),
                       .steps = cut.attrs.integers("step", {})};
        return grid.images.size() == 2 ? std::optional(grid) : std::nullopt;
    }

    const Module& m_module;
    std::map<NodeId, std::optional<PatchGrid>> m_known;
};

bool isWindow(const NodeRecord& node)
{
    const std::string layout =
        node.attrs.string("data_layout", node.attrs.string("layout", "NCHW"));
    return isOneOf(node, conv2dOp, conv2dNchwcOp, depthwiseConv2dNchwcOp, winogradConv2dNchwcOp,
                   qnnConv2dNchwcOp, qnnDepthwiseConv2dNchwcOp, qnnWinogradConv2dNchwcOp,
                   maxPool2dOp, avgPool2dOp) &&
           layout.starts_with("NCHW");
}

/// Windows say where the rows and columns of an image are; nothing else may move them.
bool keepsRows(const Module& module, const GraphFunction& function)
{
    bool hasWindows = false;
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (node.kind != NodeKind::Op || isOp(node, cutPatchesOp)) continue;
        if (isWindow(node))
            hasWindows = true;
        else if (factsOf(node).pattern > Pattern::Broadcast)
            return false;
    }
    return hasWindows;
}

/// Patches with what windows reach around them, as they were cut.
bool isAsCut(const Module& module, const GraphFunction& function, const PatchGrid& grid)
{
    if (function.order.size() != 1) return false;
    const NodeRecord& node = module.node(function.order[0]);
    const bool movesChannels = isOp(node, layoutTransformOp) &&
                               node.attrs.string("src_layout", "").starts_with("NCHW") &&
                               node.attrs.string("dst_layout", "").starts_with("NCHW");
    const Shape& shape = node.types[0].shape;
    return (movesChannels || isOp(node, cutPatchesOp)) && shape.size() >= 4 &&
           shape[2] == Dim(grid.patch[0]) && shape[3] == Dim(grid.patch[1]);
}

/// What a kernel of the function makes of the patches; nothing where it may move them.
std::optional<PatchGrid> gridOfResults(const Module& module, const GraphFunction& function,
                                       const std::optional<PatchGrid>& grid)
{
    if (!grid || isAsCut(module, function, *grid)) return grid;
    if (!keepsRows(module, function)) return std::nullopt;
    PatchGrid images = *grid;
    images.steps.clear();
    return images;
}

} // namespace

std::map<FunctionId, PatchGrid> patchGridsOf(const Module& module)
{
    GridReader reader(module);
    std::map<FunctionId, PatchGrid> grids;
    std::set<FunctionId> refused;
    for (const auto& [id, function] : module.functions()) {
        if (function->attrs.integer("primitive", 0) != 0) continue;
        for (const NodeId nodeId : function->order) {
            const NodeRecord& node = module.node(nodeId);
            if (!isPrimitiveCall(module, node)) continue;
            const auto grid = gridOfResults(module, module.function(node.callee), reader.of(node));
            if (!grid || grids.try_emplace(node.callee, *grid).first->second != *grid)
                refused.insert(node.callee);
        }
    }
    for (const FunctionId id : refused) grids.erase(id);
    return grids;
}

} // namespace tenon::compiler
