// SPDX-License-Identifier: GPL-3.0-or-later
// The Inspect page's graph: one version, its scopes, search.
#include "views/presenters/inspect_presenter.h"

#include "views/models/node_search.h"

#include <algorithm>
#include <utility>

namespace tenon::views {

namespace {

constexpr size_t kLargestOpenGraph = 600; ///< more cards than this start with scopes closed

/// The same nodes in the same order: passes ran over it, or it was read again.
bool isSameGraph(const Document& a, const Document& b)
{
    return a.path == b.path && a.imported.mainId().isValid() && b.imported.mainId().isValid() &&
           a.imported.main().order == b.imported.main().order;
}

} // namespace

InspectPresenter::InspectPresenter(JobPresenter& jobs, Selection& selection, QObject* parent)
    : QObject(parent)
    , m_jobs(jobs)
    , m_selection(selection)
    , m_scene(std::make_shared<Scene>())
{
    connect(&m_selection, &Selection::changed, this, &InspectPresenter::selectNode);
    connect(&m_selection, &Selection::sought, this, &InspectPresenter::seekNode);
}

void InspectPresenter::setDocument(DocumentPtr document, bool isSameModel)
{
    m_document = std::move(document);
    m_version = inspectVersion(*m_document);
    auto alone = std::make_shared<Document>(*m_document);
    alone->imported = m_document->version(m_version);
    alone->passes.clear();
    const bool isKept = isSameModel || (m_alone && isSameGraph(*m_alone, *alone));
    m_alone = alone;
    if (!isKept) {
        m_stage.reset();
        m_collapsed.clear();
        m_hasChosenScopes = false;
        m_selected = kNoPlace;
        m_sought = {};
        m_scene = std::make_shared<Scene>();
        emit sceneChanged();
    }
    arrange();
}

void InspectPresenter::arrange()
{
    ++m_layouts;
    struct Slot
    {
        std::shared_ptr<const Stage> stage;
        ScenePtr scene; ///< with the looks of then; thousands of cards take a while
    };
    const auto slot = std::make_shared<Slot>();
    const DocumentPtr document = m_alone;
    const CardLooks looks = m_looks;
    const float wrapAspect = m_wrapAspect;
    const bool shouldChoose = !m_hasChosenScopes;
    const std::set<QString> collapsed = m_collapsed;
    m_jobs.startQuietly(
        QStringLiteral("inspect-layout"),
        [=](core::JobContext& job) -> core::Status {
            const auto board = std::make_shared<const Storyboard>(document, BodyCards::Shown);
            auto stage = std::make_shared<Stage>(Stage::forScopes(board, 0, collapsed));
            if (shouldChoose) {
                const bool isLarge = board->sequence().size() > kLargestOpenGraph;
                std::set<QString> closed;
                for (const NameScope& scope : stage->scopes())
                    if (isLarge || scope.isBody || scope.isRepeat) closed.insert(scope.path);
                if (!closed.empty())
                    stage = std::make_shared<Stage>(Stage::forScopes(board, 0, closed));
            }
            if (!stage->arrange([&job] { return job.stopRequested(); }, wrapAspect))
                return job.checkStop();
            slot->stage = stage;
            slot->scene = std::make_shared<Scene>(stage->scene(0, DiffMode::After, looks));
            return core::kDone;
        },
        [this, document, slot, looks](const core::Status& status) {
            --m_layouts;
            if (!status || !slot->stage || document != m_alone) return;
            takeStage(slot->stage, looks == m_looks ? slot->scene : nullptr);
        });
}

/// `scene`: what it shows with the present looks, where that is known.
void InspectPresenter::takeStage(std::shared_ptr<const Stage> stage, ScenePtr scene)
{
    m_stage = std::move(stage);
    m_collapsed = m_stage->collapsed();
    m_hasChosenScopes = true;
    m_placeOfSource.clear();
    const VersionView view = m_stage->board().version(0);
    for (size_t place = 0; place < view.occupants.size(); ++place)
        if (view.occupants[place].node && m_stage->board().places()[place].output < 0)
            for (const core::SourceId source : view.occupants[place].node->origin)
                m_placeOfSource.emplace(source.value, static_cast<PlaceId>(place));
    m_selected = placeForNode(m_selection.node());
    m_scene = scene ? std::move(scene)
                    : std::make_shared<Scene>(m_stage->scene(0, DiffMode::After, m_looks));
    emit sceneChanged();
    if (m_sought.isValid()) seekNode(std::exchange(m_sought, {}));
}

/// True when some were closed: new positions are on their way.
bool InspectPresenter::openGroupsAround(PlaceId place)
{
    bool wasClosed = false;
    for (const QString& path : m_stage->scopesAround(place))
        wasClosed |= m_collapsed.erase(path) > 0;
    if (wasClosed) arrange();
    return wasClosed;
}

void InspectPresenter::seekNode(core::NodeId node)
{
    m_sought = node;
    if (!m_stage) return;
    m_selected = placeForNode(node);
    if (openGroupsAround(m_selected)) return;
    m_sought = {};
    emit selectionMoved(m_selected);
}

core::NodeId InspectPresenter::findNode(const QString& text) const
{
    return m_alone ? views::findNode(m_alone->imported, text) : core::NodeId();
}

/// The imported node itself, or the one that a later node came from.
PlaceId InspectPresenter::placeForNode(core::NodeId node) const
{
    if (!m_stage || !node.isValid()) return kNoPlace;
    const PlaceId own = m_stage->board().placeOf(node);
    if (own != kNoPlace) return own;
    for (size_t v = m_document->versionCount(); v-- > 0;) {
        const core::NodePtr& record = m_document->version(v).findNode(node);
        if (!record) continue;
        for (const core::SourceId source : record->origin) {
            const auto it = m_placeOfSource.find(source.value);
            if (it != m_placeOfSource.end()) return it->second;
        }
        break;
    }
    return kNoPlace;
}

void InspectPresenter::selectPlace(int place)
{
    m_selected = place;
    core::NodeId node;
    if (m_stage && place >= 0) {
        const VersionView view = m_stage->board().version(0);
        if (const core::NodePtr& found = view.occupants[static_cast<size_t>(place)].node)
            node = found->id;
    }
    m_isSelecting = true;
    m_selection.select(node);
    m_isSelecting = false;
}

void InspectPresenter::selectNode(core::NodeId node)
{
    if (m_isSelecting) return;
    m_selected = placeForNode(node);
    emit selectionMoved(m_selected);
}

void InspectPresenter::toggleFigure()
{
    if (canToggleFigure()) setLooks(withOtherFigure(*m_document, m_looks));
}

void InspectPresenter::cycleColouring()
{
    if (m_document) setLooks(nextColouring(*m_document, m_looks));
}

void InspectPresenter::setWrapAspect(double aspect)
{
    m_wrapAspect = static_cast<float>(aspect);
    if (m_alone) arrange();
}

void InspectPresenter::setLooks(CardLooks looks)
{
    if (looks == m_looks) return;
    m_looks = looks;
    if (m_stage) m_scene = std::make_shared<Scene>(m_stage->scene(0, DiffMode::After, m_looks));
    emit sceneChanged();
}

void InspectPresenter::toggleScope(QString path)
{
    if (!m_collapsed.erase(path)) m_collapsed.insert(path);
    arrange();
}

void InspectPresenter::setAllCollapsed(bool isCollapsed)
{
    if (!m_stage) return;
    m_collapsed.clear();
    if (isCollapsed)
        for (const NameScope& scope : m_stage->scopes()) m_collapsed.insert(scope.path);
    arrange();
}

bool InspectPresenter::matches(const VersionView& view, PlaceId place, const QString& text) const
{
    const core::NodePtr& node = view.occupants[static_cast<size_t>(place)].node;
    if (!node || m_stage->board().places()[static_cast<size_t>(place)].output >= 0) return false;
    return nodeMatches(*view.module, *node, text);
}

FoundNodes InspectPresenter::found(const QString& text) const
{
    FoundNodes out;
    if (!m_stage || text.isEmpty()) return out;
    const VersionView view = m_stage->board().version(0);
    for (const PlaceId place : m_stage->board().sequence()) {
        if (!matches(view, place, text)) continue;
        ++out.count;
        if (place == m_selected) out.selected = out.count;
    }
    return out;
}

bool InspectPresenter::find(QString text, bool forward)
{
    if (!m_stage || text.isEmpty()) return false;
    const VersionView view = m_stage->board().version(0);
    const auto& sequence = m_stage->board().sequence();
    const auto count = static_cast<int>(sequence.size());
    const auto current = std::find(sequence.begin(), sequence.end(), m_selected);
    const int start = current == sequence.end() ? (forward ? -1 : 0)
                                                : static_cast<int>(current - sequence.begin());
    for (int k = 1; k <= count; ++k) {
        const int i = ((start + (forward ? k : -k)) % count + count) % count;
        if (!matches(view, sequence[static_cast<size_t>(i)], text)) continue;
        const PlaceId place = sequence[static_cast<size_t>(i)];
        selectPlace(place);
        m_selection.seek(m_selection.node());
        return true;
    }
    return false;
}

} // namespace tenon::views
