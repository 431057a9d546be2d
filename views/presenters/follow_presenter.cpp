// SPDX-License-Identifier: GPL-3.0-or-later
// Film of the selection, played by stepping the passes.
#include "views/presenters/follow_presenter.h"

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kFrameMs = 700; ///< a morph takes half of it; the rest is for reading

/// The record of a node in any version, the last first.
core::NodePtr recordOf(const Document& document, core::NodeId node)
{
    for (size_t v = document.versionCount(); v-- > 0;)
        if (const core::NodePtr& found = document.version(v).findNode(node)) return found;
    return nullptr;
}

} // namespace

FollowPresenter::FollowPresenter(PassesPresenter& passes, Selection& selection, QObject* parent)
    : QObject(parent)
    , m_passes(passes)
    , m_selection(selection)
    , m_film(makeFilmModel(this))
{
    m_timer.setInterval(kFrameMs);
    connect(&m_timer, &QTimer::timeout, this, &FollowPresenter::playNext);
    connect(&m_selection, &Selection::changed, this, &FollowPresenter::takeSelection);
    connect(&m_passes, &PassesPresenter::stateChanged, this, &FollowPresenter::takePasses);
}

std::vector<FoundSource> FollowPresenter::sources() const
{
    if (!m_passes.document()) return {};
    return foundSources(
        m_passes.document()->version(static_cast<size_t>(m_passes.state().version)));
}

void FollowPresenter::setLookedAt(bool isLookedAt)
{
    m_isLookedAt = isLookedAt;
    takeSelection();
}

void FollowPresenter::takePasses()
{
    if (m_passes.document() != m_document) {
        m_document = m_passes.document();
        const auto found = m_document && !m_state.name.isEmpty()
                               ? core::findSource(m_document->imported, m_state.name.toStdString())
                               : core::Result<core::SourceId>(core::Diagnostic());
        follow(found ? *found : core::SourceId());
    }
    if (isPlaying() && !m_isMoving) m_timer.stop(); // someone steps by hand
    refreshFrame();
}

void FollowPresenter::takeSelection()
{
    if (!m_isLookedAt || !m_document || m_isMoving || isPlaying()) return;
    const core::NodePtr node =
        m_selection.node().isValid() ? recordOf(*m_document, m_selection.node()) : nullptr;
    if (!node || node->origin.empty()) return;
    // A kernel that the followed node is part of shows no other.
    const bool isPart = std::binary_search(node->origin.begin(), node->origin.end(), m_source);
    if (!isPart || m_film->rows().empty()) follow(isPart ? m_source : node->origin.front());
}

void FollowPresenter::follow(core::SourceId source)
{
    m_source = source;
    m_state = {};
    if (m_document && source.isValid() && source.value < m_document->imported.sources().size()) {
        m_state.name = QString::fromStdString(m_document->imported.sources()[source.value].name);
        m_film->setRows(filmOf(*m_document, source));
        m_state.answer = m_film->rows().back().where;
    } else {
        m_source = {};
        m_film->setRows({});
    }
    refreshFrame();
}

int FollowPresenter::frameShowing(int version) const
{
    int shown = -1;
    for (size_t i = 0; i < m_film->rows().size(); ++i)
        if (m_film->rows()[i].version <= version) shown = static_cast<int>(i);
    return shown;
}

void FollowPresenter::refreshFrame()
{
    m_state.frame = frameShowing(m_passes.state().version);
    emit stateChanged();
}

void FollowPresenter::showFrame(int row)
{
    if (row < 0 || row >= m_film->rowCount()) return;
    core::NodeId node; // where nothing computes it, the place where something did
    for (int i = 0; i <= row; ++i)
        if (const core::NodeId own = m_film->rows()[static_cast<size_t>(i)].node; own.isValid())
            node = own;
    m_isMoving = true;
    m_passes.showVersion(m_film->rows()[static_cast<size_t>(row)].version);
    m_selection.seek(node);
    m_isMoving = false;
}

void FollowPresenter::play(core::SourceId source)
{
    m_timer.stop();
    m_playedTo = m_passes.state().version;
    follow(source);
    const int last = frameShowing(m_playedTo);
    m_toPlay.clear();
    for (int row = last; row >= (m_isReducedMotion ? last : 0); --row) m_toPlay.push_back(row);
    if (m_toPlay.empty()) return;
    if (m_toPlay.size() > 1) m_timer.start();
    playNext();
}

void FollowPresenter::playNext()
{
    if (m_toPlay.empty()) return m_timer.stop();
    const int row = m_toPlay.back();
    m_toPlay.pop_back();
    showFrame(row);
    if (!m_toPlay.empty()) return;
    m_timer.stop();
    m_isMoving = true; // the passes behind did not touch it
    m_passes.showVersion(m_playedTo);
    m_isMoving = false;
}

} // namespace tenon::views
