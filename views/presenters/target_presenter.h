// SPDX-License-Identifier: GPL-3.0-or-later
// TargetPresenter: the target as fields and as one string, in sync, with what the board could more.
#pragma once

#include "views/models/target_figures.h"
#include "views/models/target_parts.h"
#include "views/presenters/boards_presenter.h"

namespace tenon::views {

struct TargetState
{
    TargetParts parts;
    QString text;
    bool isValid = true;
    QString message; ///< what is wrong
    QStringList explanation;
    QStringList unused; ///< features that the board has and the target does not use
    QString unusedText; ///< "the board has dotprod, the target does not use it"
    TargetFigures figures;
    bool canMeasure = false; ///< the selected board, for which the target is
};

/// Every edit is the window's target at once; `takeBack` is how it was when the editing began.
class TargetPresenter : public QObject
{
    Q_OBJECT
public:
    TargetPresenter(WorkspacePresenter& workspace, BoardsPresenter& boards,
                    QObject* parent = nullptr);

    const TargetState& state() const { return m_state; }
    /// Processors and features for the triple in the string.
    const TargetNames& names() const { return m_names; }
    QStringList kinds() const;
    QStringList triples() const;
    /// Names of the boards that have a target, with it.
    std::vector<std::pair<QString, QString>> boardTargets() const;

public slots:
    void start();
    void setText(QString text);
    void setParts(tenon::views::TargetParts parts);
    void useBoardFeatures(); ///< adds those that the target does not use
    void measureBoard();     ///< the target then carries what was found
    void takeBack();

signals:
    void stateChanged();

private:
    void refresh();

    WorkspacePresenter& m_workspace;
    BoardsPresenter& m_boards;
    TargetState m_state;
    TargetNames m_names;
    QString m_namesOf; ///< triple
    bool m_hasNames = false;
    QString m_boardTarget; ///< that the state was made with
    bool m_isEditing = false;
    QString m_before;
};

} // namespace tenon::views
