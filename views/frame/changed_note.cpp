// SPDX-License-Identifier: GPL-3.0-or-later
// Watches file and folder: who saves writes a new file and gives it the old one's name.
#include "views/frame/changed_note.h"

#include "views/models/format.h"

#include <QFileInfo>

namespace tenon::views {

namespace {

constexpr int kPauseMs = 300;

} // namespace

ChangedNote::ChangedNote(const ThemeSource& themes, WorkspacePresenter& workspace, QWidget* parent)
    : NoticeBar(themes, Kind::News, parent)
    , m_reload(addButton(PillButton::Look::Plain, tr("Reload")))
{
    m_pause.setSingleShot(true);
    m_pause.setInterval(kPauseMs);
    const auto* close = addButton(PillButton::Look::Quiet, tr("Keep what is shown"));
    connect(close, &QPushButton::clicked, this, [this] {
        m_read = stampOf(m_path);
        hide();
    });
    connect(m_reload, &QPushButton::clicked, &workspace, &WorkspacePresenter::reload);
    connect(&workspace, &WorkspacePresenter::opened, this, &ChangedNote::watch);
    connect(&m_pause, &QTimer::timeout, this, &ChangedNote::look);
    for (const auto changed :
         {&QFileSystemWatcher::fileChanged, &QFileSystemWatcher::directoryChanged})
        connect(&m_watcher, changed, this, [this] { m_pause.start(); });
}

ChangedNote::Stamp ChangedNote::stampOf(const QString& path)
{
    const QFileInfo file(path);
    return file.exists() ? Stamp{file.lastModified(), file.size()} : Stamp();
}

void ChangedNote::watch(const QString& path)
{
    if (const QStringList old = m_watcher.files() + m_watcher.directories(); !old.isEmpty())
        m_watcher.removePaths(old);
    m_path = path;
    m_read = stampOf(path);
    m_watcher.addPaths({path, QFileInfo(path).absolutePath()});
    hide();
}

void ChangedNote::look()
{
    if (!m_watcher.files().contains(m_path) && QFileInfo::exists(m_path))
        m_watcher.addPath(m_path); // another file by the same name
    const Stamp now = stampOf(m_path);
    if (now == m_read) return hide();
    const bool isThere = now.bytes >= 0;
    const QString name = modelName(m_path);
    title().setText(isThere ? tr("%1 changed on the disk").arg(name)
                            : tr("%1 is no longer there").arg(name));
    text().setText(tr("The window shows it as it was when it was opened."));
    m_reload->setVisible(isThere);
    setAccessibleName(title().text());
    show();
}

} // namespace tenon::views
