// SPDX-License-Identifier: GPL-3.0-or-later
// ComparePresenter: the opened model on the chosen board beside a reference: a draft of what to
// compare, the job, and every tensor's errors.
#pragma once

#include "views/models/compare_rows.h"
#include "views/presenters/boards_presenter.h"
#include "views/presenters/compare_question.h"

namespace tenon::views {

/// What the board is compared with.
enum class ReferenceKind : uint8_t
{
    LevelZero,
    Folder, ///< of expected tensors
    Model,  ///< another one
    OnnxRuntime
};

struct CompareState
{
    ReferenceKind kind = ReferenceKind::LevelZero;
    QString referencePath; ///< of a folder or model
    QString data;          ///< folder; empty: beside the model, else made up
    bool isolates = true;
    bool measuresNoise = false;
    bool hasOnnxRuntime = false; ///< it can be chosen
    QString problem;             ///< why it cannot start; empty: it can
    QString commandLine;         ///< of what would be started
    QString place;               ///< "this computer"
    QString placeDetail;         ///< "this computer · llvm -mcpu=native"
    bool isRunning = false;
    bool canStart = false;
    bool hasResult = false;
    bool isStale = false;   ///< something else is chosen now than the result is of
    CompareVerdict verdict; ///< of the result
    QString caption;        ///< where, against what, with which data
    QString notes;          ///< on data and what could not be compared, a line each
    QString error;          ///< why the last one failed
    int selected = -1;      ///< tensor of the comparison
};

class ComparePresenter : public QObject
{
    Q_OBJECT
public:
    ComparePresenter(WorkspacePresenter& workspace, BoardsPresenter& boards, BoardPrompt& prompt,
                     QObject* parent = nullptr);

    const CompareState& state() const { return m_state; }
    CompareModel& tensors() { return *m_tensors; }
    const core::Comparison* comparison() const { return m_outcome.comparison.get(); }
    const CompareOutcome& outcome() const { return m_outcome; }
    WorkspacePresenter& workspace() { return m_workspace; }

public slots:
    void setDocument(bool isSameModel);
    void setReferenceKind(tenon::views::ReferenceKind kind);
    void setReferencePath(QString path);
    void setData(QString path);
    void setIsolates(bool isolates);
    void setMeasuresNoise(bool measuresNoise);
    void compare();
    void cancel();
    /// Of the comparison; -1: none.
    void selectTensor(int tensor);
    /// The tensor that a node of the model ends up in.
    void selectNode(tenon::core::NodeId node);

signals:
    void stateChanged();
    void selectionChanged();

private:
    CompareQuestion question() const;
    /// Of the job that runs, or ran last.
    struct Asked
    {
        DocumentPtr document;
        CompareQuestion question;
    };
    void finish(const Asked& asked, const CompareOutcome& outcome, const core::Status& status);
    void takeOutcome(const Asked& asked, const CompareOutcome& outcome);
    void refresh();
    void refreshResult();
    QString problem() const;

    WorkspacePresenter& m_workspace;
    BoardsPresenter& m_boards;
    BoardPrompt& m_prompt;
    CompareState m_state;
    CompareOutcome m_outcome;
    CompareQuestion m_answered; ///< what m_outcome is of
    CompareModel* m_tensors;
};

} // namespace tenon::views
