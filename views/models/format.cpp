// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers, sizes, durations and shapes as text.
#include "views/models/format.h"

#include "core/base/text.h"
#include "core/tensor/dim_products.h"

#include <QFileInfo>
#include <QStringList>

#include <array>
#include <cmath>

namespace tenon::views {

namespace {

const QChar kMinus(0x2212);

/// Three significant digits, at most two decimals.
QString threeDigits(double value)
{
    const double magnitude = std::abs(value);
    const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
    return QString::number(value, 'f', decimals);
}

QString unknownType() { return QStringLiteral("unknown type"); }

} // namespace

QString countText(qint64 value) { return QString::fromStdString(core::thousands(value)); }

QString countOf(qint64 value, const QString& noun)
{
    return countText(value) + QLatin1Char(' ') + noun +
           (value == 1 ? QString() : QStringLiteral("s"));
}

QString shortCountText(double value)
{
    if (std::abs(value) < 10000) return countText(std::llround(value));
    constexpr std::array<const char*, 4> kUnits = {"k", "M", "G", "T"};
    size_t unit = 0;
    double scaled = value / 1000;
    while (std::abs(scaled) >= 999.5 && unit + 1 < kUnits.size()) {
        scaled /= 1000;
        ++unit;
    }
    return threeDigits(scaled) + QLatin1Char(' ') + QLatin1String(kUnits[unit]);
}

QString byteText(qint64 bytes)
{
    if (std::abs(bytes) < 1024) return QString::number(bytes) + QStringLiteral(" B");
    constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    double scaled = static_cast<double>(bytes) / 1024;
    while (std::abs(scaled) >= 1023.5 && unit + 1 < kUnits.size()) {
        scaled /= 1024;
        ++unit;
    }
    return threeDigits(scaled) + QLatin1Char(' ') + QLatin1String(kUnits[unit]);
}

QString byteDifferenceText(qint64 bytes)
{
    if (bytes == 0) return QStringLiteral("0");
    return (bytes < 0 ? QString(kMinus) : QStringLiteral("+")) + byteText(std::abs(bytes));
}

QString durationText(double microseconds)
{
    if (microseconds < 1) return threeDigits(microseconds * 1000) + QStringLiteral(" ns");
    if (microseconds < 999.5) return threeDigits(microseconds) + QStringLiteral(" µs");
    if (microseconds < 999500) return threeDigits(microseconds / 1000) + QStringLiteral(" ms");
    return threeDigits(microseconds / 1e6) + QStringLiteral(" s");
}

QString costText(double cost, CostUnit unit)
{
    if (unit == CostUnit::Time) return durationText(cost);
    return shortCountText(cost * 1000) + QStringLiteral(" instr.");
}

QString fullCostText(double cost, CostUnit unit)
{
    if (unit == CostUnit::Time) return durationText(cost);
    return countOf(std::llround(cost * 1000), QStringLiteral("instruction"));
}

QString costTitle(CostUnit unit)
{
    return unit == CostUnit::Time ? QStringLiteral("Time") : QStringLiteral("Instr.");
}

QString costUnitText(CostUnit unit)
{
    return unit == CostUnit::Time ? QStringLiteral("µs") : QStringLiteral("k instr.");
}

QString errorText(double error) { return QString::number(error, 'e', 1); }

QString shapeLabel(const core::TensorType& type)
{
    if (type.dtype == core::kHandle) return unknownType();
    if (type.shape.empty()) return QStringLiteral("scalar");
    QStringList dims;
    for (const core::Dim& dim : type.shape) {
        const QString text = QString::fromStdString(dim.text());
        const bool isSum = core::productsOf(dim).size() > 1;
        dims << (isSum ? QLatin1Char('(') + text + QLatin1Char(')') : text);
    }
    return dims.join(QChar(0x00d7));
}

QString typeText(const core::TensorType& type)
{
    if (type.dtype == core::kHandle) return unknownType();
    QStringList dims;
    for (const core::Dim& dim : type.shape) dims << QString::fromStdString(dim.text());
    return QString::fromStdString(type.dtype.text()) + QStringLiteral(" [") +
           dims.join(QStringLiteral(", ")) + QLatin1Char(']');
}

QString arrowText(qint64 before, qint64 after)
{
    return countText(before) + QStringLiteral(" → ") + countText(after);
}

QString modelName(const QString& path)
{
    const QFileInfo file(path);
    const QString folder = QFileInfo(file.absolutePath()).fileName();
    return file.completeBaseName() == QLatin1String("model") && !folder.isEmpty()
               ? folder + QLatin1Char('/') + file.fileName()
               : file.fileName();
}

QString shortDigest(const QString& digest)
{
    constexpr int kShown = 16;
    return digest.left(kShown) + (digest.size() > kShown ? QStringLiteral("…") : QString());
}

QString shortenedMiddle(const QString& text, int length)
{
    if (text.size() <= length || length < 5) return text;
    const int head = (length - 1) / 2;
    return text.left(head) + QChar(0x2026) + text.right(length - 1 - head);
}

} // namespace tenon::views
