// SPDX-License-Identifier: GPL-3.0-or-later
// Breaks stand behind what separates parts of names, and in what has no parts.
#include "views/models/line_breaks.h"

namespace tenon::views {

namespace {

constexpr QChar kBreak(0x200b); ///< ZERO WIDTH SPACE
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

} // namespace

QString withBreaks(const QString& text)
{
    QString out;
    qsizetype start = 0;
    for (qsizetype i = 0; i <= text.size(); ++i) {
        if (i < text.size() && !text[i].isSpace()) continue;
        const QStringView word = QStringView(text).mid(start, i - start);
        out += word.size() > kLongWord ? brokenWord(word) : word.toString();
        if (i < text.size()) out += text[i];
        start = i + 1;
    }
    return out;
}

QString withoutBreaks(QString text) { return text.remove(kBreak); }

} // namespace tenon::views
