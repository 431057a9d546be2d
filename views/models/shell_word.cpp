// SPDX-License-Identifier: GPL-3.0-or-later
// Single quotes, with those inside taken out and escaped.
#include "views/models/shell_word.h"

#include <QRegularExpression>

namespace tenon::views {

QString shellWord(const QString& text)
{
    static const QRegularExpression kPlain(QStringLiteral("^[A-Za-z0-9_./:=,+@%-]+$"));
    if (kPlain.match(text).hasMatch()) return text;
    QString quoted = text;
    quoted.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
    return QLatin1Char('\'') + quoted + QLatin1Char('\'');
}

} // namespace tenon::views
