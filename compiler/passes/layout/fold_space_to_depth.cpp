// SPDX-License-Identifier: Apache-2.0
// FoldSpaceToDepth: an image [N, C, H, W] whose s x s phases [N, C, H/s, W/s] are joined to [N,
// s*s*C, H/s, W/s] and convolved with [O, s*s*C, K, K] becomes one convolution of the image with
// steps of s and a weight [O, C, s*K, s*K]. The image is then read where it is, without a tensor of
// its phases.
#include "compiler/ops/ops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace tenon::compiler {
namespace {

/// Images have few channels; of more, phases are worth the fewer multiplications of Winograd.
constexpr int64_t kMostChannels = 4;

struct Phase
{
    int64_t row, column;
    bool operator==(const Phase&) const = default;
};

struct SpaceToDepth
{
    ValueRef image;
    int64_t step = 0;
    std::vector<Phase> phases; ///< in the order of the channels
    std::set<NodeId> nodes;    ///< the slices and their concatenation
};

/// What one operand of the concatenation takes of an image.
struct Taken
{
    ValueRef image;
    std::vector<SliceRange> ranges;
};

class Folder
{
public:
    Folder(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run() const
    {
        Patches patches;
        for (const NodeId id : m_function.order) {
            const NodeRecord& conv = m_module.node(id);
            if (!isPlain(conv)) continue;
            if (const auto found = phasesBehind(conv.operands[0]))
                patches.push_back(patchOf(conv, *found));
        }
        return patches;
    }

private:
    bool isPlain(const NodeRecord& conv) const
    {
        if (!isOp(conv, conv2dOp) || !constantOf(m_module, conv.operands[1])) return false;
        const auto isOnes = [&](const char* name) {
            const std::vector<int64_t> values = conv.attrs.integers(name, {});
            return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 1; });
        };
        return conv.attrs.integer("groups", 1) == 1 && isOnes("strides") && isOnes("dilation");
    }

    /// Slices of slices are one slice of the first one's operand.
    Taken takenBy(ValueRef value, std::set<NodeId>& nodes) const
    {
        const NodeRecord& node = m_module.node(value.node);
        const auto own = node.kind == NodeKind::Op ? slicesOf(m_module, node) : std::nullopt;
        if (!own) return {value, {}};
        nodes.insert(node.id);
        Taken taken = takenBy(node.operands[0], nodes);
        if (taken.ranges.empty()) return {taken.image, *own};
        for (size_t d = 0; d < own->size(); ++d) {
            SliceRange& range = taken.ranges[d];
            range.begin += own->at(d).begin * range.stride;
            range.stride *= own->at(d).stride;
            range.extent = own->at(d).extent;
        }
        return taken;
    }

    /// The phase when the ranges take every `step`-th row and column of all channels.
    static std::optional<Phase> phaseOf(const std::vector<SliceRange>& ranges,
                                        const std::vector<int64_t>& image, int64_t step)
    {
        if (ranges.size() != 4) return std::nullopt;
        for (size_t d = 0; d < 4; ++d) {
            const SliceRange& range = ranges[d];
            const int64_t stride = d < 2 ? 1 : step;
            const bool fits =
                range.stride == stride && range.begin < stride && range.extent * stride == image[d];
            if (!fits) return std::nullopt;
        }
        return Phase{ranges[2].begin, ranges[3].begin};
    }

    std::optional<SpaceToDepth> phasesBehind(ValueRef value) const
    {
        const NodeRecord* joined = operatorBehind(m_module, m_uses, value, concatenateOp);
        if (!joined || normalizedAxis(joined->attrs.integer("axis", 0), 4) != 1)
            return std::nullopt;
        SpaceToDepth out{.nodes = {joined->id}};
        const auto count = static_cast<int64_t>(joined->operands.size());
        while (out.step * out.step < count) ++out.step;
        if (out.step < 2 || out.step * out.step != count) return std::nullopt;
        for (const ValueRef operand : joined->operands) {
            const Taken taken = takenBy(operand, out.nodes);
            if (!out.phases.empty() && !(taken.image == out.image)) return std::nullopt;
            out.image = taken.image;
            const auto image = knownShape(m_module, taken.image);
            if (!image || image->size() != 4 || image->at(1) > kMostChannels) return std::nullopt;
            const auto phase = phaseOf(taken.ranges, *image, out.step);
            const auto isKnown = [&](const Phase& other) { return other == phase; };
            if (!phase || std::any_of(out.phases.begin(), out.phases.end(), isKnown))
                return std::nullopt;
            out.phases.push_back(*phase);
        }
        return out;
    }

    /// [O, phases * C, KH, KW] -> [O, C, step * KH, step * KW].
    static Tensor weightOf(const Tensor& weight, const SpaceToDepth& found)
    {
        const std::vector<int64_t>& from = weight.shape();
        const auto count = static_cast<int64_t>(found.phases.size());
        const int64_t step = found.step, channels = from[1] / count;
        const auto bytes = static_cast<size_t>(weight.dtype().bytes());
        const std::vector<int64_t> to{from[0], channels, step * from[2], step * from[3]};
        return Tensor::make(weight.dtype(), to, [&](std::span<std::byte> out) {
            const std::byte* source = weight.bytes().data();
            for (int64_t i = 0; i < weight.size(); ++i, source += bytes) {
                const int64_t column = i % from[3], row = i / from[3] % from[2];
                const int64_t channel = i / (from[3] * from[2]) % from[1];
                const int64_t result = i / (from[3] * from[2] * from[1]);
                const Phase phase = found.phases[static_cast<size_t>(channel / channels)];
                const int64_t plane = result * channels + channel % channels;
                const int64_t at =
                    (plane * to[2] + row * step + phase.row) * to[3] + column * step + phase.column;
                std::memcpy(out.data() + static_cast<size_t>(at) * bytes, source, bytes);
            }
        });
    }

    /// Nodes that only others of them read, and the concatenation: they go.
    std::vector<NodeId> ownedBy(const SpaceToDepth& found) const
    {
        std::set<NodeId> gone;
        for (auto it = m_function.order.rbegin(); it != m_function.order.rend(); ++it) {
            if (!found.nodes.count(*it) || m_uses.isResult(*it)) continue;
            const std::span<const NodeId> users = m_uses.users(*it);
            const bool isOwned = std::all_of(users.begin(), users.end(),
                                             [&](NodeId user) { return gone.count(user) > 0; });
            if (isOwned || isOp(m_module.node(*it), concatenateOp)) gone.insert(*it);
        }
        return {gone.begin(), gone.end()};
    }

    Patch patchOf(const NodeRecord& conv, const SpaceToDepth& found) const
    {
        const std::vector<NodeId> gone = ownedBy(found);
        std::vector<NodeId> from = gone;
        from.push_back(conv.id);
        PatchWriter patch(m_module, m_function.id, "fold-space-to-depth",
                          "steps of " + std::to_string(found.step) +
                              " read all phases of the image in place",
                          std::move(from));
        NodeRecord strided = conv;
        const Tensor& weight = *constantOf(m_module, conv.operands[1]);
        strided.operands = {found.image, patch.constant(weightOf(weight, found))};
        std::vector<int64_t> padding = conv.attrs.integers("padding", {0, 0, 0, 0});
        for (int64_t& side : padding) side *= found.step;
        strided.attrs.set("padding", std::move(padding));
        strided.attrs.set("strides", std::vector<int64_t>{found.step, found.step});
        for (const NodeId id : gone) {
            strided.origin = mergedOrigin(strided.origin, m_module.node(id).origin);
            patch.erase(id);
        }
        patch.change(std::move(strided));
        return patch.take();
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
};

} // namespace

Result<Patches> runFoldSpaceToDepth(const Module& module, const PassContext&)
{
    return rewriteFunctions<Folder>(module);
}

} // namespace tenon::compiler
