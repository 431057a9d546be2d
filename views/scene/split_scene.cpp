// SPDX-License-Identifier: GPL-3.0-or-later
// Two versions side by side: who became whom is followed through the change sets of the passes
// between them.
#include "core/ir/descent.h"
#include "views/scene/stage.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::views {

namespace {

constexpr double kColumnGap = 120; ///< both fit into a narrow pane while texts are readable

/// Puts two scenes into one; frames stay before cards.
class Joiner
{
public:
    Scene join(Scene left, Scene right)
    {
        mirrorLane(right);
        shift(right, apart(left, right) + kColumnGap);
        m_scene.itemOfPlace = right.itemOfPlace;
        for (const bool isFrame : {true, false}) {
            take(left, isFrame, m_leftIndex);
            take(right, isFrame, m_rightIndex);
        }
        for (size_t place = 0; place < m_scene.itemOfPlace.size(); ++place) {
            int& item = m_scene.itemOfPlace[place];
            if (item >= 0)
                item = m_rightIndex.at(item);
            else if (left.itemOfPlace[place] >= 0)
                item = m_leftIndex.at(left.itemOfPlace[place]);
        }
        takeEdges(left, m_leftIndex);
        takeEdges(right, m_rightIndex);
        for (const Scene* side : {&left, &right}) {
            QRectF program;
            for (const SceneItem& item : side->items)
                if (!item.isBeside) program |= item.rect;
            m_scene.columns.push_back({side->caption, program.left(), program.right()});
        }
        m_scene.visible = left.visible | right.visible;
        m_scene.bounds = m_scene.visible;
        m_scene.caption = left.caption + QStringLiteral(" | ") + right.caption;
        return std::move(m_scene);
    }

    const std::map<int, int>& leftIndex() const { return m_leftIndex; }
    const std::map<int, int>& rightIndex() const { return m_rightIndex; }

private:
    /// How far right of itself `right` touches `left` nowhere: level by level, as a long program
    /// that drifts to one side drifts in both.
    static double apart(const Scene& left, const Scene& right)
    {
        constexpr double kLevel = 200;
        std::map<int, double> edge; // of what is on the left, by level
        const auto levelOf = [](double y) { return static_cast<int>(std::floor(y / kLevel)); };
        const auto widen = [&](const QRectF& rect) {
            for (int level = levelOf(rect.top()) - 1; level <= levelOf(rect.bottom()) + 1; ++level)
                edge[level] =
                    std::max(edge.emplace(level, rect.right()).first->second, rect.right());
        };
        for (const SceneItem& item : left.items) widen(item.rect);
        for (const QPointF& point : left.points) widen(QRectF(point, QSizeF(0, 0)));
        double most = left.visible.right() - right.visible.right();
        const auto push = [&](double x, double top, double bottom) {
            for (int level = levelOf(top); level <= levelOf(bottom); ++level)
                if (const auto at = edge.find(level); at != edge.end())
                    most = std::max(most, at->second - x);
        };
        for (const SceneItem& item : right.items)
            push(item.rect.left(), item.rect.top(), item.rect.bottom());
        for (const QPointF& point : right.points) push(point.x(), point.y(), point.y());
        return most;
    }

    /// The lane beside the program goes to the other side: ribbons end at the program.
    static void mirrorLane(Scene& scene)
    {
        QRectF program;
        for (const SceneItem& item : scene.items)
            if (!item.isBeside) program |= item.rect;
        for (SceneItem& item : scene.items)
            if (item.isBeside)
                item.rect.moveLeft(program.right() + program.left() - item.rect.right());
        for (const SceneEdge& edge : scene.edges) {
            if (!edge.isSideways) continue;
            const QRectF& from = scene.items[static_cast<size_t>(edge.from)].rect;
            const QRectF& to = scene.items[static_cast<size_t>(edge.to)].rect;
            scene.points[edge.first] = {from.left(), from.center().y()};
            scene.points[edge.first + 1] = {to.right(), to.center().y()};
        }
        scene.visible = {};
        for (const SceneItem& item : scene.items) scene.visible |= item.rect;
    }

    static void shift(Scene& scene, double by)
    {
        for (SceneItem& item : scene.items) item.rect.translate(by, 0);
        for (QPointF& point : scene.points) point.rx() += by;
        for (SceneEdge& edge : scene.edges) edge.labelAt.rx() += by;
        scene.visible.translate(by, 0);
    }

    void take(Scene& from, bool isFrame, std::map<int, int>& index)
    {
        for (size_t i = 0; i < from.items.size(); ++i) {
            if (from.items[i].isFrame != isFrame) continue;
            index[static_cast<int>(i)] = static_cast<int>(m_scene.items.size());
            m_scene.items.push_back(from.items[i]);
        }
    }

    void takeEdges(const Scene& from, const std::map<int, int>& index)
    {
        const auto first = static_cast<uint32_t>(m_scene.points.size());
        m_scene.points.insert(m_scene.points.end(), from.points.begin(), from.points.end());
        for (SceneEdge edge : from.edges) {
            edge.first += first;
            edge.from = index.at(edge.from);
            edge.to = index.at(edge.to);
            m_scene.edges.push_back(std::move(edge));
        }
    }

    Scene m_scene;
    std::map<int, int> m_leftIndex, m_rightIndex;
};

/// Cuts the sides of items into as many slices as ribbons end there, in the order of their other
/// ends: a wedge for a fusion, a fan for a decomposition.
void sliceEnds(Scene& scene)
{
    const auto slice = [&](auto end, auto otherEnd, auto top, auto bottom) {
        std::map<int, std::vector<SceneRibbon*>> byItem;
        for (SceneRibbon& ribbon : scene.ribbons) byItem[ribbon.*end].push_back(&ribbon);
        for (auto& [item, ribbons] : byItem) {
            const auto topOf = [&](const SceneRibbon* r) {
                return scene.items[static_cast<size_t>(r->*otherEnd)].rect.top();
            };
            std::stable_sort(ribbons.begin(), ribbons.end(),
                             [&](auto* a, auto* b) { return topOf(a) < topOf(b); });
            const QRectF rect = scene.items[static_cast<size_t>(item)].rect;
            const double height = rect.height() / static_cast<double>(ribbons.size());
            for (size_t i = 0; i < ribbons.size(); ++i) {
                ribbons[i]->*top = rect.top() + height * static_cast<double>(i);
                ribbons[i]->*bottom = ribbons[i]->*top + height;
            }
        }
    };
    slice(&SceneRibbon::from, &SceneRibbon::to, &SceneRibbon::fromTop, &SceneRibbon::fromBottom);
    slice(&SceneRibbon::to, &SceneRibbon::from, &SceneRibbon::toTop, &SceneRibbon::toBottom);
}

/// Finds for every item on the left what it became on the right, and marks both.
class Matcher
{
public:
    Matcher(const Storyboard& board, size_t before, size_t after, Scene& left, Scene& right)
        : m_board(board)
        , m_was(board.version(before))
        , m_is(board.version(after))
        , m_descent(board.document().changesBetween(before, after))
        , m_left(left)
        , m_right(right)
    {
    }

    /// Pairs of item indices, left and right, of everything that changed.
    std::vector<std::pair<int, int>> match()
    {
        for (SceneItem& item : m_left.items) item.isBefore = true, item.state = DiffState::Removed;
        for (SceneItem& item : m_right.items) item.state = DiffState::Added;
        for (size_t i = 0; i < m_left.items.size(); ++i) matchItem(static_cast<int>(i));
        markRight();
        return std::move(m_pairs);
    }

private:
    static core::NodePtr nodeAt(const VersionView& view, PlaceId place)
    {
        return place == kNoPlace ? core::NodePtr()
                                 : view.occupants[static_cast<size_t>(place)].node;
    }

    /// A card that was free and stands in a frame now leads to the frame.
    int shownItem(const SceneItem& from, PlaceId place) const
    {
        const int item = m_right.itemAt(place);
        if (item < 0 || from.frame != kNoPlace || from.isFrame) return item;
        const PlaceId frame = m_right.items[static_cast<size_t>(item)].frame;
        return frame == kNoPlace ? item : m_right.itemAt(frame);
    }

    bool isKept(const SceneItem& item, const core::NodePtr& node, int own) const
    {
        if (own < 0) return false;
        if (m_board.places()[static_cast<size_t>(item.place)].output >= 0) return true;
        const core::NodePtr now = nodeAt(m_is, item.place);
        return now && (now == node || isSameWork(*now, *node)) &&
               shownItem(item, item.place) == own;
    }

    void matchItem(int index)
    {
        SceneItem& item = m_left.items[static_cast<size_t>(index)];
        const core::NodePtr node = nodeAt(m_was, item.place);
        if (!node) return;
        const int own = m_right.itemAt(item.place);
        if (isKept(item, node, own)) {
            item.state = DiffState::Unchanged;
            m_right.items[static_cast<size_t>(own)].state = DiffState::Unchanged;
            return;
        }
        std::vector<int> heirs;
        for (const core::NodeId id : m_descent.heirs(node->id))
            if (const int heir = shownItem(item, m_board.placeOf(id)); heir >= 0)
                heirs.push_back(heir);
        std::sort(heirs.begin(), heirs.end());
        heirs.erase(std::unique(heirs.begin(), heirs.end()), heirs.end());
        // What it computes from constants first would hide what the program got from it.
        const auto isBeside = [&](int heir) {
            return m_right.items[static_cast<size_t>(heir)].isBeside;
        };
        if (!std::all_of(heirs.begin(), heirs.end(), isBeside)) std::erase_if(heirs, isBeside);
        for (const int heir : heirs) m_pairs.emplace_back(index, heir);
        if (!heirs.empty()) item.state = DiffState::Changed;
    }

    void markRight()
    {
        std::map<int, int> sources;
        for (const auto& [from, to] : m_pairs) ++sources[to];
        for (const auto& [to, count] : sources) {
            SceneItem& item = m_right.items[static_cast<size_t>(to)];
            if (count == 1 && !item.isFrame) item.state = DiffState::Changed;
        }
        for (SceneItem& item : m_right.items)
            if (item.frame != kNoPlace && item.state == DiffState::Added)
                item.state = DiffState::Plain;
    }

    const Storyboard& m_board;
    const VersionView m_was, m_is;
    const core::Descent m_descent;
    Scene& m_left;
    Scene& m_right;
    std::vector<std::pair<int, int>> m_pairs;
};

} // namespace

Scene Stage::split(size_t before, size_t after, CardLooks looks) const
{
    Scene left = scene(before, DiffMode::After, looks);
    Scene right = scene(after, DiffMode::After, looks);
    const float largest = std::max(left.largest, right.largest); // one scale for both
    for (Scene* side : {&left, &right})
        for (SceneItem& item : side->items)
            if (item.heat >= 0 && largest > 0) item.heat *= side->largest / largest;
    const CardLooks shown = right.looks;
    const auto pairs = Matcher(*m_board, before, after, left, right).match();
    Joiner joiner;
    Scene joined = joiner.join(std::move(left), std::move(right));
    joined.looks = shown;
    joined.largest = largest;
    for (const auto& [from, to] : pairs) {
        SceneRibbon ribbon{joiner.leftIndex().at(from), joiner.rightIndex().at(to)};
        ribbon.state = joined.items[static_cast<size_t>(ribbon.to)].state;
        joined.ribbons.push_back(ribbon);
    }
    sliceEnds(joined);
    return joined;
}

} // namespace tenon::views
