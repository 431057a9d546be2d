// SPDX-License-Identifier: GPL-3.0-or-later
// What the model is tried on, a picture or a sound, and what it says: its likeliest classes, or
// the range of each output.
#pragma once

#include "views/models/table_model.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

namespace tenon::views {

struct TrialQuestion
{
    QString file;          ///< PNG, JPEG or WAV
    QString preprocessing; ///< as `tenon run --preprocess` takes it
    QString labels;        ///< file; empty: none
    QString board;         ///< empty: this computer
};

/// By the suffix: what a drop on the window opens, and what it tries the model on.
bool isPictureFile(const QString& path);
bool isSoundFile(const QString& path);

/// The same for `tenon run`; `options` is the part about compiling.
QString commandLineOf(const TrialQuestion& question, const QString& model, const QString& options);

struct TrialRow
{
    QString title;    ///< label, or what an output is called
    QString detail;   ///< the number of the class, or the type of an output
    QString value;    ///< as the model gave it, or the range of an output
    double share = 0; ///< probability; 0 to 1
    bool isClass = true;
};
using TrialModel = TableModel<TrialRow>;
TrialModel* makeTrialModel(QObject* parent);

/// What the model sees of a picture; three bytes for every pixel.
struct Thumbnail
{
    int width = 0;
    int height = 0;
    QByteArray rgb;
};

struct TrialOutcome
{
    std::vector<TrialRow> rows;
    QString preprocessing; ///< everything that was done, as a line that says the same
    QString made;          ///< how the input came about
    QString place;
    QString note; ///< on the numbers
    Thumbnail seen;
};

} // namespace tenon::views
