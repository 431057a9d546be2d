// SPDX-License-Identifier: GPL-3.0-or-later
// FollowPresenter: where a node of the model file went: its film, and playing the way there.
#pragma once

#include "views/models/film.h"
#include "views/presenters/passes_presenter.h"

#include <QTimer>

namespace tenon::views {

struct FollowState
{
    QString name;   ///< of the node in the model file; empty: none is followed
    QString answer; ///< where it is in the end
    int frame = -1; ///< the one that shows the version that is looked at
};

/// Follows what is selected, while its film is looked at, or what it is told to.
class FollowPresenter : public QObject
{
    Q_OBJECT
public:
    FollowPresenter(PassesPresenter& passes, Selection& selection, QObject* parent = nullptr);

    const FollowState& state() const { return m_state; }
    FilmModel& film() { return *m_film; }
    /// All nodes of the model file and where they are in the shown version.
    std::vector<FoundSource> sources() const;
    bool isPlaying() const { return m_timer.isActive(); }
    /// The film is made for who looks at it only.
    void setLookedAt(bool isLookedAt);
    void setReducedMotion(bool isReduced) { m_isReducedMotion = isReduced; }

public slots:
    /// Shows the node in the versions that touched it, one after the other, up to the shown one.
    void play(tenon::core::SourceId source);
    void showFrame(int row);

signals:
    void stateChanged();

private:
    void follow(core::SourceId source);
    void takeSelection();
    void takePasses();
    void refreshFrame();
    void playNext();
    int frameShowing(int version) const;

    PassesPresenter& m_passes;
    Selection& m_selection;
    DocumentPtr m_document;
    core::SourceId m_source;
    FollowState m_state;
    FilmModel* m_film;
    QTimer m_timer;
    std::vector<int> m_toPlay; ///< rows, the next last
    int m_playedTo = 0;        ///< version to end at
    bool m_isLookedAt = false;
    bool m_isReducedMotion = false;
    bool m_isMoving = false;
};

} // namespace tenon::views
