// SPDX-License-Identifier: GPL-3.0-or-later
// NumbersPresenter: whether the passes keep what the model computes, asked once and told in words.
#pragma once

#include "views/presenters/workspace_presenter.h"

namespace tenon::views {

struct NumbersState
{
    QString text; ///< the verdict; empty: nothing was checked
    bool isBroken = false;
    bool isRunning = false;
    bool canCheck = false;
};

class NumbersPresenter : public QObject
{
    Q_OBJECT
public:
    explicit NumbersPresenter(WorkspacePresenter& workspace, QObject* parent = nullptr);
    const NumbersState& state() const { return m_state; }

public slots:
    void check();

signals:
    void stateChanged();
    /// A pass goes too far: the version behind it.
    void broke(int version);

private:
    void refresh();

    WorkspacePresenter& m_workspace;
    NumbersState m_state;
};

} // namespace tenon::views
