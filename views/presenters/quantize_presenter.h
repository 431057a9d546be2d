// SPDX-License-Identifier: GPL-3.0-or-later
// QuantizePresenter: the opened model as one of integers: a draft of what to do, the job, the error
// of every tensor, what every layer costs, and the mix of precisions that is chosen.
#pragma once

#include "views/models/placed_rows.h"
#include "views/models/precision_mix.h"
#include "views/presenters/boards_presenter.h"

namespace tenon::views {

struct QuantizeState
{
    QuantizeQuestion draft;
    QString problem; ///< why it cannot start; empty: it can
    QString commandLine;
    QString place;   ///< "this computer · llvm -mcpu=native"
    QString summary; ///< of the last result; empty: there is none
    QString error;   ///< why the last one failed
    QStringList floats;
    QStringList warnings;
    QString written; ///< the file of the last result
    QString caption; ///< what the choice comes to
    bool isRunning = false;
    bool canStart = false;
    bool hasResult = false;
    bool isByHand = false;           ///< somebody chose the layers, rather than limits
    bool replaces = false;           ///< a file is there that this page did not write
    bool countsInstructions = false; ///< where the model is to run; else microseconds
    MixCurve curve;
    QuantizeRow tensor; ///< the selected one; without a name: none
};

class QuantizePresenter : public QObject
{
    Q_OBJECT
public:
    QuantizePresenter(WorkspacePresenter& workspace, BoardsPresenter& boards, BoardPrompt& prompt,
                      QObject* parent = nullptr);

    const QuantizeState& state() const { return m_state; }
    QuantizeModel& tensors() { return *m_tensors; }
    LayerModel& layers() { return *m_layers; }
    PlacedModelRows& placed() { return *m_placed; }
    const PrecisionMix& mix() const { return m_mix; }
    WorkspacePresenter& workspace() { return m_workspace; }

public slots:
    void setDocument(); ///< the draft is about the opened model; its data stay
    void setData(QString path);
    void setEvaluation(QString path); ///< empty: the same data
    void setOutput(QString path);
    void setMethod(QString method);
    void setActivations(QString type);
    void setPerChannel(bool isPerChannel);
    void setEqualizes(bool equalizes);
    void setWider(QString precision);
    void setLargestLoss(QString percent); ///< empty: no limit
    void setLargestFlash(QString kib);    ///< the same
    void setLargestTime(QString time);    ///< the same, in the unit of the place
    void setMeasuresSensitivity(bool measures);
    void setIntegerEnds(bool isInteger);
    void setAxis(tenon::views::MixAxis axis);
    void quantize();
    void cancel();
    void openResult();
    /// A row of `layers`: it stays so; -1: as the curve has it.
    void pinLayer(int row, int precision);
    /// The next precision in turn.
    void cycleLayer(int row);
    void chooseWider(int count);
    void selectLayer(int row);
    void selectTensor(int row);

signals:
    void stateChanged();

private:
    QuantizeQuestion question() const;
    void finish(const QuantizeQuestion& asked, const QuantizeOutcome& outcome,
                const core::Status& status);
    void takeOutcome(const QuantizeQuestion& asked, const QuantizeOutcome& outcome);
    void paintNodes();
    void takeLimit();
    void refreshMix();
    void refresh();
    QString problem() const;

    WorkspacePresenter& m_workspace;
    BoardsPresenter& m_boards;
    BoardPrompt& m_prompt;
    QuantizeState m_state;
    QuantizeModel* m_tensors;
    LayerModel* m_layers;
    PlacedModelRows* m_placed;
    PrecisionMix m_mix;
    QuantizeOutcome m_outcome;
    QuantizeQuestion m_answered; ///< what m_mix was measured with
    bool m_isLossValid = true;
    bool m_isFlashValid = true;
    bool m_isTimeValid = true;
};

} // namespace tenon::views
