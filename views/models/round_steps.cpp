// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of axes at round values.
#include "views/models/round_steps.h"

#include <algorithm>
#include <cmath>

namespace tenon::views {

double roundStep(double least, StepKind kind)
{
    if (kind == StepKind::Binary) return std::exp2(std::max(0.0, std::ceil(std::log2(least))));
    const double decade = std::pow(10, std::floor(std::log10(least)));
    for (const double step : {1.0, 2.0, 5.0})
        if (step * decade >= least) return step * decade;
    return 10 * decade;
}

std::vector<double> roundTicks(double least, double most, int count, StepKind kind)
{
    std::vector<double> ticks;
    if (!(most > least) || count < 1) return ticks;
    const double step = roundStep((most - least) / count, kind);
    constexpr double kSlack = 1e-9; // of a step: what arithmetic loses
    const double first = std::ceil(least / step - kSlack);
    for (double i = first; i * step <= most + kSlack * step; ++i) ticks.push_back(i * step);
    return ticks;
}

} // namespace tenon::views
