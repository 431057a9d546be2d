// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a target string at its spaces and changes single options of it.
#include "views/models/target_parts.h"

#include <algorithm>

namespace tenon::views {

namespace {

QStringList wordsOf(const QString& text)
{
    QStringList words;
    QString word;
    QChar quote;
    for (const QChar c : text.trimmed()) {
        if (c.isSpace() && quote.isNull()) {
            if (!word.isEmpty()) words << word;
            word.clear();
            continue;
        }
        if (c == QLatin1Char('\'') || c == QLatin1Char('"'))
            quote = quote.isNull() ? c : quote == c ? QChar() : quote;
        word += c;
    }
    if (!word.isEmpty()) words << word;
    return words;
}

bool isRaw(const QStringList& words)
{
    return !words.isEmpty() && !words[0].startsWith(QLatin1Char('{')) &&
           !words[0].contains(QLatin1Char('/'));
}

qsizetype indexOf(const QStringList& words, const QString& option)
{
    const QString start = QLatin1Char('-') + option + QLatin1Char('=');
    for (qsizetype i = 1; i < words.size(); ++i)
        if (words[i].startsWith(start)) return i;
    return -1;
}

QString valueOf(const QStringList& words, const QString& option)
{
    const qsizetype at = indexOf(words, option);
    return at < 0 ? QString() : words[at].mid(option.size() + 2);
}

void setValue(QStringList& words, const QString& option, const QString& value)
{
    const qsizetype at = indexOf(words, option);
    const QString text = QLatin1Char('-') + option + QLatin1Char('=') + value.trimmed();
    if (value.trimmed().isEmpty()) {
        if (at >= 0) words.removeAt(at);
    } else if (at >= 0) {
        words[at] = text;
    } else {
        words << text;
    }
}

QString abiOption(const QStringList& words)
{
    const bool isArm = valueOf(words, QStringLiteral("mtriple")).startsWith(QLatin1String("arm"));
    const bool isNamed = indexOf(words, QStringLiteral("mfloat-abi")) >= 0;
    return isArm || isNamed || words.value(0) == QLatin1String("c") ? QStringLiteral("mfloat-abi")
                                                                    : QStringLiteral("mabi");
}

} // namespace

TargetParts targetPartsOf(const QString& text)
{
    const QStringList words = wordsOf(text);
    if (!isRaw(words)) return {words.value(0), {}, {}, {}, {}, {}};
    return {words[0],
            valueOf(words, QStringLiteral("mtriple")),
            valueOf(words, QStringLiteral("mcpu")),
            valueOf(words, QStringLiteral("mattr")),
            valueOf(words, abiOption(words)),
            valueOf(words, QStringLiteral("num-cores"))};
}

QString withTargetParts(const QString& text, const TargetParts& parts)
{
    QStringList words = wordsOf(text);
    if (!isRaw(words)) words = {parts.kind};
    words[0] = parts.kind;
    setValue(words, QStringLiteral("mtriple"), parts.triple);
    setValue(words, QStringLiteral("mcpu"), parts.cpu);
    setValue(words, QStringLiteral("mattr"), parts.features);
    setValue(words, abiOption(words), parts.abi);
    setValue(words, QStringLiteral("num-cores"), parts.cores);
    return words.join(QLatin1Char(' '));
}

} // namespace tenon::views
