// SPDX-License-Identifier: GPL-3.0-or-later
// Stepping: positions come once per document from a job; every step only writes a new scene.
#include "views/presenters/passes_presenter.h"

#include "views/models/format.h"
#include "views/models/nesting.h"
#include "views/models/node_search.h"

#include <algorithm>
#include <utility>

namespace tenon::views {

PassesPresenter::PassesPresenter(JobPresenter& jobs, Selection& selection, QObject* parent)
    : QObject(parent)
    , m_jobs(jobs)
    , m_selection(selection)
    , m_scene(std::make_shared<Scene>())
    , m_passes(new PassModel(this))
    , m_deltas(makeDeltaModel(this))
{
    connect(&m_selection, &Selection::changed, this, &PassesPresenter::selectNode);
    connect(&m_selection, &Selection::sought, this,
            [this] { emit selectionMoved(m_state.selected); });
    refreshState();
}

namespace {

/// The version after the pass that was shown, among the passes of another target or level; -1 where
/// it did not run.
int versionAfter(const Document& before, int version, const Document& now)
{
    if (version <= 0 || version > static_cast<int>(before.passes.size())) return version;
    const QString name = before.passes[static_cast<size_t>(version) - 1].name;
    int run = 0; // a pass may run several times
    for (int v = 1; v < version; ++v) run += before.passes[static_cast<size_t>(v) - 1].name == name;
    int found = -1;
    for (size_t i = 0; i < now.passes.size() && run >= 0; ++i)
        if (now.passes[i].name == name) {
            found = static_cast<int>(i) + 1;
            --run;
        }
    return found;
}

/// 0: nothing changed anything.
int firstChange(const Document& document)
{
    for (size_t i = 0; i < document.passes.size(); ++i)
        if (document.passes[i].isChanged) return static_cast<int>(i) + 1;
    return 0;
}

} // namespace

void PassesPresenter::setDocument(DocumentPtr document, bool isSameModel)
{
    const DocumentPtr before = std::exchange(m_document, std::move(document));
    m_passes->setDocument(m_document);
    if (!isSameModel) {
        m_stage.reset();
        m_views.clear();
        m_board.reset();
        m_lineageIndex.reset();
        m_scene = std::make_shared<Scene>();
        const bool isSameFile =
            before && before->path == m_document->path && !before->passes.empty();
        const int kept = isSameFile ? versionAfter(*before, m_state.version, *m_document) : -1;
        m_state.version = kept < 0 ? firstChange(*m_document) : kept;
        m_state.pinned = isSameFile ? versionAfter(*before, m_state.pinned, *m_document) : -1;
        m_state.selected = kNoPlace;
        emit sceneChanged();
    }
    arrange();
}

void PassesPresenter::arrange()
{
    struct Slot
    {
        std::shared_ptr<const Stage> stage;
        std::shared_ptr<const LineageIndex> lineage;
        StepViewPtr view; ///< of the step that is shown; thousands of cards take a while
    };
    ++m_layouts;
    const auto slot = std::make_shared<Slot>();
    const DocumentPtr document = m_document;
    const StepQuestion question = questionOf(m_state.version, m_state.mode);
    m_jobs.startQuietly(
        QStringLiteral("passes-layout"),
        [document, slot, question,
         wrapAspect = m_wrapAspect](core::JobContext& job) -> core::Status {
            const auto board = std::make_shared<const Storyboard>(document);
            const auto stage = std::make_shared<Stage>(Stage::forPasses(board));
            if (!stage->arrange([&job] { return job.stopRequested(); }, wrapAspect))
                return job.checkStop();
            slot->stage = stage;
            slot->lineage = std::make_shared<const LineageIndex>(board);
            slot->view = stepViewOf(*stage, question);
            return core::kDone;
        },
        [this, document, slot, question](const core::Status& status) {
            --m_layouts;
            // Another model may have come while this was on its way: its versions are others.
            if (document != m_document || !status || !slot->stage) return;
            m_views.clear();
            m_views.keep(question, slot->view);
            takeStage(slot->stage, slot->lineage);
        });
    refreshState();
}

void PassesPresenter::takeStage(std::shared_ptr<const Stage> stage,
                                std::shared_ptr<const LineageIndex> lineage)
{
    m_stage = std::move(stage);
    m_board = std::shared_ptr<const Storyboard>(m_stage, &m_stage->board());
    m_lineageIndex = std::move(lineage);
    if (m_selection.node().isValid()) m_state.selected = m_board->placeOf(m_selection.node());
    rebuildScene();
    refreshSelection();
}

void PassesPresenter::rebuildScene()
{
    if (!m_stage) return refreshState();
    const StepViewPtr view = viewOf(questionOf(m_state.version, m_state.mode));
    m_scene = view->scene;
    m_deltas->setRows(view->deltas);
    refreshHeat();
    refreshState();
    emit sceneChanged();
    lookAhead();
}

void PassesPresenter::setLookedAt(bool isLookedAt)
{
    m_isLookedAt = isLookedAt;
    lookAhead();
}

void PassesPresenter::refreshHeat()
{
    m_heat.assign(kHeatCells, {});
    if (!m_stage || m_scene->items.empty()) return;
    const auto& sequence = m_board->sequence();
    std::vector<int> counts(kHeatCells);
    for (size_t i = 0; i < sequence.size(); ++i) {
        const size_t cell = i * kHeatCells / sequence.size();
        const PlaceId place = sequence[i];
        const PlaceId frame = m_board->places()[static_cast<size_t>(place)].frame;
        int item = m_scene->itemAt(place);
        if (frame != kNoPlace && m_scene->itemAt(frame) >= 0) item = m_scene->itemAt(frame);
        if (place == m_state.selected || (frame != kNoPlace && frame == m_state.selected))
            m_heat[cell].isSelected = true;
        if (item < 0) continue;
        const DiffState state = m_scene->items[static_cast<size_t>(item)].state;
        if (state == DiffState::Plain || state == DiffState::Unchanged) continue;
        ++counts[cell];
        if (m_heat[cell].firstChanged == kNoPlace)
            m_heat[cell].firstChanged = m_scene->items[static_cast<size_t>(item)].place;
    }
    const int most = std::max(1, *std::max_element(counts.begin(), counts.end()));
    for (size_t i = 0; i < m_heat.size(); ++i)
        m_heat[i].heat = static_cast<double>(counts[i]) / most;
}

void PassesPresenter::refreshState()
{
    m_state.isReady = m_stage != nullptr;
    m_state.modeText = m_state.mode == DiffMode::Union   ? tr("union diff")
                       : m_state.mode == DiffMode::Split ? tr("before | after")
                                                         : tr("after the pass");
    if (!m_document) {
        m_state.title = tr("Passes");
        emit stateChanged();
        return;
    }
    const auto [passes, changed] = m_document->passCounts();
    m_state.versionCount = static_cast<int>(m_document->versionCount());
    m_state.countText = m_document->passes.empty()
                            ? tr("none ran yet")
                            : tr("%1, %2 with changes").arg(passes).arg(changed);
    m_state.title = nameOf(m_state.version);
    m_state.pinText = m_state.pinned < 0 ? QString() : nameOf(m_state.pinned);
    const auto [base, last] = compared();
    m_state.comparison = m_state.title;
    if (m_state.pinned >= 0 && base != last)
        m_state.comparison =
            nameOf(static_cast<int>(base)) + QStringLiteral(" → ") + nameOf(static_cast<int>(last));
    m_state.positionText =
        tr("%1 %2 of %3").arg(m_state.title).arg(m_state.version).arg(m_document->passes.size());
    emit stateChanged();
}

void PassesPresenter::showVersion(int version)
{
    if (!m_document || version < 0 || version >= static_cast<int>(m_document->versionCount()) ||
        version == m_state.version)
        return;
    m_state.version = version;
    rebuildScene();
    // The same place may be another node now.
    if (m_state.selected != kNoPlace) selectPlace(m_state.selected);
}

void PassesPresenter::step(int by) { showVersion(m_state.version + by); }

int PassesPresenter::nextIn(const std::vector<int>& versions, int by) const
{
    if (by > 0) {
        const auto it = std::upper_bound(versions.begin(), versions.end(), m_state.version);
        return it == versions.end() ? -1 : *it;
    }
    const auto it = std::lower_bound(versions.begin(), versions.end(), m_state.version);
    return it == versions.begin() ? -1 : *(it - 1);
}

void PassesPresenter::stepChanged(int by)
{
    if (m_document) showVersion(nextIn(changedVersions(), by));
}

std::vector<int> PassesPresenter::changedVersions() const
{
    std::vector<int> versions{0};
    for (size_t i = 0; i < m_document->passes.size(); ++i)
        if (m_document->passes[i].isChanged) versions.push_back(static_cast<int>(i) + 1);
    return versions;
}

void PassesPresenter::stepTouching(int by)
{
    if (m_lineageIndex)
        showVersion(nextIn(m_lineageIndex->versionsTouching(m_state.selected,
                                                            static_cast<size_t>(m_state.version)),
                           by));
}

void PassesPresenter::cycleMode()
{
    setMode(m_state.mode == DiffMode::Union   ? DiffMode::Split
            : m_state.mode == DiffMode::Split ? DiffMode::After
                                              : DiffMode::Union);
}

void PassesPresenter::setMode(DiffMode mode)
{
    if (mode == m_state.mode) return;
    m_state.mode = mode;
    rebuildScene();
}

QString PassesPresenter::nameOf(int version) const
{
    return version <= 0 ? tr("Imported")
                        : m_document->passes[static_cast<size_t>(version) - 1].title();
}

std::pair<size_t, size_t> PassesPresenter::comparedAt(int version) const
{
    const int other = m_state.pinned >= 0 ? m_state.pinned : std::max(0, version - 1);
    return {static_cast<size_t>(std::min(other, version)),
            static_cast<size_t>(std::max(other, version))};
}

void PassesPresenter::togglePin()
{
    m_state.pinned = m_state.pinned == m_state.version ? -1 : m_state.version;
    rebuildScene();
}

void PassesPresenter::unpin()
{
    if (m_state.pinned < 0) return;
    m_state.pinned = -1;
    rebuildScene();
}

ScenePtr PassesPresenter::sceneBefore() const
{
    if (!m_stage || m_state.version == 0) return m_scene;
    return std::make_shared<Scene>(m_stage->scene(compared().first, DiffMode::After, m_looks));
}

void PassesPresenter::toggleFigure()
{
    if (canToggleFigure()) setLooks(withOtherFigure(*m_document, m_looks));
}

void PassesPresenter::cycleColouring()
{
    if (m_document) setLooks(nextColouring(*m_document, m_looks));
}

void PassesPresenter::setWrapAspect(double aspect)
{
    m_wrapAspect = static_cast<float>(aspect);
    if (m_document) arrange();
}

void PassesPresenter::setLooks(CardLooks looks)
{
    if (looks == m_looks) return;
    m_looks = looks;
    rebuildScene();
}

void PassesPresenter::setFilter(QString filter) { m_passes->setFilter(filter); }

void PassesPresenter::selectPlace(int place)
{
    m_state.selected = place;
    refreshSelection();
    core::NodeId node;
    if (m_board && place >= 0) {
        const auto shown = versionFilling(*m_board, place, static_cast<size_t>(m_state.version));
        if (shown) node = m_board->version(*shown).occupants[static_cast<size_t>(place)].node->id;
    }
    m_isSelecting = true;
    m_selection.select(node);
    m_isSelecting = false;
}

/// The node's card; for one of a nested function, that of the If, Loop or Scan it belongs to.
int PassesPresenter::placeShowing(core::NodeId node) const
{
    if (!node.isValid() || m_board->placeOf(node) != kNoPlace) return m_board->placeOf(node);
    for (size_t v = m_document->versionCount(); v-- > 0;) {
        const core::Module& module = m_document->version(v);
        if (!module.findNode(node)) continue;
        const auto owners = ownersInMain(module);
        if (const auto found = owners.find(node); found != owners.end())
            return m_board->placeOf(found->second);
    }
    return kNoPlace;
}

void PassesPresenter::selectNode(core::NodeId node)
{
    if (m_isSelecting || !m_board) return;
    m_state.selected = placeShowing(node);
    refreshSelection();
    emit selectionMoved(m_state.selected);
}

void PassesPresenter::refreshSelection()
{
    m_lineage = {};
    std::vector<int> touching;
    if (m_lineageIndex && m_state.selected != kNoPlace) {
        m_lineage =
            m_lineageIndex->lineageOf(m_state.selected, static_cast<size_t>(m_state.version));
        touching = m_lineageIndex->versionsTouching(m_state.selected,
                                                    static_cast<size_t>(m_state.version));
    }
    m_passes->setTouching(std::move(touching));
    refreshHeat();
    emit stateChanged();
}

std::vector<QString> PassesPresenter::passNames() const
{
    std::vector<QString> names;
    if (m_document)
        for (const PassStep& step : m_document->passes) names.push_back(step.title());
    return names;
}

int PassesPresenter::versionOf(const QString& passName) const
{
    if (!m_document) return -1;
    for (size_t i = m_document->passes.size(); i-- > 0;)
        if (m_document->passes[i].name.compare(passName, Qt::CaseInsensitive) == 0)
            return static_cast<int>(i) + 1;
    return -1;
}

core::NodeId PassesPresenter::findNode(const QString& text) const
{
    return m_document
               ? views::findNode(m_document->version(static_cast<size_t>(m_state.version)), text)
               : core::NodeId();
}

} // namespace tenon::views
