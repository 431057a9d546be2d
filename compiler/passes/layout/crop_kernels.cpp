// SPDX-License-Identifier: Apache-2.0
// CropKernels: the outer taps of a kernel that never meet the image, but only the zeros around it,
// are cut off with the zeros that they read: a kernel of 3 x 3 with dilation 36 on 14 x 14 pixels
// is one of 1 x 1 without padding.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <array>
#include <cstring>
#include <optional>

namespace tenon::compiler {
namespace {

/// One axis of a window.
struct Taps
{
    int64_t image, results, stride, dilation;
    int64_t first, end; ///< taps that stay
    int64_t before, after;

    bool meetsImage(int64_t tap) const
    {
        const int64_t offset = tap * dilation - before;
        for (int64_t i = 0; i < results; ++i)
            if (const int64_t at = i * stride + offset; at >= 0 && at < image) return true;
        return false;
    }
    /// Padding shrinks with every tap; there is none less than zero.
    void crop()
    {
        int64_t left = first, right = end;
        while (left + 1 < right && !meetsImage(left) && (left + 1) * dilation <= before) ++left;
        while (left + 1 < right && !meetsImage(right - 1) && (end - right + 1) * dilation <= after)
            --right;
        before -= left * dilation;
        after -= (end - right) * dilation;
        first = left;
        end = right;
    }
};

class KernelCropper
{
public:
    KernelCropper(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            auto taps = tapsOf(node);
            if (!taps) continue;
            const std::array<Taps, 2> whole = *taps;
            for (Taps& axis : *taps) axis.crop();
            if (isCropped(whole[0], (*taps)[0]) || isCropped(whole[1], (*taps)[1]))
                patches.push_back(patchOf(node, *taps));
        }
        return patches;
    }

private:
    static bool isCropped(const Taps& whole, const Taps& axis)
    {
        return axis.end - axis.first != whole.end - whole.first;
    }

    std::optional<std::array<Taps, 2>> tapsOf(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, conv2dOp)) return std::nullopt;
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        const Shape &data = m_module.type(node.operands[0]).shape, &out = node.types[0].shape;
        const std::vector<int64_t> padding = node.attrs.integers("padding", {0, 0, 0, 0});
        if (!weight || weight->dtype() != kFloat32 || padding == std::vector<int64_t>(4, 0))
            return std::nullopt;
        std::array<Taps, 2> taps{};
        for (size_t i = 0; i < 2; ++i) {
            if (!data[2 + i].isConst() || !out[2 + i].isConst()) return std::nullopt;
            taps[i] = {.image = data[2 + i].value(),
                       .results = out[2 + i].value(),
                       .stride = node.attrs.integers("strides", {1, 1})[i],
                       .dilation = node.attrs.integers("dilation", {1, 1})[i],
                       .first = 0,
                       .end = weight->shape()[2 + i],
                       .before = padding[i],
                       .after = padding[2 + i]};
        }
        return taps;
    }

    static Tensor weightOf(const Tensor& weight, const std::array<Taps, 2>& taps)
    {
        const std::vector<int64_t>& from = weight.shape();
        const int64_t rows = taps[0].end - taps[0].first, columns = taps[1].end - taps[1].first;
        const auto run = static_cast<size_t>(columns) * sizeof(float);
        return Tensor::make(
            kFloat32, {from[0], from[1], rows, columns}, [&](std::span<std::byte> out) {
                std::byte* at = out.data();
                for (int64_t plane = 0; plane < from[0] * from[1]; ++plane)
                    for (int64_t row = taps[0].first; row < taps[0].end; ++row) {
                        const int64_t source = (plane * from[2] + row) * from[3] + taps[1].first;
                        std::memcpy(
                            at, weight.bytes().data() + static_cast<size_t>(source) * sizeof(float),
                            run);
                        at += run;
                    }
            });
    }

    Patch patchOf(const NodeRecord& node, const std::array<Taps, 2>& taps) const
    {
        const Tensor& weight = *constantOf(m_module, node.operands[1]);
        const Tensor cropped = weightOf(weight, taps);
        PatchWriter patch(m_module, m_function.id, "crop-kernel",
                          "of " + std::to_string(weight.shape()[2]) + " x " +
                              std::to_string(weight.shape()[3]) + " taps " +
                              std::to_string(cropped.shape()[2]) + " x " +
                              std::to_string(cropped.shape()[3]) + " meet the image",
                          {node.id});
        NodeRecord record = node;
        record.operands[1] = patch.constant(cropped, m_module.node(node.operands[1].node).name);
        record.attrs.set("padding", std::vector<int64_t>{taps[0].before, taps[1].before,
                                                         taps[0].after, taps[1].after});
        patch.change(std::move(record));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
};

} // namespace

Result<Patches> runCropKernels(const Module& module, const PassContext&)
{
    return rewriteFunctions<KernelCropper>(module);
}

} // namespace tenon::compiler
