// SPDX-License-Identifier: GPL-3.0-or-later
// Steps and labels of byte and count axes.
#include "views/charts/byte_ticker.h"

#include "views/models/round_steps.h"

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

constexpr double kMostTicks = 6;

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

double ByteTicker::getTickStep(const QCPRange& range)
{
    return roundStep(range.size() / kMostTicks, StepKind::Binary);
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
