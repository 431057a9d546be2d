// SPDX-License-Identifier: GPL-3.0-or-later
// Where a name departs from those that would read the same.
#include "views/models/short_name.h"

#include <algorithm>

namespace tenon::views {
namespace {

bool isSentence(const QString& text) { return text.contains(QLatin1Char(' ')); }

QString usual(const QString& text, const Elide& elide)
{
    return elide(text, isSentence(text) ? Qt::ElideRight : Qt::ElideMiddle);
}

bool isBetweenParts(QChar c) { return QStringLiteral("/.: ·").contains(c); }

qsizetype lengthInCommon(const QString& a, const QString& b)
{
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

/// How much of the text is said by one that reads the same, in whole parts; 0: no other does.
qsizetype lengthSaidElsewhere(const QString& text, const QStringList& others, const Elide& elide)
{
    const QString shown = usual(text, elide);
    qsizetype length = 0;
    for (const QString& other : others)
        if (other != text && usual(other, elide) == shown)
            length = std::max(length, lengthInCommon(text, other));
    while (length > 0 && !isBetweenParts(text[length - 1])) --length;
    return length;
}

} // namespace

QString shortName(const QString& text, const QStringList& others, const Elide& elide)
{
    const auto fits = [&](const QString& part) { return elide(part, Qt::ElideRight) == part; };
    if (fits(text)) return text;
    qsizetype start = lengthSaidElsewhere(text, others, elide);
    if (start == 0) return usual(text, elide);
    const QString head =
        (isSentence(text) ? text.left(std::min(text.indexOf(QLatin1Char(' ')) + 1, start))
                          : QString()) +
        QChar(0x2026);
    while (start > head.size() && fits(head + text.mid(start - 1))) --start;
    return elide(head + text.mid(start), Qt::ElideRight);
}

} // namespace tenon::views
