// SPDX-License-Identifier: Apache-2.0
// A level far higher than wide becomes columns, read from top to bottom and from left to right.
//
// 1. Cuts may go where no item stands and few edges pass.
// 2. Of the numbers of columns that bring width by height near to what is wanted, the best is
//    taken; nothing is done where none is better than the level as it is.
// 3. The part between two cuts moves as a whole, so that nothing in it changes. An edge over a cut
//    goes on below its column, up between the two columns, and into the next one from above.
#include "core/layout/level.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tenon::core {

namespace {

constexpr size_t kMostCrossings = 3; ///< edges over a cut; with more it is no chain
constexpr float kLeastColumn = 560;  ///< height; shorter ones are read sooner where they are
constexpr float kCrossingCost = 120; ///< units of height that a cut moves to avoid an edge
constexpr float kRouteMargin = 16;   ///< between items and the edges around a column
constexpr int kTriedCounts = 3;      ///< of columns, to each side of the likely one

struct Cut
{
    float y = 0;
    std::vector<uint32_t> edges; ///< that pass it
};

/// What it is worth, in height, that fewer edges pass.
float crossingCost(const Cut& cut)
{
    return cut.edges.empty() ? 0 : kCrossingCost * static_cast<float>(cut.edges.size() - 1);
}

/// A stretch of the level between two cuts.
struct Column
{
    float top = 0, bottom = 0; ///< of its items, as they stood
    float left = std::numeric_limits<float>::max();
    float right = std::numeric_limits<float>::lowest();
    float moveX = 0, moveY = 0;
    float width() const { return std::max(0.0f, right - left); }
    void cover(float from, float to)
    {
        left = std::min(left, from);
        right = std::max(right, to);
    }
};

struct Size
{
    float width = 0, height = 0;
};

class Wrapping
{
public:
    Wrapping(const Level& level, const LayoutOptions& options, LevelLayout& layout)
        : m_level(level)
        , m_options(options)
        , m_layout(layout)
    {
    }

    void run()
    {
        if (m_layout.height < 2 * kLeastColumn || m_layout.width <= 0) return;
        findCuts();
        std::vector<size_t> best;
        double leastOff = off({m_layout.width, m_layout.height});
        const double room = m_layout.width + gutter(1);
        const int likely =
            static_cast<int>(std::lround(std::sqrt(m_options.wrapAspect * m_layout.height / room)));
        for (int count = std::max(2, likely - kTriedCounts); count <= likely + kTriedCounts;
             ++count) {
            const std::optional<std::vector<size_t>> cuts = choose(count);
            if (!cuts) continue;
            const double found = off(place(*cuts));
            if (found >= leastOff) continue;
            leastOff = found;
            best = *cuts;
        }
        if (best.empty()) return;
        const Size size = place(best);
        move(best, size);
    }

private:
    float bottomOf(size_t item) const { return m_layout.y[item] + m_level.items[item].height; }
    /// How far the shape is from the wanted one, either way.
    double off(Size size) const
    {
        return std::abs(std::log(size.width / size.height / m_options.wrapAspect));
    }
    float routeRoom(size_t edges) const
    {
        return kRouteMargin + m_options.railGap * static_cast<float>(edges);
    }
    float gutter(size_t edges) const { return routeRoom(edges) + kRouteMargin; }

    void findCuts();
    void findEdges();
    std::optional<std::vector<size_t>> cutsWithin(float most, int count) const;
    std::vector<size_t> earliestCuts(float most, size_t count) const;
    std::vector<size_t> balanced(const std::vector<size_t>& latest, float most) const;
    std::optional<std::vector<size_t>> choose(int count) const;
    Size place(const std::vector<size_t>& cuts);
    void coverEdges();
    size_t columnOf(float y) const;
    void move(const std::vector<size_t>& cuts, Size size);
    void addSegment(LayoutPoint from, LayoutPoint to, uint32_t edge,
                    const std::vector<size_t>& cuts, std::vector<LayoutPoint>& out) const;

    const Level& m_level;
    const LayoutOptions& m_options;
    LevelLayout& m_layout;
    std::vector<Cut> m_cuts;    ///< from top to bottom
    std::vector<float> m_cutAt; ///< of the columns at hand
    std::vector<Column> m_columns;
    float m_bottom = 0; ///< of the lowest column, after moving
};

/// In the middle of every gap between items that are not ports.
void Wrapping::findCuts()
{
    std::vector<size_t> order;
    for (size_t i = 0; i < m_level.items.size(); ++i)
        if (m_level.items[i].pin == RankPin::Free) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return m_layout.y[a] < m_layout.y[b]; });
    float bottom = 0;
    for (size_t k = 0; k < order.size(); ++k) {
        const float top = m_layout.y[order[k]];
        if (k > 0 && top > bottom) m_cuts.push_back({(top + bottom) / 2, {}});
        bottom = std::max(bottom, bottomOf(order[k]));
    }
    findEdges();
    std::erase_if(m_cuts, [](const Cut& cut) { return cut.edges.size() > kMostCrossings; });
}

void Wrapping::findEdges()
{
    for (uint32_t e = 0; e < m_level.edges.size(); ++e) {
        if (m_layout.pathCount[e] == 0) continue;
        const LayoutPoint* path = &m_layout.points[m_layout.pathFirst[e]];
        const auto [from, to] = std::minmax({path->y, path[m_layout.pathCount[e] - 1].y});
        auto cut = std::lower_bound(m_cuts.begin(), m_cuts.end(), from,
                                    [](const Cut& c, float y) { return c.y < y; });
        for (; cut != m_cuts.end() && cut->y < to; ++cut)
            if (cut->edges.size() <= kMostCrossings) cut->edges.push_back(e);
    }
}

/// Cuts of columns no higher than `most`, each as far down as may be, a little less far where
/// fewer edges pass.
std::optional<std::vector<size_t>> Wrapping::cutsWithin(float most, int count) const
{
    std::vector<size_t> chosen;
    float start = 0;
    size_t next = 0; // cut
    while (m_layout.height - start > most) {
        size_t best = m_cuts.size();
        float furthest = start;
        for (size_t c = next; c < m_cuts.size() && m_cuts[c].y <= start + most; ++c) {
            const float reach = m_cuts[c].y - crossingCost(m_cuts[c]);
            if (reach <= furthest) continue;
            furthest = reach;
            best = c;
        }
        if (best == m_cuts.size()) return std::nullopt;
        chosen.push_back(best);
        if (static_cast<int>(chosen.size()) >= count) return std::nullopt;
        start = m_cuts[best].y;
        next = best + 1;
    }
    return chosen;
}

/// As many cuts, each as far up as may be with columns no higher than `most` below it.
std::vector<size_t> Wrapping::earliestCuts(float most, size_t count) const
{
    std::vector<size_t> earliest(count);
    float end = m_layout.height;
    for (size_t i = count; i-- > 0;) {
        const auto found = std::lower_bound(m_cuts.begin(), m_cuts.end(), end - most,
                                            [](const Cut& cut, float y) { return cut.y < y; });
        earliest[i] = static_cast<size_t>(found - m_cuts.begin());
        end = found->y;
    }
    return earliest;
}

/// The same number of columns, as high as one another as far as cuts allow: where one large item
/// decides how high they must be, the others need not be full.
std::vector<size_t> Wrapping::balanced(const std::vector<size_t>& latest, float most) const
{
    const std::vector<size_t> earliest = earliestCuts(most, latest.size());
    std::vector<size_t> chosen;
    float start = 0;
    for (size_t i = 0; i < latest.size(); ++i) {
        const float share = (m_layout.height - start) / static_cast<float>(latest.size() + 1 - i);
        size_t best = latest[i];
        float least = std::numeric_limits<float>::max();
        for (size_t c = earliest[i]; c <= latest[i] && m_cuts[c].y <= start + most; ++c) {
            const float off = std::abs(m_cuts[c].y - start - share) + crossingCost(m_cuts[c]);
            if (m_cuts[c].y <= start || off >= least) continue;
            least = off;
            best = c;
        }
        chosen.push_back(best);
        start = m_cuts[best].y;
    }
    return chosen;
}

/// Cuts that make at most `count` columns, the highest of them as low as can be.
std::optional<std::vector<size_t>> Wrapping::choose(int count) const
{
    float low = m_layout.height / static_cast<float>(count), high = m_layout.height;
    if (low < kLeastColumn) return std::nullopt;
    std::optional<std::vector<size_t>> best;
    constexpr float kExact = 4;
    while (high - low > kExact) {
        const float middle = (low + high) / 2;
        auto found = cutsWithin(middle, count);
        (found ? high : low) = middle;
        if (found) best = std::move(found);
    }
    if (best) best = balanced(*best, high);
    return best;
}

size_t Wrapping::columnOf(float y) const
{
    return static_cast<size_t>(std::lower_bound(m_cutAt.begin(), m_cutAt.end(), y) -
                               m_cutAt.begin());
}

/// What edges take of the columns' widths, also where they only pass.
void Wrapping::coverEdges()
{
    for (uint32_t e = 0; e < m_level.edges.size(); ++e)
        for (uint32_t i = 1; i < m_layout.pathCount[e]; ++i) {
            const LayoutPoint a = m_layout.points[m_layout.pathFirst[e] + i - 1];
            const LayoutPoint b = m_layout.points[m_layout.pathFirst[e] + i];
            const auto [first, last] = std::minmax({columnOf(a.y), columnOf(b.y)});
            for (size_t c = first; c <= last; ++c) {
                m_columns[c].cover(std::min(a.x, b.x), std::max(a.x, b.x));
            }
        }
}

/// Finds the columns and how far each moves; returns the size of all.
Size Wrapping::place(const std::vector<size_t>& cuts)
{
    m_cutAt.clear();
    for (const size_t cut : cuts) m_cutAt.push_back(m_cuts[cut].y);
    m_columns.assign(cuts.size() + 1, {});
    for (Column& column : m_columns) column.top = std::numeric_limits<float>::max();
    for (size_t i = 0; i < m_level.items.size(); ++i) {
        Column& column = m_columns[columnOf(m_layout.y[i])];
        const float half = m_level.items[i].width / 2;
        column.cover(m_layout.x[i] - half, m_layout.x[i] + half);
        if (m_level.items[i].pin != RankPin::Free) continue;
        column.top = std::min(column.top, m_layout.y[i]);
        column.bottom = std::max(column.bottom, bottomOf(i));
    }
    coverEdges();
    size_t most = 0;
    for (const size_t cut : cuts) most = std::max(most, m_cuts[cut].edges.size());
    const float top = std::max(m_columns.front().top, routeRoom(most));
    float x = 0;
    m_bottom = 0;
    for (size_t c = 0; c < m_columns.size(); ++c) {
        Column& column = m_columns[c];
        column.moveX = x - column.left;
        column.moveY = top - column.top;
        x += column.width() + (c < cuts.size() ? gutter(m_cuts[cuts[c]].edges.size()) : 0);
        m_bottom = std::max(m_bottom, column.bottom + column.moveY);
    }
    const float below = m_layout.height - m_columns.back().bottom; // to ports at the bottom
    return {x, m_bottom + std::max(below, routeRoom(most))};
}

/// From one point of an edge to the next, over the cuts between them.
void Wrapping::addSegment(LayoutPoint from, LayoutPoint to, uint32_t edge,
                          const std::vector<size_t>& cuts, std::vector<LayoutPoint>& out) const
{
    const size_t first = columnOf(from.y), last = columnOf(to.y);
    const auto moved = [&](LayoutPoint point, size_t column) {
        return LayoutPoint{point.x + m_columns[column].moveX, point.y + m_columns[column].moveY};
    };
    if (out.empty()) out.push_back(moved(from, first));
    for (size_t c = first; c < last; ++c) {
        const std::vector<uint32_t>& edges = m_cuts[cuts[c]].edges;
        const auto rank =
            static_cast<float>(std::find(edges.begin(), edges.end(), edge) - edges.begin());
        const Column& here = m_columns[c];
        const Column& next = m_columns[c + 1];
        const float aside = kRouteMargin + m_options.railGap * rank;
        const float below = here.bottom + here.moveY + aside;
        const float above = next.top + next.moveY - aside;
        const float between = here.right + here.moveX + aside;
        const float leaving = (c == first ? from.x : to.x) + here.moveX;
        const float entering = to.x + next.moveX;
        for (const LayoutPoint corner : {LayoutPoint{leaving, below}, LayoutPoint{between, below},
                                         LayoutPoint{between, above}, LayoutPoint{entering, above}})
            out.push_back(corner);
    }
    out.push_back(moved(to, last));
}

void Wrapping::move(const std::vector<size_t>& cuts, Size size)
{
    std::vector<LayoutPoint> points;
    for (uint32_t e = 0; e < m_level.edges.size(); ++e) {
        std::vector<LayoutPoint> old(m_layout.points.begin() + m_layout.pathFirst[e],
                                     m_layout.points.begin() + m_layout.pathFirst[e] +
                                         m_layout.pathCount[e]);
        const bool isUp = old.size() > 1 && old.front().y > old.back().y; // it closes a cycle
        if (isUp) std::reverse(old.begin(), old.end());
        std::vector<LayoutPoint> made;
        for (size_t i = 1; i < old.size(); ++i) addSegment(old[i - 1], old[i], e, cuts, made);
        // Ports stay on the frame, whatever the height of their column.
        const LevelEdge& edge = m_level.edges[e];
        const uint32_t upper = isUp ? edge.to : edge.from, lower = isUp ? edge.from : edge.to;
        if (!made.empty() && m_level.items[upper].pin == RankPin::Top) made.front().y = 0;
        if (!made.empty() && m_level.items[lower].pin == RankPin::Bottom)
            made.back().y = size.height;
        if (isUp) std::reverse(made.begin(), made.end());
        m_layout.pathFirst[e] = static_cast<uint32_t>(points.size());
        m_layout.pathCount[e] = static_cast<uint32_t>(made.size());
        points.insert(points.end(), made.begin(), made.end());
    }
    m_layout.points = std::move(points);
    for (size_t i = 0; i < m_level.items.size(); ++i) {
        const Column& column = m_columns[columnOf(m_layout.y[i])];
        m_layout.x[i] += column.moveX;
        m_layout.y[i] += column.moveY;
        if (m_level.items[i].pin == RankPin::Top) m_layout.y[i] = 0;
        if (m_level.items[i].pin == RankPin::Bottom)
            m_layout.y[i] = size.height - m_level.items[i].height;
    }
    m_layout.width = size.width;
    m_layout.height = size.height;
}

} // namespace

void wrapLevel(const Level& level, const LayoutOptions& options, LevelLayout& layout)
{
    Wrapping(level, options, layout).run();
}

} // namespace tenon::core
