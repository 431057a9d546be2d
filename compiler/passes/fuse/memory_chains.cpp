// SPDX-License-Identifier: Apache-2.0
// Greedy: of the groups that need most memory, the link that brings that down furthest comes first
// (the idea of patch-wise execution of MCUNetV2, with strips of whole rows as patches).
#include "compiler/passes/fuse/memory_chains.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/group_links.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "compiler/schedule/row_strips.h"
#include "core/base/text.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::compiler {
namespace {

/// Most multiply-adds of the function with what is computed twice, as its share without.
constexpr double kMostWork = 1.3;
/// Windows that read the image around its border themselves.
constexpr int64_t kLargestWindow = 9;
constexpr int64_t kMostColumns = 7;

/// A group that can be part of a chain.
struct Part
{
    const NodeRecord* anchor = nullptr;
    bool isDepthwise = false;
    bool isPointwise = false;
    std::vector<int64_t> shape; ///< of the result, in blocks of channels
    int64_t window = 1, stride = 1;
    double macs = 0;

    int64_t bytes() const { return elementCount(shape); }
    int64_t rowBytes() const { return bytes() / shape[2]; }
};

std::optional<Part> partOf(const Module& module, const FusionGroup& group)
{
    if (!group.anchor.isValid() || group.members.front() != group.anchor ||
        group.members.size() < 2)
        return std::nullopt;
    const NodeRecord& anchor = module.node(group.anchor);
    Part part{.anchor = &anchor, .isDepthwise = isOp(anchor, qnnDepthwiseConv2dNchwcOp)};
    if (!part.isDepthwise && !isOp(anchor, qnnConv2dNchwcOp)) return std::nullopt;
    const auto shape = knownShape(module, {group.anchor, 0});
    const auto weight = knownShape(module, anchor.operands[1]);
    const TensorType& result = module.type({group.members.back(), 0});
    if (!shape || shape->size() != 5 || shape->front() != 1 || !weight || result.dtype.bits != 8 ||
        constantShape(result.shape) != shape || module.type(anchor.operands[0]).shape.size() != 5 ||
        anchor.attrs.integers("dilation", {1, 1}) != std::vector<int64_t>{1, 1})
        return std::nullopt;
    part.shape = *shape;
    part.stride = anchor.attrs.integers("strides", {1, 1})[0];
    part.window = part.isDepthwise ? anchor.attrs.integer("kernel_rows", 1) : (*weight)[2];
    const int64_t columns = part.isDepthwise ? (*weight)[2] : (*weight)[3];
    if (part.isDepthwise && (part.window * columns > kLargestWindow || columns > kMostColumns))
        return std::nullopt;
    part.isPointwise = !part.isDepthwise && part.window == 1 && columns == 1 && part.stride == 1 &&
                       anchor.attrs.integers("padding", {0, 0, 0, 0}) == std::vector<int64_t>(4, 0);
    part.macs = part.isDepthwise
                    ? static_cast<double>(part.bytes() * part.window * columns)
                    : static_cast<double>(elementCount(*weight) * part.shape[2] * part.shape[3]) *
                          (module.type(anchor.operands[1]).dtype == kInt32 ? 4.0 : 1.0);
    return part;
}

class MemoryChains
{
public:
    MemoryChains(const Module& module, const GraphFunction& function,
                 std::vector<FusionGroup> groups)
        : m_module(module)
        , m_uses(module, function)
        , m_groups(std::move(groups))
    {
        for (const FusionGroup& group : m_groups) {
            m_parts.push_back(partOf(module, group));
            if (m_parts.back()) m_macs += m_parts.back()->macs;
        }
        m_links = GroupLinks(m_groups.size());
    }

    std::vector<FusionGroup> run()
    {
        const std::vector<Link> links = allLinks();
        while (const Link* best = bestOf(links)) connect(*best);
        return m_links.joined(m_groups, [this](const auto& chain) { return reasonOf(chain); });
    }

private:
    struct Link
    {
        size_t from, to;
    };

    std::vector<Link> allLinks() const
    {
        std::unordered_map<NodeId, size_t> byResult;
        std::vector<Link> links;
        for (size_t i = 0; i < m_groups.size(); ++i) {
            if (!m_parts[i]) continue;
            byResult[m_groups[i].members.back()] = i;
            const auto found = byResult.find(m_parts[i]->anchor->operands[0].node);
            if (found == byResult.end() || !m_uses.hasOneUser(found->first)) continue;
            const Part &from = *m_parts[found->second], &to = *m_parts[i];
            if (from.isDepthwise != to.isDepthwise && (to.isDepthwise || to.isPointwise))
                links.push_back({found->second, i});
        }
        return links;
    }

    void connect(const Link& link) { m_links.connect(link.from, link.to); }
    void disconnect(const Link& link) { m_links.disconnect(link.from, link.to); }

    bool isFree(const Link& link) const
    {
        // A convolution over all channels ends one chain or begins another.
        const bool ends = !m_links.hasNext(link.to) || m_parts[link.to]->isDepthwise;
        const bool begins = !m_links.hasPrevious(link.from) || m_parts[link.from]->isDepthwise;
        return !m_links.hasNext(link.from) && !m_links.hasPrevious(link.to) && ends && begins;
    }

    /// Bytes of what a group reads beside constants.
    int64_t bytesRead(size_t group) const
    {
        const std::vector<NodeId>& members = m_groups[group].members;
        int64_t bytes = 0;
        std::vector<ValueRef> seen;
        for (const NodeId id : members)
            for (const ValueRef& operand : m_module.node(id).operands) {
                if (!operand.node.isValid() || constantOf(m_module, operand) ||
                    m_module.node(operand.node).kind != NodeKind::Op ||
                    std::find(members.begin(), members.end(), operand.node) != members.end() ||
                    std::find(seen.begin(), seen.end(), operand) != seen.end())
                    continue;
                seen.push_back(operand);
                bytes += bytesOf(operand);
            }
        return bytes;
    }

    int64_t bytesOf(ValueRef value) const
    {
        const TensorType& type = m_module.type(value);
        const auto shape = constantShape(type.shape);
        return shape ? elementCount(*shape) * type.dtype.bytes() : 0;
    }

    /// Rows of the last result that are computed at a time.
    int64_t stripOf(const std::vector<size_t>& chain) const
    {
        int64_t window = 1, stride = 1;
        for (size_t i = 1; i < chain.size(); ++i)
            if (m_parts[chain[i]]->isDepthwise) {
                window = m_parts[chain[i]]->window;
                stride = m_parts[chain[i]]->stride;
            }
        return rowsPerShortStrip(m_parts[chain.back()]->shape[2], window, stride);
    }

    /// Bytes that are held while the chain runs.
    int64_t held(const std::vector<size_t>& chain) const
    {
        const NodeId last = m_groups[chain.back()].members.back();
        int64_t bytes = bytesRead(chain.front());
        if (!m_uses.isResult(last)) bytes += bytesOf({last, 0});
        int64_t rows = stripOf(chain);
        for (size_t i = chain.size() - 1; i > 0 && rows > 0; --i) {
            const Part &from = *m_parts[chain[i - 1]], &to = *m_parts[chain[i]];
            rows = (rows - 1) * to.stride + to.window;
            bytes += rows * from.rowBytes() / (from.isDepthwise ? 1 : from.shape[1]);
        }
        return bytes;
    }

    /// Multiply-adds of rows that two strips need.
    double again(const std::vector<size_t>& chain) const
    {
        double macs = 0;
        int64_t rows = stripOf(chain);
        for (size_t i = chain.size() - 1; i > 0; --i) {
            const Part& to = *m_parts[chain[i]];
            const int64_t needed = (rows - 1) * to.stride + to.window;
            macs += m_parts[chain[i - 1]]->macs *
                    static_cast<double>(std::max<int64_t>(0, to.window - to.stride)) /
                    static_cast<double>(rows * to.stride);
            rows = needed;
        }
        return macs;
    }

    int64_t most() const
    {
        int64_t bytes = 0;
        for (size_t i = 0; i < m_groups.size(); ++i)
            bytes = std::max(bytes, m_parts[i] ? held(m_links.chainWith(i)) : heldAlone(i));
        return bytes;
    }

    int64_t heldAlone(size_t group) const
    {
        const NodeId last = m_groups[group].members.back();
        return bytesRead(group) + (m_uses.isResult(last) ? 0 : bytesOf({last, 0}));
    }

    /// The link at the peak that leaves the chain around it with least to hold, or null.
    const Link* bestOf(const std::vector<Link>& links)
    {
        const int64_t peak = most();
        const Link* best = nullptr;
        int64_t least = peak;
        for (const Link& link : links) {
            if (!isFree(link)) continue;
            if (std::max(held(m_links.chainWith(link.from)), held(m_links.chainWith(link.to))) <
                peak)
                continue;
            connect(link);
            const std::vector<size_t> chain = m_links.chainWith(link.to);
            const bool fits = stripOf(chain) > 1 && allAgain() <= (kMostWork - 1) * m_macs;
            const int64_t bytes = held(chain);
            disconnect(link);
            if (!fits || bytes >= least) continue;
            best = &link;
            least = bytes;
        }
        return best;
    }

    double allAgain() const
    {
        double macs = 0;
        for (size_t i = 0; i < m_groups.size(); ++i)
            if (m_parts[i] && !m_links.hasNext(i)) macs += again(m_links.chainWith(i));
        return macs;
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
               std::to_string(stripOf(chain)) + " rows; of the " + std::to_string(bytes) +
               " bytes between them memory holds one strip";
    }

    const Module& m_module;
    const UseIndex m_uses;
    std::vector<FusionGroup> m_groups;
    std::vector<std::optional<Part>> m_parts; ///< by group
    GroupLinks m_links;
    double m_macs = 0;
};

/// A group that makes bytes of one tensor, element by element, and brings them into place.
bool preparesBytes(const Module& module, const FusionGroup& group)
{
    return std::all_of(group.members.begin(), group.members.end(), [&](NodeId id) {
        const NodeRecord& node = module.node(id);
        return isOp(node, qnnQuantizeOp) || isOp(node, layoutTransformOp) ||
               isOp(node, reshapeOp) || isOp(node, qnnPackChannelsOp);
    });
}

/// A convolution over all channels whose padding copies each element once, as the first member
/// beside what prepares its bytes.
bool copiesInput(const Module& module, const FusionGroup& group)
{
    if (!group.anchor.isValid()) return false;
    const NodeRecord& anchor = module.node(group.anchor);
    return isOp(anchor, qnnConv2dNchwcOp) &&
           anchor.attrs.integers("padding", {0, 0, 0, 0}) != std::vector<int64_t>(4, 0);
}

/// True where the group's convolution or what prepares its bytes reads the value.
bool readsFirst(const Module& module, const FusionGroup& group, ValueRef value)
{
    for (const NodeId id : group.members) {
        if (module.node(id).operands[0] == value) return true;
        if (id == group.anchor) return false;
    }
    return false;
}

} // namespace

std::vector<FusionGroup> joinMemoryChains(const Module& module, const GraphFunction& function,
                                          std::vector<FusionGroup> groups)
{
    return MemoryChains(module, function, std::move(groups)).run();
}

std::vector<FusionGroup> joinQuantizedInputs(const Module& module, const GraphFunction& function,
                                             std::vector<FusionGroup> groups)
{
    const UseIndex uses(module, function);
    for (size_t i = groups.size(); i-- > 0;) {
        if (groups[i].anchor.isValid() || !preparesBytes(module, groups[i])) continue;
        const NodeId last = groups[i].members.back();
        if (!uses.hasOneUser(last) || uses.isResult(last)) continue;
        const auto reader =
            std::find_if(groups.begin(), groups.end(), [&](const FusionGroup& group) {
                return copiesInput(module, group) && readsFirst(module, group, {last, 0});
            });
        if (reader == groups.end()) continue;
        reader->members.insert(reader->members.begin(), groups[i].members.begin(),
                               groups[i].members.end());
        groups[i].members.clear();
    }
    std::erase_if(groups, [](const FusionGroup& group) { return group.members.empty(); });
    return groups;
}

} // namespace tenon::compiler
