// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the scene of one version: cards, frames and edges with their diff states and figures.
#include "views/models/format.h"
#include "views/models/nesting.h"
#include "views/models/tables.h"
#include "views/scene/edge_label.h"
#include "views/scene/row_fold.h"
#include "views/scene/stage.h"
#include "views/scene/write_figures.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::views {

namespace {

QRectF rectOf(const core::LayoutRect& rect) { return {rect.x, rect.y, rect.width, rect.height}; }

} // namespace

/// One use: fills `scene` from a stage.
class SceneWriter
{
public:
    /// Compared with the version `base`, unless that is the same.
    SceneWriter(const Stage& stage, size_t base, size_t version, CardLooks looks)
        : m_stage(stage)
        , m_board(*stage.m_board)
        , m_document(m_board.document())
        , m_base(base)
        , m_version(version)
        , m_now(m_board.version(version))
        , m_figures(m_document, *m_now.module, looks.figure, stage.standing(m_now))
        , m_faulty(faultyNodes(m_document))
    {
        for (size_t v = base + 1; v <= version; ++v) {
            m_isDiff |= m_document.passes[v - 1].isChanged;
            if (m_board.showsBodies()) continue; // else the owner's card tells of them
            for (const auto& [owner, count] : nestedChanges(m_document, v))
                m_nestedChanges[m_board.placeOf(owner)] += count;
        }
        if (m_isDiff) m_before = m_board.version(base);
        m_scene.looks = looks;
        const bool needsTimes =
            looks.figure == CardFigure::Time || looks.figure == CardFigure::Bound;
        if (needsTimes && !m_document.measurement) // what there is to show
            m_scene.looks.figure = CardFigure::Error;
        const bool isThere = isOfQuantizing(looks.figure) ? m_document.quantization != nullptr
                                                          : m_document.comparison != nullptr;
        if (isCompared(looks.figure) && !isThere) m_scene.looks = {};
        m_scene.itemOfPlace.assign(m_board.places().size(), -1);
    }

    Scene write()
    {
        if (m_stage.m_layout.nodes.empty()) return std::move(m_scene);
        findRules();
        foldFrames();
        writeScopes();
        writeFrames();
        writeCards();
        for (const core::LayoutPoint& p : m_stage.m_layout.points)
            m_scene.points.emplace_back(p.x, p.y);
        writeFigures(m_document, m_figures, {m_stage.nodesByScope(m_now), m_itemOfScope}, m_scene);
        writeEdges(m_now, false);
        if (m_isDiff) writeEdges(m_before, true);
        m_scene.bounds = rectOf(m_stage.m_layout.bounds);
        for (const SceneItem& item : m_scene.items) m_scene.visible |= item.rect;
        m_scene.caption =
            m_version == 0 ? QStringLiteral("Imported") : m_document.passes[m_version - 1].title();
        return std::move(m_scene);
    }

private:
    const Occupant& now(PlaceId place) const { return m_now.occupants[static_cast<size_t>(place)]; }
    const Occupant* before(PlaceId place) const
    {
        return m_isDiff ? &m_before.occupants[static_cast<size_t>(place)] : nullptr;
    }

    DiffState stateOf(PlaceId place) const
    {
        if (!m_isDiff) return DiffState::Plain;
        const core::NodePtr& a = before(place)->node;
        const core::NodePtr& b = now(place).node;
        if (!a) return DiffState::Added;
        if (!b) return DiffState::Removed;
        if (m_board.places()[static_cast<size_t>(place)].output >= 0) return DiffState::Unchanged;
        if (m_nestedChanges.count(place)) return DiffState::Changed;
        if (a == b) return DiffState::Unchanged;
        return isSameWork(*a, *b) ? DiffState::Unchanged : DiffState::Changed;
    }

    void findRules()
    {
        for (const auto* changes : m_document.changesBetween(m_base, m_version))
            for (const core::Change& change : *changes)
                for (const core::NodeId id : change.to)
                    if (const PlaceId place = m_board.placeOf(id); place != kNoPlace)
                        m_ruleOf.emplace(place, QString::fromStdString(change.rule));
    }

    void describe(const Occupant& occupant, const core::Module& module, SceneItem& item)
    {
        const core::NodeRecord& node = *occupant.node;
        item.node = node.id;
        item.title = titleOf(module, node);
        item.name = node.name.empty() ? sourceNames(module, node.origin)
                                      : QString::fromStdString(node.name);
        item.detail = occupant.inner ? detailOf(module, *occupant.inner) : detailOf(module, node);
        item.family = occupant.inner ? familyOf(module, *occupant.inner) : familyOf(module, node);
        item.isFaulty = m_faulty.count(node.name) > 0;
        item.spoken = spokenText(module, node) + QLatin1String(item.isFaulty ? ", error" : "");
    }

    void describeOutput(int output, SceneItem& item) const
    {
        const core::GraphFunction& main = m_now.module->main();
        const auto index = static_cast<size_t>(output);
        item.title = index < main.resultNames.size()
                         ? QString::fromStdString(main.resultNames[index])
                         : QStringLiteral("output %1").arg(output);
        const core::ValueRef value = main.results[index];
        const core::NodePtr& node = m_now.module->findNode(value.node);
        item.detail = node && value.index < node->types.size() ? typeText(node->types[value.index])
                                                               : QStringLiteral("output");
        item.family = OpFamily::Boundary;
        item.node = value.node;
        item.spoken = QStringLiteral("model output ") + item.title;
    }

    void add(SceneItem item)
    {
        if (item.place != kNoPlace)
            m_scene.itemOfPlace[static_cast<size_t>(item.place)] =
                static_cast<int>(m_scene.items.size());
        m_scene.items.push_back(std::move(item));
    }

    void writeScopes()
    {
        m_itemOfScope.assign(m_stage.m_scopes.size(), -1);
        for (size_t s = 0; s < m_stage.m_scopes.size(); ++s) {
            const NameScope& scope = m_stage.m_scopes[s];
            const core::LayoutRect& rect = m_stage.m_layout.groups[s];
            if (rect.width <= 0) continue;
            SceneItem item;
            item.rect = rectOf(rect);
            item.title = scope.name;
            item.detail = countOf(scope.cardCount, QStringLiteral("node"));
            item.note = scope.path;
            item.isFrame = item.isScope = true;
            item.isCollapsed = m_stage.m_collapsed.count(scope.path) > 0;
            if (item.isCollapsed) item.place = scope.owner;
            item.family = OpFamily::Movement;
            item.spoken =
                QStringLiteral("group ") + scope.name + QStringLiteral(", ") + item.detail;
            m_itemOfScope[s] = static_cast<int>(m_scene.items.size());
            add(std::move(item));
        }
    }

    /// The fused frame around a card in this version, or kNoPlace.
    PlaceId frameOf(PlaceId place) const
    {
        const PlaceId frame = m_board.places()[static_cast<size_t>(place)].frame;
        return frame != kNoPlace && now(frame).node ? frame : kNoPlace;
    }

    bool isShown(PlaceId place) const
    {
        return now(place).node || (before(place) && before(place)->node);
    }

    /// Members that are gone since the model was laid out leave no gap in the frame.
    void foldFrames()
    {
        std::unordered_map<PlaceId, std::vector<core::LayoutRect>> rows;
        for (const PlaceId place : m_board.sequence())
            if (const PlaceId frame = frameOf(place); frame != kNoPlace && isShown(place))
                rows[frame].push_back(m_stage.rectOf(place));
        for (auto& [frame, members] : rows) {
            const int group = m_stage.m_groupOfPlace[static_cast<size_t>(frame)];
            if (group < 0) continue;
            RowFold fold(m_stage.m_layout.groups[static_cast<size_t>(group)], std::move(members),
                         core::LayoutOptions().groupTitle, Stage::kRowGap);
            if (!fold.isEmpty()) m_folds.emplace(frame, std::move(fold));
        }
    }

    void writeFrames()
    {
        const auto& places = m_board.places();
        for (PlaceId place = 0; place < static_cast<PlaceId>(places.size()); ++place) {
            const int group = m_stage.m_groupOfPlace[static_cast<size_t>(place)];
            if (group < 0 || !now(place).node) continue;
            SceneItem item;
            item.place = place;
            item.isFrame = true;
            const auto fold = m_folds.find(place);
            item.rect =
                rectOf(fold == m_folds.end() ? m_stage.m_layout.groups[static_cast<size_t>(group)]
                                             : fold->second.frame());
            describe(now(place), *m_now.module, item);
            item.state = stateOf(place);
            const auto rule = m_ruleOf.find(place);
            item.hasFigure = true;
            if (item.state == DiffState::Added && rule != m_ruleOf.end()) item.note = rule->second;
            m_figures.splitAmong(*now(place).node);
            add(std::move(item));
        }
    }

    /// True where the outermost collapsed scope around a card stands for it.
    bool isHidden(PlaceId place)
    {
        int card = -1;
        for (int s = m_stage.m_scopeOfPlace[static_cast<size_t>(place)]; s >= 0;
             s = m_stage.m_scopes[static_cast<size_t>(s)].parent)
            if (m_stage.m_collapsed.count(m_stage.m_scopes[static_cast<size_t>(s)].path))
                card = m_itemOfScope[static_cast<size_t>(s)];
        if (card < 0) return false;
        m_scene.itemOfPlace[static_cast<size_t>(place)] = card;
        if (now(place).node && m_faulty.count(now(place).node->name))
            m_scene.items[static_cast<size_t>(card)].isFaulty = true;
        return true;
    }

    void writeCards()
    {
        for (const PlaceId place : m_board.sequence()) {
            if (!isShown(place) || isHidden(place)) continue;
            const Occupant* old = before(place);
            const bool isGone = !now(place).node;
            const Storyboard::Place& info = m_board.places()[static_cast<size_t>(place)];
            SceneItem item;
            item.place = place;
            item.rect = rectOf(m_stage.rectOf(place));
            item.frame = frameOf(place);
            item.isBeside = m_stage.m_sideOfPlace[static_cast<size_t>(place)] >= 0;
            if (const auto fold = m_folds.find(item.frame); fold != m_folds.end())
                item.rect.moveTop(fold->second.apply(static_cast<float>(item.rect.top())));
            item.state = stateOf(place);
            item.isMember = item.frame != kNoPlace && !isGone;
            if (info.output >= 0)
                describeOutput(info.output, item);
            else if (isGone)
                describe(*old, *m_before.module, item);
            else
                describe(now(place), *m_now.module, item);
            // Inside a frame that is new or changed, the frame carries the news.
            if (item.isMember && item.state == DiffState::Unchanged &&
                stateOf(info.frame) != DiffState::Unchanged)
                item.state = DiffState::Plain;
            if (const auto nested = m_nestedChanges.find(place); nested != m_nestedChanges.end())
                item.detail = nestedChangesText(nested->second);
            else if (item.state == DiffState::Changed)
                item.detail =
                    changeText(*m_before.module, *old->node, *now(place).node, item.detail);
            item.hasFigure =
                info.output < 0 && !isGone && now(place).node->kind != core::NodeKind::Parameter;
            add(std::move(item));
        }
    }

    void writeEdges(const VersionView& view, bool isOld)
    {
        for (const Flow& flow : view.flows) {
            const int from = m_scene.itemAt(flow.from), to = m_scene.itemAt(flow.to);
            if (from < 0 || to < 0 || from == to) continue;
            SceneEdge edge{from, to};
            if (!findPath(flow, edge) || !m_drawn.insert(jointKey(flow.from, flow.to)).second)
                continue;
            if (isOld)
                edge.state = DiffState::Removed;
            else if (m_isDiff)
                edge.state = DiffState::Unchanged;
            const core::NodePtr& source = view.module->findNode(flow.value.node);
            const bool isLabelled = !isOld && !edge.isStub && !edge.isSideways &&
                                    !isInsideFrame(flow) && source &&
                                    flow.value.index < source->types.size();
            if (isLabelled && m_labelled.insert(flow.value).second)
                placeLabel(shapeLabel(source->types[flow.value.index]), framesAround(flow), m_scene,
                           edge);
            m_scene.edges.push_back(std::move(edge));
        }
    }

    std::vector<QRectF> framesAround(const Flow& flow) const
    {
        std::vector<QRectF> frames;
        for (const PlaceId end : {flow.from, flow.to}) {
            if (const int frame = m_scene.itemAt(frameOf(end)); frame >= 0)
                frames.push_back(m_scene.items[static_cast<size_t>(frame)].rect);
            for (int s = m_stage.m_scopeOfPlace[static_cast<size_t>(end)]; s >= 0;
                 s = m_stage.m_scopes[static_cast<size_t>(s)].parent)
                if (const int item = m_itemOfScope[static_cast<size_t>(s)]; item >= 0)
                    frames.push_back(m_scene.items[static_cast<size_t>(item)].rect);
        }
        return frames;
    }

    bool isInsideFrame(const Flow& flow) const
    {
        const PlaceId frame = frameOf(flow.from);
        return frame != kNoPlace && frame == frameOf(flow.to);
    }

    /// The part of a way inside a folded frame moves with the rows there.
    void foldPath(const Flow& flow, SceneEdge& edge)
    {
        const auto source = m_folds.find(frameOf(flow.from));
        const auto target = m_folds.find(frameOf(flow.to));
        if (source == m_folds.end() && target == m_folds.end()) return;
        const auto first = static_cast<uint32_t>(m_scene.points.size());
        for (uint32_t i = 0; i < edge.count; ++i) {
            QPointF point = m_scene.points[edge.first + i];
            const auto y = static_cast<float>(point.y());
            if (source != m_folds.end() && source->second.holds(y))
                point.setY(source->second.apply(y));
            else if (target != m_folds.end() && target->second.holds(y))
                point.setY(target->second.apply(y));
            m_scene.points.push_back(point);
        }
        edge.first = first;
    }

    /// The laid-out way; straight inside a frame where nothing stands between; sideways from cards
    /// beside the program. False when there is none.
    bool findPath(const Flow& flow, SceneEdge& edge)
    {
        const QRectF& source = m_scene.items[static_cast<size_t>(edge.from)].rect;
        const QRectF& target = m_scene.items[static_cast<size_t>(edge.to)].rect;
        const auto add = [&](QPointF a, QPointF b) {
            edge.first = static_cast<uint32_t>(m_scene.points.size());
            edge.count = 2;
            m_scene.points.push_back(a);
            m_scene.points.push_back(b);
            return true;
        };
        if (m_stage.m_sideOfPlace[static_cast<size_t>(flow.from)] >= 0) {
            edge.isSideways = true;
            return add({source.right(), source.center().y()}, {target.left(), target.center().y()});
        }
        const auto it = m_stage.m_edgeOf.find(jointKey(flow.from, flow.to));
        if (it == m_stage.m_edgeOf.end()) // a bypass: what stands on the laid-out way is not there
            return add({source.center().x(), source.bottom()}, {target.center().x(), target.top()});
        const core::EdgePath& path = m_stage.m_layout.edges[it->second];
        if (path.count == 0) return false;
        edge.first = path.first;
        edge.count = path.count;
        edge.isStub = path.shape == core::EdgeShape::Stub;
        foldPath(flow, edge);
        return true;
    }

    const Stage& m_stage;
    const Storyboard& m_board;
    const Document& m_document;
    size_t m_base, m_version;
    bool m_isDiff = false;
    VersionView m_now;
    NodeFigures m_figures;
    VersionView m_before;
    Scene m_scene;
    std::unordered_map<PlaceId, QString> m_ruleOf;
    std::unordered_map<PlaceId, int> m_nestedChanges;
    std::unordered_map<PlaceId, RowFold> m_folds; ///< of frames with gaps
    std::vector<int> m_itemOfScope;
    std::unordered_set<std::string> m_faulty;
    std::unordered_set<uint64_t> m_drawn;
    std::unordered_set<core::ValueRef> m_labelled;
};

Scene Stage::scene(size_t version, DiffMode mode, CardLooks looks) const
{
    return difference(mode == DiffMode::Union && version > 0 ? version - 1 : version, version,
                      looks);
}

Scene Stage::difference(size_t before, size_t after, CardLooks looks) const
{
    return SceneWriter(*this, before, after, looks).write();
}

} // namespace tenon::views
