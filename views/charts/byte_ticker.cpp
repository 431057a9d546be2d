// SPDX-License-Identifier: GPL-3.0-or-later
// Steps and labels of byte and count axes.
#include "views/charts/byte_ticker.h"

#include "views/models/round_steps.h"

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr int kMostTicks = 6;
constexpr int kLinePixels = 18; ///< of text, which neither ticks nor a peak's label may share

struct Unit
{
    double bytes = 1;
    const char* name = "B";
};

Unit unitFor(double bytes)
{
    constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    Unit unit;
    for (const char* name : kNames) {
        unit.name = name;
        if (std::abs(bytes) < unit.bytes * 1024) break;
        if (name != kNames[4]) unit.bytes *= 1024;
    }
    return unit;
}

} // namespace

ByteTicker::ByteTicker(double most)
    : m_most(std::max(most, 64.0))
{
    setTickCount(kMostTicks);
}

void ByteTicker::fit(QCPAxis& axis, int height)
{
    constexpr double kHeadroom = 1.16;
    setTickCount(std::clamp(height / kLinePixels, 2, kMostTicks));
    const double room = height > 2 * kLinePixels ? height / double(height - kLinePixels) : 2;
    axis.setRange(0, m_most * std::max(kHeadroom, room));
}

double ByteTicker::getTickStep(const QCPRange& range)
{
    return roundStep(range.size() / mTickCount, StepKind::Binary);
}

QString ByteTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    if (std::abs(tick) < 0.5) return QStringLiteral("0");
    const Unit unit = unitFor(tick);
    return QString::number(tick / unit.bytes, 'g', 4) + QLatin1Char(' ') + QLatin1String(unit.name);
}

double CountTicker::getTickStep(const QCPRange& range)
{
    constexpr double kWantedCounts = 10;
    return roundStep(std::max(1.0, range.size() / kWantedCounts));
}

} // namespace tenon::views
