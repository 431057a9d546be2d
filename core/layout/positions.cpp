// SPDX-License-Identifier: Apache-2.0
// Horizontal positions: vertical alignment of chains and long edges, compaction, and the middle of
// four such layouts (after Brandes and Koepf 2001, with ports and item widths).
#include "core/layout/level.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

namespace tenon::core {

namespace {

// Edges from everywhere to everywhere, kept straight, push one another aside without end. As
// multiples of what the widest layer needs: of the result, and of one of the four layouts.
constexpr float kTooWide = 2.5f;
constexpr float kHopeless = 6;

/// One of the four layouts: alignment with the layer above or below, packed to the left or right.
struct Direction
{
    bool isUpward;   ///< align with the layer below
    bool isMirrored; ///< prefer and pack to the right
};

struct Blocks
{
    std::vector<uint32_t> root; ///< item -> the first item of its block
    std::vector<float> shift;   ///< item's centre relative to its block's position
};

/// Bends whose straight continuation upwards would be crossed: bit per segment in `upper`.
/// A segment between two bends wins over one that touches a real item.
std::vector<bool> markConflicts(const Layers& layers)
{
    std::vector<bool> conflict(layers.upper.size());
    const auto innerUpper = [&](uint32_t item) {
        return layers.isBend(item) && !layers.isLoose[item] &&
               layers.isBend(layers.upper[layers.upStart[item]]);
    };
    for (uint32_t layer = 1; layer < layers.layerCount(); ++layer) {
        const uint32_t first = layers.layerStart[layer], last = layers.layerStart[layer + 1];
        const uint32_t aboveCount = layers.layerStart[layer] - layers.layerStart[layer - 1];
        uint32_t lowest = 0, scan = first;
        for (uint32_t i = first; i < last; ++i) {
            const uint32_t item = layers.order[i];
            const bool isInner = innerUpper(item);
            if (!isInner && i + 1 != last) continue;
            const uint32_t highest =
                isInner ? layers.position[layers.upper[layers.upStart[item]]] : aboveCount;
            for (; scan <= i; ++scan) {
                const uint32_t other = layers.order[scan];
                if (innerUpper(other)) continue;
                for (uint32_t s = layers.upStart[other]; s < layers.upStart[other + 1]; ++s) {
                    const uint32_t place = layers.position[layers.upper[s]];
                    if (place < lowest || place > highest) conflict[s] = true;
                }
            }
            lowest = highest;
        }
    }
    return conflict;
}

/// Adds the segments of feeders that would cross one between items that are no feeders.
void markFeederConflicts(const Layers& layers, std::vector<bool>& conflict)
{
    constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();
    std::vector<int64_t> leftmost, rightmost;
    for (uint32_t layer = 1; layer < layers.layerCount(); ++layer) {
        const uint32_t first = layers.layerStart[layer];
        const uint32_t width = layers.layerStart[layer + 1] - first;
        // rightmost[i]: largest upper place of main segments left of place i; leftmost[i]: smallest
        // upper place of those right of it.
        rightmost.assign(width + 1, -1);
        leftmost.assign(width + 1, kFar);
        const auto eachSegment = [&](uint32_t i, auto&& visit) {
            const uint32_t item = layers.order[first + i];
            for (uint32_t s = layers.upStart[item]; s < layers.upStart[item + 1]; ++s) {
                const bool isMain = !layers.isLoose[item] && !layers.isLoose[layers.upper[s]];
                visit(s, static_cast<int64_t>(layers.position[layers.upper[s]]), isMain);
            }
        };
        for (uint32_t i = 0; i < width; ++i) {
            rightmost[i + 1] = rightmost[i];
            eachSegment(i, [&](uint32_t, int64_t place, bool isMain) {
                if (isMain) rightmost[i + 1] = std::max(rightmost[i + 1], place);
            });
        }
        for (uint32_t i = width; i-- > 0;) {
            eachSegment(i, [&](uint32_t s, int64_t place, bool isMain) {
                if (!isMain && (rightmost[i] > place || leftmost[i + 1] < place))
                    conflict[s] = true;
            });
            leftmost[i] = leftmost[i + 1];
            eachSegment(i, [&](uint32_t, int64_t place, bool isMain) {
                if (isMain) leftmost[i] = std::min(leftmost[i], place);
            });
        }
    }
}

/// The same conflicts by segment index in `lower`.
std::vector<bool> conflictsFromAbove(const Layers& layers, const std::vector<bool>& conflict)
{
    std::vector<bool> mirrored(layers.lower.size());
    for (uint32_t item = 0; item < layers.layerOf.size(); ++item)
        for (uint32_t s = layers.upStart[item]; s < layers.upStart[item + 1]; ++s) {
            if (!conflict[s]) continue;
            const uint32_t above = layers.upper[s];
            for (uint32_t d = layers.downStart[above]; d < layers.downStart[above + 1]; ++d)
                if (layers.lower[d] == item) mirrored[d] = true;
        }
    return mirrored;
}

class Aligner
{
public:
    Aligner(const Layers& layers, const std::vector<bool>& upConflict,
            const std::vector<bool>& downConflict)
        : m_layers(layers)
        , m_upConflict(upConflict)
        , m_downConflict(downConflict)
    {
    }

    Blocks align(Direction direction)
    {
        const size_t count = m_layers.layerOf.size();
        Blocks blocks{std::vector<uint32_t>(count), std::vector<float>(count)};
        std::iota(blocks.root.begin(), blocks.root.end(), 0u);
        m_isTaken.assign(count, false);
        const uint32_t layerCount = m_layers.layerCount();
        for (uint32_t k = 1; k < layerCount; ++k)
            alignLayer(direction.isUpward ? layerCount - 1 - k : k, direction, blocks);
        return blocks;
    }

private:
    void alignLayer(uint32_t layer, Direction direction, Blocks& blocks)
    {
        const uint32_t first = m_layers.layerStart[layer], last = m_layers.layerStart[layer + 1];
        int64_t limit = -1; // places left of this one (in packing order) are closed
        const auto place = [&](uint32_t other, uint32_t width) {
            const int64_t p = m_layers.position[other];
            return direction.isMirrored ? int64_t{width} - 1 - p : p;
        };
        for (uint32_t k = 0; k < last - first; ++k) {
            const uint32_t item = m_layers.order[direction.isMirrored ? last - 1 - k : first + k];
            sortByPlace(item, direction);
            const auto degree = static_cast<uint32_t>(m_sorted.size());
            if (degree == 0) continue;
            const uint32_t low = (degree - 1) / 2, high = degree / 2;
            for (const uint32_t middle : {low, high}) {
                const uint32_t s = m_sorted[direction.isMirrored ? degree - 1 - middle : middle];
                if (tryJoin(item, s, direction, blocks, limit, place)) break;
            }
        }
    }

    template <class Place>
    bool tryJoin(uint32_t item, uint32_t s, Direction direction, Blocks& blocks, int64_t& limit,
                 const Place& place)
    {
        const bool up = direction.isUpward;
        if (up ? m_downConflict[s] : m_upConflict[s]) return false;
        const uint32_t other = up ? m_layers.lower[s] : m_layers.upper[s];
        const uint32_t layer = m_layers.layerOf[other];
        const int64_t p = place(other, m_layers.layerStart[layer + 1] - m_layers.layerStart[layer]);
        if (p <= limit || m_isTaken[other]) return false;
        const float there = up ? m_layers.downPort[s] : m_layers.upPort[s];
        const float here = up ? m_layers.downOwnPort[s] : m_layers.upOwnPort[s];
        blocks.root[item] = blocks.root[other];
        blocks.shift[item] = blocks.shift[other] + there - here;
        m_isTaken[other] = true;
        limit = p;
        return true;
    }

    /// Segment indices of `item` by position of the neighbour; lists are short.
    void sortByPlace(uint32_t item, Direction direction)
    {
        const auto& start = direction.isUpward ? m_layers.downStart : m_layers.upStart;
        const auto& list = direction.isUpward ? m_layers.lower : m_layers.upper;
        m_sorted.resize(start[item + 1] - start[item]);
        std::iota(m_sorted.begin(), m_sorted.end(), start[item]);
        if (m_sorted.size() < 2) return;
        // The program's main line stays straight; feeders stand where there is room.
        if (!m_layers.isLoose[item]) {
            const auto isFeeder = [&](uint32_t s) { return m_layers.isLoose[list[s]]; };
            if (!std::all_of(m_sorted.begin(), m_sorted.end(), isFeeder))
                std::erase_if(m_sorted, isFeeder);
        }
        std::stable_sort(m_sorted.begin(), m_sorted.end(), [&](uint32_t a, uint32_t b) {
            return m_layers.position[list[a]] < m_layers.position[list[b]];
        });
    }

    const Layers& m_layers;
    const std::vector<bool>& m_upConflict;
    const std::vector<bool>& m_downConflict;
    std::vector<bool> m_isTaken;
    std::vector<uint32_t> m_sorted;
};

/// Neighbouring items of different blocks, as a graph of blocks from left to right.
struct BlockGraph
{
    struct Arc
    {
        uint32_t to;
        float distance;
    };
    std::vector<uint32_t> start;
    std::vector<Arc> arcs;
    std::vector<uint32_t> order; ///< blocks from left to right

    BlockGraph(const Layers& layers, const LayoutOptions& options, const Blocks& blocks)
        : start(layers.layerOf.size() + 1)
    {
        const size_t count = layers.layerOf.size();
        std::vector<uint32_t> pending(count);
        const auto eachPair = [&](auto&& visit) {
            for (uint32_t layer = 0; layer < layers.layerCount(); ++layer)
                for (uint32_t i = layers.layerStart[layer] + 1; i < layers.layerStart[layer + 1];
                     ++i)
                    visit(layers.order[i - 1], layers.order[i]);
        };
        eachPair([&](uint32_t a, uint32_t b) {
            ++start[blocks.root[a] + 1];
            ++pending[blocks.root[b]];
        });
        std::partial_sum(start.begin(), start.end(), start.begin());
        arcs.resize(start.back());
        std::vector<uint32_t> fill = start;
        eachPair([&](uint32_t a, uint32_t b) {
            const float distance =
                gapBetween(layers, options, a, b) + blocks.shift[a] - blocks.shift[b];
            arcs[fill[blocks.root[a]]++] = {blocks.root[b], distance};
        });
        order.reserve(count);
        for (uint32_t block = 0; block < count; ++block)
            if (blocks.root[block] == block && pending[block] == 0) order.push_back(block);
        for (size_t i = 0; i < order.size(); ++i)
            for (uint32_t a = start[order[i]]; a < start[order[i] + 1]; ++a)
                if (--pending[arcs[a].to] == 0) order.push_back(arcs[a].to);
    }
};

/// As far left as the distances allow, then each block back to the right until it meets one.
std::vector<float> packLeft(const BlockGraph& graph)
{
    std::vector<float> x(graph.start.size() - 1, 0);
    for (const uint32_t block : graph.order)
        for (uint32_t a = graph.start[block]; a < graph.start[block + 1]; ++a)
            x[graph.arcs[a].to] = std::max(x[graph.arcs[a].to], x[block] + graph.arcs[a].distance);
    for (size_t i = graph.order.size(); i-- > 0;) {
        const uint32_t block = graph.order[i];
        float room = std::numeric_limits<float>::max();
        for (uint32_t a = graph.start[block]; a < graph.start[block + 1]; ++a)
            room = std::min(room, x[graph.arcs[a].to] - graph.arcs[a].distance);
        if (room != std::numeric_limits<float>::max()) x[block] = std::max(x[block], room);
    }
    return x;
}

/// The mirror image: as far right as allowed, then back to the left.
std::vector<float> packRight(const BlockGraph& graph)
{
    constexpr float kUnset = std::numeric_limits<float>::max();
    std::vector<float> x(graph.start.size() - 1, 0);
    for (size_t i = graph.order.size(); i-- > 0;) {
        const uint32_t block = graph.order[i];
        for (uint32_t a = graph.start[block]; a < graph.start[block + 1]; ++a)
            x[block] = std::min(x[block], x[graph.arcs[a].to] - graph.arcs[a].distance);
    }
    std::vector<float> leftmost(x.size(), -kUnset);
    for (const uint32_t block : graph.order) {
        if (leftmost[block] != -kUnset) x[block] = std::min(x[block], leftmost[block]);
        for (uint32_t a = graph.start[block]; a < graph.start[block + 1]; ++a) {
            float& bound = leftmost[graph.arcs[a].to];
            bound = std::max(bound, x[block] + graph.arcs[a].distance);
        }
    }
    return x;
}

std::vector<float> oneLayout(const Layers& layers, const LayoutOptions& options, Aligner& aligner,
                             Direction direction)
{
    const Blocks blocks = aligner.align(direction);
    const BlockGraph graph(layers, options, blocks);
    const std::vector<float> blockX = direction.isMirrored ? packRight(graph) : packLeft(graph);
    std::vector<float> x(layers.layerOf.size());
    for (uint32_t item = 0; item < x.size(); ++item)
        x[item] = blockX[blocks.root[item]] + blocks.shift[item];
    return x;
}

struct Extent
{
    float low = std::numeric_limits<float>::max();
    float high = std::numeric_limits<float>::lowest();
    float width() const { return high - low; }
};

Extent extentOf(const Layers& layers, const std::vector<float>& x)
{
    Extent extent;
    for (uint32_t item = 0; item < x.size(); ++item) {
        extent.low = std::min(extent.low, x[item] - layers.width[item] / 2);
        extent.high = std::max(extent.high, x[item] + layers.width[item] / 2);
    }
    return extent;
}

/// Left-packed layouts are laid over the narrowest one at its left edge, right-packed at its right.
std::vector<float> middle(const Layers& layers, std::array<std::vector<float>, 4>& layouts)
{
    std::array<Extent, 4> extents;
    size_t narrowest = 0;
    for (size_t k = 0; k < 4; ++k) {
        extents[k] = extentOf(layers, layouts[k]);
        if (extents[k].width() < extents[narrowest].width()) narrowest = k;
    }
    std::array<float, 4> delta{};
    for (size_t k = 0; k < 4; ++k)
        delta[k] = k % 2 == 0 ? extents[narrowest].low - extents[k].low
                              : extents[narrowest].high - extents[k].high;
    std::vector<float> x(layers.layerOf.size());
    for (uint32_t item = 0; item < x.size(); ++item) {
        std::array<float, 4> v;
        for (size_t k = 0; k < 4; ++k) v[k] = layouts[k][item] + delta[k];
        std::sort(v.begin(), v.end());
        x[item] = (v[1] + v[2]) / 2;
    }
    return x;
}

} // namespace

std::vector<float> horizontalPositions(const Layers& layers, const LayoutOptions& options,
                                       const StopPredicate& shouldStop)
{
    std::vector<bool> upConflict = markConflicts(layers);
    markFeederConflicts(layers, upConflict);
    const std::vector<bool> downConflict = conflictsFromAbove(layers, upConflict);
    Aligner aligner(layers, upConflict, downConflict);
    const float widest = widestLayer(layers, options);
    std::array<std::vector<float>, 4> layouts;
    for (size_t k = 0; k < 4; ++k) {
        if (shouldStop && shouldStop()) return {};
        layouts[k] = oneLayout(layers, options, aligner, {k >= 2, k % 2 == 1});
        if (k == 0 && extentOf(layers, layouts[k]).width() > kHopeless * widest)
            return relaxedPositions(layers, options, shouldStop);
    }
    std::vector<float> x = middle(layers, layouts);
    if (extentOf(layers, x).width() > kTooWide * widest)
        return relaxedPositions(layers, options, shouldStop);
    const float left = extentOf(layers, x).low;
    for (float& value : x) value -= left;
    // The middle of four keeps distances up to rounding; ports can break it, so hold them here.
    for (uint32_t layer = 0; layer < layers.layerCount(); ++layer)
        for (uint32_t i = layers.layerStart[layer] + 1; i < layers.layerStart[layer + 1]; ++i) {
            const uint32_t a = layers.order[i - 1], b = layers.order[i];
            x[b] = std::max(x[b], x[a] + gapBetween(layers, options, a, b));
        }
    return x;
}

} // namespace tenon::core
