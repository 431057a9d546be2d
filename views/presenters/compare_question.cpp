// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as the command line writes it.
#include "views/presenters/compare_question.h"

#include <QRegularExpression>

namespace tenon::views {

namespace {

/// Quoted for a shell where it must be.
QString word(const QString& text)
{
    static const QRegularExpression kPlain(QStringLiteral("^[A-Za-z0-9_./:=,+@%-]+$"));
    if (kPlain.match(text).hasMatch()) return text;
    QString quoted = text;
    quoted.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
    return QLatin1Char('\'') + quoted + QLatin1Char('\'');
}

} // namespace

QString commandLineOf(const CompareQuestion& question)
{
    const CompareQuestion usual;
    QStringList words{QStringLiteral("tenon compare"), word(question.model)};
    const auto add = [&](const char* option, const QString& value) {
        words << QLatin1String(option) << word(value);
    };
    if (!question.data.isEmpty()) add("--inputs", question.data);
    if (question.reference != usual.reference) add("--reference", question.reference);
    if (!question.board.isEmpty()) add("--board", question.board);
    if (question.options.target != usual.options.target) add("--target", question.options.target);
    if (!question.isolates) words << QStringLiteral("--no-isolated");
    const QString build = commandLineOf(question.options);
    if (!build.isEmpty()) words << build;
    for (const QString& shape : question.options.shapes.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        add("--shape", shape);
    return words.join(QLatin1Char(' '));
}

} // namespace tenon::views
