// SPDX-License-Identifier: GPL-3.0-or-later
// ProjectPresenter: the opened model as a project: a draft of template, folder and memories, the
// job that makes it, then building, flashing and running it with their log.
#pragma once

#include "views/presenters/workspace_presenter.h"

namespace tenon::views {

struct ProjectState
{
    QString kind; ///< name of the template
    QString kindTitle;
    QString folder;
    QString workspacePools; ///< memory map, as --workspace-pools takes it; empty: one array
    QString constantPools;
    QString target;  ///< what it is compiled for
    QString problem; ///< why it cannot be made; empty: it can
    QString commandLine;
    QString made;    ///< folder of the project that was made; empty: none yet
    QString log;     ///< of what was done with it
    QString working; ///< what is being done; empty: nothing
    bool canCreate = false;
    bool isMade = false;  ///< the draft is of the project that was made
    bool canMake = false; ///< build, flash and run
};

class ProjectPresenter : public QObject
{
    Q_OBJECT
public:
    explicit ProjectPresenter(WorkspacePresenter& workspace, QObject* parent = nullptr);

    const ProjectState& state() const { return m_state; }
    const std::vector<ProjectKind>& kinds() const { return m_kinds; }

public slots:
    void start(); ///< the draft is about the opened model
    void setKind(QString name);
    void setFolder(QString path);
    void setWorkspacePools(QString pools);
    void setConstantPools(QString pools);
    void create();
    void build() { make(tr("Build the project"), QStringLiteral("all")); }
    void flash() { make(tr("Flash the project"), QStringLiteral("flash")); }
    void run() { make(tr("Run the project"), QStringLiteral("run")); }

signals:
    void stateChanged();

private:
    ProjectQuestion question() const;
    void make(const QString& title, const QString& step);
    void finish(const QString& title, const QString& text, const core::Status& status);
    QString problem() const;
    void proposeKind();
    void refresh();

    WorkspacePresenter& m_workspace;
    std::vector<ProjectKind> m_kinds;
    ProjectState m_state;
    QString m_madeKind;          ///< template of the project that was made
    bool m_isKindChosen = false; ///< by somebody
    QString m_model;             ///< that the draft is about
};

} // namespace tenon::views
