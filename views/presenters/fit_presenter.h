// SPDX-License-Identifier: GPL-3.0-or-later
// FitPresenter: why the compiled model fits the board whose budget counts, or does not.
#pragma once

#include "views/models/fit_rows.h"
#include "views/presenters/executors_presenter.h"

namespace tenon::views {

struct FitState
{
    QString verdict;
    bool fits = true;
    bool isWorking = false;
    QString problem;
    qint64 flashBytes = 0; ///< as FitAccount's
    qint64 ramBytes = 0;
};

class FitPresenter : public QObject
{
    Q_OBJECT
public:
    FitPresenter(WorkspacePresenter& workspace, ExecutorsPresenter& executors,
                 QObject* parent = nullptr);

    const FitState& state() const { return m_state; }
    FitModel& rows() { return *m_rows; }
    bool isSettled() const { return !m_state.isWorking; }

public slots:
    /// Plans are made while somebody looks only.
    void setLookedAt(bool isLookedAt);

signals:
    void stateChanged();

private:
    void follow();
    void explain(const MemoryBudget& budget);

    WorkspacePresenter& m_workspace;
    ExecutorsPresenter& m_executors;
    FitModel* m_rows;
    FitState m_state;
    bool m_isLookedAt = false;
    DocumentPtr m_document; ///< that is explained, or being explained, for ...
    QString m_board;
    bool m_isExact = false; ///< with measured images
};

} // namespace tenon::views
