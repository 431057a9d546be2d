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

/// The parts in which a text departs from those that read the same: from the one most unlike it,
/// and from the one most like it. Both 0: nothing reads the same.
struct Departures
{
    qsizetype first = 0;
    qsizetype last = 0;
};

Departures departures(const QString& text, const QStringList& others, const Elide& elide)
{
    const auto partAt = [&](qsizetype at) {
        while (at > 0 && !isBetweenParts(text[at - 1])) --at;
        return at;
    };
    const QString shown = usual(text, elide);
    qsizetype least = text.size(), most = 0;
    for (const QString& other : others) {
        if (other == text || usual(other, elide) != shown) continue;
        const qsizetype length = lengthInCommon(text, other);
        least = std::min(least, length);
        most = std::max(most, length);
    }
    if (most == 0) return {};
    const qsizetype first = std::min(partAt(least), partAt(most));
    // One that is told apart by its usual form may still start the same from there.
    const auto startOf = [&](const QString& name) {
        return elide(QChar(0x2026) + name.mid(first), Qt::ElideRight);
    };
    const QString start = startOf(text);
    for (const QString& other : others)
        if (other != text && startOf(other) == start)
            most = std::max(most, lengthInCommon(text, other));
    return {first, partAt(most)};
}

/// With what stands between this part and the next.
qsizetype endOfPart(const QString& text, qsizetype at)
{
    while (at < text.size() && !isBetweenParts(text[at])) ++at;
    return std::min(at + 1, text.size());
}

/// What a kernel does, as many of its words as there is room for, before the place that it stands
/// at and that tells it apart: "conv 1x1… · features.4/conv.0-2". Empty: it is not of that form, or
/// there is no room for that much.
QString withPlace(const QString& text, qsizetype last, const Elide& elide)
{
    const QString between = QStringLiteral(" · ");
    const QChar dots(0x2026);
    const qsizetype end = text.indexOf(between);
    const qsizetype place = end + between.size();
    if (end <= 0 || last < place) return {};
    const QString tails[] = {text.mid(place), dots + text.mid(last)};
    for (const QString& tail : tails)
        for (qsizetype at = end; at > 0; at = text.lastIndexOf(QLatin1Char(' '), at - 1)) {
            if (!text[at - 1].isLetterOrNumber()) continue; // "+" and "->" join what follows
            const QString shown =
                text.left(at) + (at < end ? QString(dots) : QString()) + between + tail;
            if (elide(shown, Qt::ElideRight) == shown) return shown;
        }
    return {};
}

} // namespace

QString shortName(const QString& text, const QStringList& others, const Elide& elide)
{
    const auto fits = [&](const QString& part) { return elide(part, Qt::ElideRight) == part; };
    if (fits(text)) return text;
    const auto [first, last] = departures(text, others, elide);
    if (last == 0) return usual(text, elide);
    if (const QString shown = withPlace(text, last, elide); !shown.isEmpty()) return shown;
    const QChar dots(0x2026);
    const qsizetype word = isSentence(text) ? text.indexOf(QLatin1Char(' ')) + 1 : 0;
    QString head = word <= first ? text.left(word) : QString();
    if (first > head.size()) head += dots;
    const qsizetype end = endOfPart(text, last);
    if (first == last || fits(head + text.mid(first, end - first) + dots) ||
        fits(head + text.mid(first)))
        return elide(head + text.mid(first), Qt::ElideRight);
    head += text.mid(first, endOfPart(text, first) - first);
    return elide(head + dots + text.mid(last), Qt::ElideRight);
}

} // namespace tenon::views
