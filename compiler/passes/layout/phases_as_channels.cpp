// SPDX-License-Identifier: Apache-2.0
// The windows of the image, in floats.
#include "compiler/passes/layout/phases_as_channels.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/transposed_windows.h"

namespace tenon::compiler {

std::optional<Patch> phasesAsChannels(const Module& module, const GraphFunction& function,
                                      const NodeRecord& node)
{
    const Tensor& weight = *constantOf(module, node.operands[1]);
    const auto windows = transposedWindows(module, node, weight.shape());
    if (!windows) return std::nullopt;
    PatchWriter patch(module, function.id, "phases-as-channels",
                      "one convolution makes all results of a window of the image", {node.id});
    const ValueRef filters =
        patch.constant(windows->weightOf(weight), module.node(node.operands[1].node).name);
    Attrs attrs{{"padding", windows->padding()}};
    if (windows->groups() != 1) attrs.set("groups", windows->groups());
    const ValueRef results = patch.op(conv2dOp, {node.operands[0], filters}, std::move(attrs));
    patch.replace({node.id, 0}, windows->imageOf(patch, results, weight.shape()[1]));
    patch.erase(node.id);
    return patch.take();
}

} // namespace tenon::compiler
