// SPDX-License-Identifier: GPL-3.0-or-later
// ChangedNote: a bar that appears when the opened file changed on the disk, and offers to read it
// again.
#pragma once

#include "views/pages/common/notice.h"
#include "views/presenters/workspace_presenter.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QTimer>

namespace tenon::views {

class ChangedNote : public NoticeBar
{
    Q_OBJECT
public:
    ChangedNote(const ThemeSource& themes, WorkspacePresenter& workspace,
                QWidget* parent = nullptr);

private:
    /// What tells one content of a file from the next.
    struct Stamp
    {
        QDateTime time;
        qint64 bytes = -1; ///< -1: there is no such file
        bool operator==(const Stamp& other) const = default;
    };
    static Stamp stampOf(const QString& path);
    void watch(const QString& path);
    void look();

    QFileSystemWatcher m_watcher;
    QTimer m_pause; ///< until who writes is done
    QString m_path;
    Stamp m_read;
    PillButton* m_reload;
};

} // namespace tenon::views
