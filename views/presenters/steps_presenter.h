// SPDX-License-Identifier: GPL-3.0-or-later
// StepsPresenter: into one pass, rewrite by rewrite, and out of it again.
#pragma once

#include "views/presenters/passes_presenter.h"
#include "views/presenters/workspace_presenter.h"

namespace tenon::views {

struct StepsState
{
    bool canEnter = false; ///< the shown step is of several rewrites
    bool isInside = false; ///< rewrites of some pass are steps
    bool isRunning = false;
    QString text; ///< what would be shown, or why there is nothing more
};

/// Passes of very many rewrites open in parts of at most kMostSteps, each of which opens again.
class StepsPresenter : public QObject
{
    Q_OBJECT
public:
    static constexpr int kMostSteps = 64;

    StepsPresenter(WorkspacePresenter& workspace, PassesPresenter& passes,
                   QObject* parent = nullptr);
    const StepsState& state() const { return m_state; }

public slots:
    void enter(); ///< the shown pass, or the rewrites that the shown step is of
    void leave();

signals:
    void stateChanged();

private:
    const PassStep* shown() const;
    void run(const std::optional<SteppedPass>& stepped, int position, int rewrite);
    void take(const DocumentPtr& made, int position, int rewrite);
    void refresh();

    WorkspacePresenter& m_workspace;
    PassesPresenter& m_passes;
    StepsState m_state;
};

} // namespace tenon::views
