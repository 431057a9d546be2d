// SPDX-License-Identifier: Apache-2.0
// Links between groups by what they save: the bytes between two convolutions, or a convolution and
// a pool, that are neither written to memory nor read back, less the rows at the border of a strip
// that are computed twice and what tiles lose that fill rows in place of the image.
#include "compiler/passes/fuse/conv_chains.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/group_links.h"
#include "compiler/passes/patch_chunks.h"
#include "compiler/passes/rewrite.h"
#include "compiler/schedule/row_strips.h"
#include "compiler/schedule/rules/register_tile.h"
#include "core/base/text.h"
#include "core/ir/size_bounds.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace tenon::compiler {
namespace {

/// A value that does not stay in the second-level cache is written, read into it for that, and read
/// again; one that stays is written and read there (Zen 4, whose third level is hardly slower:
/// MobileNetV2 took 8.3 ms where that was not counted, 7.6 now).
constexpr double kTransfers = 3, kTransfersInside = 2;
/// Largest window of which the depthwise kernel and the pools write out all elements, and the most
/// columns that they write out; with vectors the depthwise kernel also takes so many rows in turn.
constexpr int64_t kLargestWindow = 9;
constexpr int64_t kMostColumns = 7;

enum class PartKind : uint8_t
{
    Pointwise,
    Window, ///< any other convolution over all channels; begins a chain
    Depthwise,
    Pool ///< ends a chain
};

/// A group that can be part of a chain.
struct Part
{
    const NodeRecord* anchor = nullptr;
    PartKind kind = PartKind::Pool;
    std::vector<int64_t> shape;     ///< of the result
    int64_t window = 1, stride = 1; ///< along the rows
    int64_t weights = 0;            ///< elements
    int64_t macs = 0;
    int64_t group = 1; ///< blocks of channels that are computed together

    int64_t images() const { return shape[0]; }
    /// Of all images, each of which goes through the chain by itself.
    int64_t bytes() const { return elementCount(shape) * kFloat32.bytes(); }
    /// Each channel by itself.
    bool isSliding() const { return kind == PartKind::Depthwise || kind == PartKind::Pool; }
};

bool isPointwise(const NodeRecord& conv, const std::vector<int64_t>& weight)
{
    const std::vector<int64_t> ones{1, 1}, none(4, 0);
    return weight[2] == 1 && weight[3] == 1 && conv.attrs.integers("strides", ones) == ones &&
           conv.attrs.integers("padding", none) == none;
}

std::optional<PartKind> kindOf(const NodeRecord& node)
{
    if (isOp(node, conv2dNchwcOp) && node.attrs.integer("groups", 1) == 1) return PartKind::Window;
    if (isOp(node, depthwiseConv2dNchwcOp)) return PartKind::Depthwise;
    if (isOp(node, maxPool2dOp) || isOp(node, avgPool2dOp)) return PartKind::Pool;
    return std::nullopt;
}

/// True where a kernel takes such a window from the image itself, without a padded copy.
bool needsNoCopy(PartKind kind, int64_t rows, int64_t columns, const TargetFacts& facts)
{
    const bool hasVectors = facts.vectorBytes > kFloat32.bytes();
    const bool takesRowsInTurn = kind == PartKind::Depthwise && hasVectors;
    return columns <= kMostColumns &&
           (rows * columns <= kLargestWindow || (takesRowsInTurn && rows <= kMostColumns));
}

/// Adds what the weights say; false when they are not known, or the window is too large.
bool addWeights(const Module& module, Part& part, const TargetFacts& facts)
{
    const auto weight = knownShape(module, part.anchor->operands[1]);
    if (!weight) return false;
    if (part.kind == PartKind::Window && isPointwise(*part.anchor, *weight))
        part.kind = PartKind::Pointwise;
    part.weights = elementCount(*weight);
    part.group = std::min((*weight)[5] / part.shape.back(), part.shape[1]);
    if (part.group == 1 && part.kind != PartKind::Depthwise)
        part.group =
            blocksPerGroup(part.shape[1], part.shape[3], part.weights * kFloat32.bytes(), facts);
    part.macs =
        elementCount(part.shape) * (*weight)[1] * (*weight)[2] * (*weight)[3] * (*weight)[4];
    part.window = (*weight)[2];
    return part.kind == PartKind::Window ||
           needsNoCopy(part.kind, (*weight)[2], (*weight)[3], facts);
}

/// With as many images as may come where a batch is open, one where nothing says how many; nothing
/// where images are patches, which end within a chain.
std::optional<std::vector<int64_t>> shapeOfImages(Shape shape, const SizeBounds& bounds)
{
    constexpr int64_t kMostImages = 64;
    if (!shape.empty() && !shape[0].isConst()) {
        if (arePatches(shape[0])) return std::nullopt;
        const auto range = rangeOf(shape[0], bounds);
        shape[0] = range ? std::clamp<int64_t>(range->high, 1, kMostImages) : 1;
    }
    return constantShape(shape);
}

/// The group as part of a chain when it is a convolution or a pool, and what follows it.
std::optional<Part> partOf(const Module& module, const FusionGroup& group, const SizeBounds& bounds,
                           const TargetFacts& facts)
{
    if (!group.anchor.isValid() || group.members.front() != group.anchor) return std::nullopt;
    const NodeRecord& anchor = module.node(group.anchor);
    const auto kind = kindOf(anchor);
    if (!kind) return std::nullopt;
    const TensorType& own = module.type({group.anchor, 0});
    const TensorType& result = module.type({group.members.back(), 0});
    const auto shape = shapeOfImages(own.shape, bounds);
    if (!shape || shape->size() != 5 || own.dtype != kFloat32 || result.dtype != kFloat32 ||
        result.shape != own.shape ||
        anchor.attrs.integers("dilation", {1, 1}) != std::vector<int64_t>{1, 1})
        return std::nullopt;
    Part part{.anchor = &anchor, .kind = *kind, .shape = *shape};
    part.stride = anchor.attrs.integers("strides", {1, 1})[0];
    if (*kind != PartKind::Pool) {
        const bool isKnown = group.members.size() > 1 && addWeights(module, part, facts);
        return isKnown ? std::optional(std::move(part)) : std::nullopt;
    }
    const std::vector<int64_t> size = anchor.attrs.integers("pool_size", {1, 1});
    part.window = size[0];
    if (!needsNoCopy(*kind, size[0], size[1], facts)) return std::nullopt;
    return part;
}

/// Cycles that a pointwise convolution takes longer row by row than over the image as one axis:
/// tiles of few positions fill rows badly (Zen 3, 512 channels at 14 x 14 behind a depthwise
/// convolution: 1.9 ms as a chain, 1.4 apart).
double rowCycles(const Part& part, const TargetFacts& facts)
{
    if (part.kind != PartKind::Pointwise) return 0;
    const int64_t rows = part.shape[2], columns = part.shape[3];
    const int64_t depth = part.macs / elementCount(part.shape);
    const TileSpace row{.vectors = part.group,
                        .positions = columns,
                        .vectorBytes = depth * part.shape.back() * kFloat32.bytes()};
    TileSpace image = row;
    image.positions = rows * columns;
    const double steps =
        static_cast<double>(depth * part.shape[1]) / static_cast<double>(part.group);
    return steps * static_cast<double>(part.images()) *
           (static_cast<double>(rows) * stepCyclesOfAll(row, facts) -
            stepCyclesOfAll(image, facts));
}

/// Two groups of which the second reads nothing but the first's result in its convolution.
struct Link
{
    size_t from, to;
};

class Chains
{
public:
    Chains(const Module& module, const GraphFunction& function, const TargetFacts& facts,
           std::vector<FusionGroup> groups)
        : m_module(module)
        , m_uses(module, function)
        , m_facts(facts)
        , m_groups(std::move(groups))
    {
    }

    std::vector<FusionGroup> run()
    {
        const SizeBounds bounds = boundsOf(m_module.main());
        for (const FusionGroup& group : m_groups)
            m_parts.push_back(partOf(m_module, group, bounds, m_facts));
        m_links = GroupLinks(m_groups.size());
        for (const Link& link : allLinks()) {
            // A pointwise convolution ends one chain or begins another.
            if (m_links.hasNext(link.to) && !m_parts[link.to]->isSliding()) continue;
            if (m_links.hasPrevious(link.from) && !m_parts[link.from]->isSliding()) continue;
            const double apart = savedCycles(link.from) + savedCycles(link.to);
            m_links.connect(link.from, link.to);
            if (savedCycles(link.to) > apart) continue;
            m_links.disconnect(link.from, link.to);
        }
        return m_links.joined(m_groups, [this](const auto& chain) { return reasonOf(chain); });
    }

private:
    /// Those with most to save first.
    std::vector<Link> allLinks() const
    {
        std::unordered_map<NodeId, size_t> byResult;
        std::vector<Link> links;
        for (size_t i = 0; i < m_groups.size(); ++i) {
            if (!m_parts[i]) continue;
            byResult[m_groups[i].members.back()] = i;
            const auto found = byResult.find(m_parts[i]->anchor->operands[0].node);
            if (found == byResult.end() || !m_uses.hasOneUser(found->first)) continue;
            if (canFollow(*m_parts[found->second], *m_parts[i]))
                links.push_back({found->second, i});
        }
        std::stable_sort(links.begin(), links.end(), [&](const Link& a, const Link& b) {
            return m_parts[a.from]->bytes() > m_parts[b.from]->bytes();
        });
        return links;
    }

    bool canFollow(const Part& from, const Part& to) const
    {
        if (from.isSliding() == to.isSliding()) return false;
        if (from.kind == PartKind::Pool || to.kind == PartKind::Window) return false;
        // Of a tensor of a quarter of the cache much is gone before it is read again: weights, the
        // convolution's own operand and what else is alive pass through, too. Every strip reads all
        // weights.
        const int64_t weights = from.kind == PartKind::Window ? from.weights * kFloat32.bytes() : 0;
        return from.bytes() > m_facts.l2Bytes / 4 && weights <= m_facts.l2Bytes / 8;
    }

    /// Rows of the result per strip of a chain.
    int64_t stripOf(const std::vector<size_t>& chain) const
    {
        int64_t bytes = 0; // a window needs no more channels than are computed together
        for (size_t i = 0; i + 1 < chain.size(); ++i) {
            const Part& part = *m_parts[chain[i]];
            const int64_t ofImage = part.bytes() / part.images();
            bytes += part.isSliding() ? ofImage : ofImage * part.group / part.shape[1];
        }
        const int64_t rows = m_parts[chain.back()]->shape[2];
        return rowsPerStrip(rows, bytes / rows, m_facts);
    }

    /// Cycles that the chain with this group saves; negative where a strip has one row only.
    double savedCycles(size_t inside) const
    {
        const std::vector<size_t> chain = m_links.chainWith(inside);
        if (chain.size() == 1) return 0;
        const int64_t strip = stripOf(chain);
        if (strip < 2) return -1;
        const int64_t strips = (m_parts[chain.back()]->shape[2] + strip - 1) / strip;
        double saved = 0;
        for (const size_t part : chain) saved -= rowCycles(*m_parts[part], m_facts);
        for (size_t i = 0; i + 1 < chain.size(); ++i) {
            const Part& from = *m_parts[chain[i]];
            const Part& to = *m_parts[chain[i + 1]];
            saved +=
                static_cast<double>(from.bytes()) * (kTransfers / m_facts.farBytesPerCycle() -
                                                     kTransfersInside / m_facts.l2BytesPerCycle);
            // Rows that two strips need.
            const auto shared = static_cast<double>(std::max<int64_t>(0, to.window - to.stride));
            const auto again = shared * static_cast<double>(strips - 1) /
                               static_cast<double>(to.shape[2] * to.stride);
            const double perCycle =
                m_facts.vectorMacs() * std::max(1, m_facts.lanes(kFloat32.bytes()));
            saved -= again * static_cast<double>(from.macs) / perCycle;
        }
        return saved;
    }

    std::string reasonOf(const std::vector<size_t>& chain) const
    {
        std::vector<std::string> ops;
        int64_t bytes = 0;
        for (const size_t part : chain) {
            ops.push_back(m_parts[part]->anchor->op);
            if (part != chain.back()) bytes += m_parts[part]->bytes();
        }
        return join(ops, ", ") + " follow one another by strips of " +
               std::to_string(stripOf(chain)) + " rows; the " + std::to_string(bytes / 1024) +
               " KiB between them stay in the second-level cache";
    }

    const Module& m_module;
    const UseIndex m_uses;
    const TargetFacts& m_facts;
    std::vector<FusionGroup> m_groups;
    std::vector<std::optional<Part>> m_parts; ///< by group
    GroupLinks m_links;
};

} // namespace

std::vector<FusionGroup> joinConvChains(const Module& module, const GraphFunction& function,
                                        const TargetFacts& facts, std::vector<FusionGroup> groups)
{
    return Chains(module, function, facts, std::move(groups)).run();
}

} // namespace tenon::compiler
