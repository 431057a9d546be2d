// SPDX-License-Identifier: Apache-2.0
// SplitTaps: a kernel dilated so far that most of what its taps read is padding becomes one
// convolution of 1 x 1 per tap, of the part of the image that the tap meets; the parts are added up
// where they belong. Of 3 x 3 taps with dilation 12 on 14 x 14 pixels, that is a fifth of the
// products, and no copy of 38 x 38.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::compiler {
namespace {

/// Share of the work of one kernel for all taps above which that is faster.
constexpr double kMostOfAll = 0.875;
/// Of each tap, a part of the image is copied, and its results are widened and added: what moving
/// a channel's pixel takes, and a tap's calls, in products.
constexpr double kProductsPerCopy = 4;
constexpr double kCopiesOfResults = 3;
constexpr double kProductsPerTap = 2000;
constexpr int64_t kMostTaps = 25;

/// Results [first, end) of an axis that a tap reads the image for, and its offset there.
struct Reach
{
    int64_t first, end, offset;
    int64_t extent() const { return std::max<int64_t>(0, end - first); }
};

/// A convolution that takes single steps.
struct Site
{
    const Tensor* weight;
    std::vector<int64_t> image, result, padding, dilation;

    Reach reach(size_t axis, int64_t tap) const
    {
        const int64_t offset = tap * dilation[axis] - padding[axis];
        return {std::max<int64_t>(0, -offset), std::min(result[2 + axis], image[2 + axis] - offset),
                offset};
    }
};

class TapSplitter
{
public:
    TapSplitter(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto site = siteOf(node);
            if (site && isMostlyPadding(*site)) patches.push_back(patchOf(node, *site));
        }
        return patches;
    }

private:
    std::optional<Site> siteOf(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || !isOp(node, conv2dOp)) return std::nullopt;
        const std::vector<int64_t> ones{1, 1};
        const auto image = knownShape(m_module, node.operands[0]);
        const auto result = constantShape(node.types[0].shape);
        Site site{.weight = constantOf(m_module, node.operands[1]),
                  .image = image.value_or(std::vector<int64_t>{}),
                  .result = result.value_or(std::vector<int64_t>{}),
                  .padding = node.attrs.integers("padding", {0, 0, 0, 0}),
                  .dilation = node.attrs.integers("dilation", ones)};
        if (!image || !result || !site.weight || site.weight->dtype() != kFloat32 ||
            node.attrs.integer("groups", 1) != 1 || node.attrs.integers("strides", ones) != ones ||
            site.dilation == ones)
            return std::nullopt;
        return site;
    }

    static bool isMostlyPadding(const Site& site)
    {
        const std::vector<int64_t>& weight = site.weight->shape();
        if (weight[2] * weight[3] > kMostTaps) return false;
        double pixels = 1, taps = 1;
        for (size_t axis = 0; axis < 2; ++axis) {
            int64_t met = 0, meeting = 0;
            for (int64_t tap = 0; tap < weight[2 + axis]; ++tap) {
                const int64_t extent = site.reach(axis, tap).extent();
                met += extent;
                meeting += extent > 0 ? 1 : 0;
            }
            pixels *= static_cast<double>(met);
            taps *= static_cast<double>(meeting);
        }
        if (pixels == 0) return false;
        const auto outputs = static_cast<double>(weight[0]);
        const auto inputs = static_cast<double>(weight[1]);
        const double copies = kProductsPerCopy * (inputs + kCopiesOfResults * outputs);
        const double parts = pixels * (inputs * outputs + copies) + taps * kProductsPerTap;
        const auto results = static_cast<double>(site.result[2] * site.result[3]);
        return parts <=
               kMostOfAll * inputs * outputs * results * static_cast<double>(weight[2] * weight[3]);
    }

    /// [O, C, 1, 1] of a tap.
    static Tensor weightOf(const Tensor& weight, int64_t row, int64_t column)
    {
        const std::vector<int64_t>& shape = weight.shape();
        return Tensor::make(kFloat32, {shape[0], shape[1], 1, 1}, [&](std::span<std::byte> out) {
            for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
                const int64_t source = (plane * shape[2] + row) * shape[3] + column;
                std::memcpy(out.data() + static_cast<size_t>(plane) * sizeof(float),
                            weight.bytes().data() + static_cast<size_t>(source) * sizeof(float),
                            sizeof(float));
            }
        });
    }

    /// What the tap adds to every result.
    static ValueRef partOf(PatchWriter& patch, const Site& site, ValueRef data, ValueRef weight,
                           const Reach& rows, const Reach& columns)
    {
        const std::vector<int64_t> begin{rows.first + rows.offset, columns.first + columns.offset};
        const std::vector<int64_t> end{rows.end + rows.offset, columns.end + columns.offset};
        if (begin != std::vector<int64_t>{0, 0} || end[0] != site.image[2] ||
            end[1] != site.image[3])
            data = patch.op(stridedSliceOp, {data},
                            {{"axes", std::vector<int64_t>{2, 3}}, {"begin", begin}, {"end", end}});
        const ValueRef part = patch.op(conv2dOp, {data, weight});
        const std::vector<int64_t> around{0,
                                          0,
                                          0,
                                          0,
                                          rows.first,
                                          site.result[2] - rows.end,
                                          columns.first,
                                          site.result[3] - columns.end};
        if (std::all_of(around.begin(), around.end(), [](int64_t side) { return side == 0; }))
            return part;
        return patch.op(padOp, {part}, {{"pad_width", around}});
    }

    Patch patchOf(const NodeRecord& node, const Site& site) const
    {
        const std::vector<int64_t>& weight = site.weight->shape();
        PatchWriter patch(m_module, m_function.id, "split-taps",
                          "most of what " + std::to_string(weight[2]) + " x " +
                              std::to_string(weight[3]) +
                              " taps read is padding; each is a convolution of its own part",
                          {node.id});
        ValueRef sum;
        for (int64_t y = 0; y < weight[2]; ++y)
            for (int64_t x = 0; x < weight[3]; ++x) {
                const Reach rows = site.reach(0, y), columns = site.reach(1, x);
                if (rows.extent() == 0 || columns.extent() == 0) continue;
                const ValueRef filters = patch.constant(weightOf(*site.weight, y, x),
                                                        m_module.node(node.operands[1].node).name);
                const ValueRef part = partOf(patch, site, node.operands[0], filters, rows, columns);
                sum = sum.node.isValid() ? patch.op(addOp, {sum, part}) : part;
            }
        patch.replaceAndErase(node.id, sum);
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
};

} // namespace

Result<Patches> runSplitTaps(const Module& module, const PassContext&)
{
    return rewriteFunctions<TapSplitter>(module);
}

} // namespace tenon::compiler
