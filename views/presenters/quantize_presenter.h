// SPDX-License-Identifier: GPL-3.0-or-later
// QuantizePresenter: the opened model as one of integers: a draft of what to do, the job, and the
// error of every tensor.
#pragma once

#include "views/models/quantize_rows.h"
#include "views/presenters/workspace_presenter.h"

namespace tenon::views {

struct QuantizeState
{
    QuantizeQuestion draft;
    QString problem; ///< why it cannot start; empty: it can
    QString commandLine;
    QString summary; ///< of the last result; empty: there is none
    QStringList floats;
    QStringList warnings;
    QString written; ///< the file of the last result
    bool isRunning = false;
    bool canStart = false;
};

class QuantizePresenter : public QObject
{
    Q_OBJECT
public:
    explicit QuantizePresenter(WorkspacePresenter& workspace, QObject* parent = nullptr);

    const QuantizeState& state() const { return m_state; }
    QuantizeModel& tensors() { return *m_tensors; }

public slots:
    void start(); ///< the draft is about the opened model; its data stay
    void setData(QString path);
    void setEvaluation(QString path); ///< empty: the same data
    void setOutput(QString path);
    void setMethod(QString method);
    void setActivations(QString type);
    void setPerChannel(bool isPerChannel);
    void setEqualizes(bool equalizes);
    void setLargestLoss(QString percent); ///< empty: no limit
    void quantize();
    void openResult();

signals:
    void stateChanged();

private:
    void finish(const QuantizeQuestion& asked, const QuantizeOutcome& outcome,
                const core::Status& status);
    void refresh();

    WorkspacePresenter& m_workspace;
    QuantizeState m_state;
    QuantizeModel* m_tensors;
    bool m_isLossValid = true;
};

} // namespace tenon::views
