// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the result, and the command line.
#include "views/models/trial_rows.h"

#include "views/models/shell_word.h"

#include <QObject>

namespace tenon::views {

namespace {

bool endsWithOneOf(const QString& path, std::initializer_list<const char*> suffixes)
{
    for (const char* suffix : suffixes)
        if (path.endsWith(QLatin1String(suffix), Qt::CaseInsensitive)) return true;
    return false;
}

} // namespace

bool isPictureFile(const QString& path) { return endsWithOneOf(path, {".png", ".jpg", ".jpeg"}); }

bool isSoundFile(const QString& path) { return endsWithOneOf(path, {".wav", ".wave"}); }

QString commandLineOf(const TrialQuestion& question, const QString& model, const QString& options)
{
    QStringList words{QStringLiteral("tenon run"), shellWord(model)};
    words << (isSoundFile(question.file) ? QStringLiteral("--audio") : QStringLiteral("--image"))
          << (question.file.isEmpty() ? QStringLiteral("FILE") : shellWord(question.file));
    if (!question.preprocessing.isEmpty())
        words << QStringLiteral("--preprocess") << shellWord(question.preprocessing);
    if (!question.labels.isEmpty())
        words << QStringLiteral("--labels") << shellWord(question.labels);
    if (!question.board.isEmpty()) words << QStringLiteral("--board") << shellWord(question.board);
    if (!options.isEmpty()) words << options;
    return words.join(QLatin1Char(' '));
}

TrialModel* makeTrialModel(QObject* parent)
{
    constexpr double kPercent = 100;
    const auto share = [](const TrialRow& row, int role) -> QVariant {
        if (role == FigureRole && row.isClass) return row.share;
        if (role == SortRole) return row.isClass ? QVariant(row.share) : QVariant();
        return {};
    };
    const auto full = [](const TrialRow& row, int role) -> QVariant {
        return role == Qt::ToolTipRole ? QVariant(row.title) : QVariant();
    };
    return new TrialModel(
        {{QObject::tr("Probability"),
          [](const TrialRow& row) {
              return row.isClass ? QObject::tr("%1 %").arg(row.share * kPercent, 0, 'f', 1)
                                 : QString();
          },
          true, share, [](const TrialRow& row) { return QVariant(row.share * kPercent); },
          QStringLiteral("%")},
         {QObject::tr("Result"), [](const TrialRow& row) { return row.title; }, false, full},
         {QObject::tr("Class"), [](const TrialRow& row) { return row.detail; }},
         {QObject::tr("Value"), [](const TrialRow& row) { return row.value; }, true}},
        parent);
}

} // namespace tenon::views
