// SPDX-License-Identifier: GPL-3.0-or-later
// Asking for a file: the dialog opens and returns, the answer comes when there is one.
#pragma once

#include <QStringList>

#include <functional>

class QWidget;

namespace tenon::views {

struct FileQuestion
{
    enum class Kind
    {
        Open,
        Folder, ///< that is there
        Save
    };
    Kind kind = Kind::Open;
    QString title;
    QString start;       ///< folder, or file that is proposed
    QStringList filters; ///< "Picture (*.png)"; empty: all files
};
/// Called once with the chosen path, or never.
using TakeFile = std::function<void(QString path)>;
using AskForFile = std::function<void(QWidget* parent, const FileQuestion&, const TakeFile&)>;

/// By the system's dialog, which goes with `parent`; a path to save to gets the filter's suffix
/// unless one was typed.
void askWithDialog(QWidget* parent, const FileQuestion& question, const TakeFile& take);

} // namespace tenon::views
