// SPDX-License-Identifier: GPL-3.0-or-later
// OptionsPresenter: how to compile, as a draft that is checked while it is edited; and what the
// optimization levels are worth.
#pragma once

#include "views/models/level_rows.h"
#include "views/presenters/workspace_presenter.h"

#include <QAbstractListModel>

namespace tenon::views {

/// The passes of the pipeline with a tick at those that run.
class PassChoiceModel : public QAbstractListModel
{
    Q_OBJECT
public:
    using QAbstractListModel::QAbstractListModel;
    void setChoices(std::vector<PassChoice> choices);
    void setLevel(int level); ///< passes of higher levels do not run
    void setDisabled(const QStringList& names);
    const QStringList& disabled() const { return m_disabled; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void chosen();

private:
    std::vector<PassChoice> m_choices;
    QStringList m_disabled;
    int m_level = 3;
};

struct OptionsState
{
    BuildOptions draft;
    QString problem;     ///< what is wrong with the draft; empty: nothing
    QString commandLine; ///< the same for `tenon compile`
    bool isChanged = false;
    bool canCompile = false;
    bool isComparing = false;
    QString levelsCaption; ///< of which model and target the levels are; empty: none were measured
};

class OptionsPresenter : public QObject
{
    Q_OBJECT
public:
    explicit OptionsPresenter(WorkspacePresenter& workspace, QObject* parent = nullptr);

    const OptionsState& state() const { return m_state; }
    PassChoiceModel& passes() { return *m_passes; }
    LevelModel& levels() { return *m_levels; }
    std::vector<PassKey> passKeys() const;
    QStringList planners() const;

public slots:
    void start(); ///< the draft is what is in force
    void setOptLevel(int level);
    void setExecutor(QString executor);
    void setThreads(QString text); ///< empty or 0: as the target says
    void setPlanner(QString planner);
    void setWorkspacePools(QString text);
    void setConstantPools(QString text);
    void setPassConfig(QString text); ///< entries with spaces between them
    void reset();                     ///< the draft is what the program does unasked
    bool apply();                     ///< false when the draft makes no sense
    /// Compiles with the draft at every level and measures on this computer.
    void compareLevels();

signals:
    void stateChanged();

private:
    void edit(const BuildOptions& draft);
    void refresh();

    WorkspacePresenter& m_workspace;
    OptionsState m_state;
    PassChoiceModel* m_passes;
    LevelModel* m_levels;
    bool m_isThreadsValid = true;
};

} // namespace tenon::views
