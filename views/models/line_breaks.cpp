// SPDX-License-Identifier: GPL-3.0-or-later
// Breaks stand behind what separates parts of names, and in what has no parts.
#include "views/models/line_breaks.h"

#include <QStringList>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr QChar kBreak(0x200b); ///< ZERO WIDTH SPACE
constexpr QChar kTie(0x00a0);   ///< NO-BREAK SPACE
constexpr QChar kJoin(0x2060);  ///< WORD JOINER
constexpr QChar kSlash(u'/');
constexpr qsizetype kLongWord = 18;
constexpr qsizetype kLongPart = 12;
constexpr qsizetype kShortPart = 2; ///< the "/" before a name stays with it

bool endsPart(QChar c) { return QStringLiteral("_/.:,;-=|").contains(c); }

QString brokenWord(QStringView word)
{
    QString out;
    qsizetype inPart = 0;
    for (qsizetype i = 0; i < word.size(); ++i) {
        out += word[i];
        ++inPart;
        const bool isInside = i + 1 < word.size() && !word[i + 1].isLowSurrogate() &&
                              word[i + 1].category() != QChar::Mark_NonSpacing;
        // Dots and dashes that stand together stay together.
        const bool isEnd =
            endsPart(word[i]) && inPart > kShortPart && isInside && !endsPart(word[i + 1]);
        if (!isInside || (!isEnd && inPart < kLongPart)) continue;
        out += kBreak;
        inPart = 0;
    }
    return out;
}

bool isUnit(QStringView word)
{
    while (!word.isEmpty() && QStringLiteral(".,;:)").contains(word.back())) word.chop(1);
    static const QStringList units{
        QStringLiteral("ns"),    QStringLiteral("µs"),  QStringLiteral("ms"),
        QStringLiteral("s"),     QStringLiteral("B"),   QStringLiteral("KiB"),
        QStringLiteral("MiB"),   QStringLiteral("GiB"), QStringLiteral("%"),
        QStringLiteral("dB"),    QStringLiteral("MHz"), QStringLiteral("k"),
        QStringLiteral("M"),     QStringLiteral("G"),   QStringLiteral("GFLOP/s"),
        QStringLiteral("Gop/s"), QStringLiteral("GB/s")};
    return std::any_of(units.begin(), units.end(), [&](const QString& one) { return one == word; });
}

/// What a line must not tear apart: a number and its unit, "n = 25", "± 3 ms".
bool isTied(QStringView before, QStringView after)
{
    const QStringView equals = u"=", spread = u"±";
    if (before == equals || after == equals || before == spread) return true;
    return !before.isEmpty() && before.back().isDigit() && isUnit(after);
}

} // namespace

QString withBreaks(const QString& text)
{
    QString out;
    QStringView before;
    QChar gap; ///< between that word and the next
    qsizetype start = 0;
    for (qsizetype i = 0; i <= text.size(); ++i) {
        if (i < text.size() && !text[i].isSpace()) continue;
        const QStringView word = QStringView(text).mid(start, i - start);
        if (!gap.isNull()) out += gap == QLatin1Char(' ') && isTied(before, word) ? kTie : gap;
        out += word.size() > kLongWord ? brokenWord(word)
               : isUnit(word)          ? word.toString().replace(kSlash, kSlash + QString(kJoin))
                                       : word.toString();
        gap = i < text.size() ? text[i] : QChar();
        before = word;
        start = i + 1;
    }
    return out;
}

QString withoutBreaks(QString text)
{
    return text.remove(kBreak).remove(kJoin).replace(kTie, QLatin1Char(' '));
}

} // namespace tenon::views
