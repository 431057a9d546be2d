// SPDX-License-Identifier: GPL-3.0-or-later
// File dialogs that do not block.
#include "views/frame/file_question.h"

#include <QFileDialog>
#include <QFileInfo>

namespace tenon::views {

namespace {

/// "png" of "Picture (*.png)".
QString suffixOf(const QString& filter)
{
    return filter.section(QStringLiteral("*."), 1).section(QLatin1Char(')'), 0, 0);
}

} // namespace

void askWithDialog(QWidget* parent, const FileQuestion& question, const TakeFile& take)
{
    auto* dialog = new QFileDialog(parent, question.title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    const QFileInfo start(question.start);
    dialog->setDirectory(start.isDir() ? start.filePath() : start.path());
    if (!question.filters.isEmpty()) dialog->setNameFilters(question.filters);
    if (question.kind == FileQuestion::Kind::Save) {
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->selectFile(start.fileName());
        const auto follow = [dialog](const QString& filter) {
            dialog->setDefaultSuffix(suffixOf(filter));
        };
        QObject::connect(dialog, &QFileDialog::filterSelected, dialog, follow);
        follow(question.filters.value(0));
    } else {
        const bool isFolder = question.kind == FileQuestion::Kind::Folder;
        dialog->setFileMode(isFolder ? QFileDialog::Directory : QFileDialog::ExistingFile);
        dialog->setOption(QFileDialog::ShowDirsOnly, isFolder);
    }
    QObject::connect(dialog, &QFileDialog::fileSelected, parent, take);
    dialog->open();
}

} // namespace tenon::views
