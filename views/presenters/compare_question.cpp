// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison as the command line writes it.
#include "views/presenters/compare_question.h"

#include "views/models/shell_word.h"

namespace tenon::views {

QString commandLineOf(const CompareQuestion& question)
{
    const CompareQuestion usual;
    QStringList words{QStringLiteral("tenon compare"), shellWord(question.model)};
    const auto add = [&](const char* option, const QString& value) {
        words << QLatin1String(option) << shellWord(value);
    };
    if (!question.data.isEmpty()) add("--inputs", question.data);
    if (question.reference != usual.reference) add("--reference", question.reference);
    if (!question.board.isEmpty()) add("--board", question.board);
    if (question.options.target != usual.options.target) add("--target", question.options.target);
    if (!question.isolates) words << QStringLiteral("--no-isolated");
    if (question.measuresNoise) words << QStringLiteral("--noise");
    const QString build = commandLineOf(question.options);
    if (!build.isEmpty()) words << build;
    for (const QString& shape : question.options.shapes.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        add("--shape", shape);
    return words.join(QLatin1Char(' '));
}

} // namespace tenon::views
