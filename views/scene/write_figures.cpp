// SPDX-License-Identifier: GPL-3.0-or-later
// After all items are there: what is largest is known then only.
#include "views/scene/write_figures.h"

#include "core/compare/comparison.h"

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

void setFigure(const Document& document, const NodeFigure& figure, CardFigure kind, SceneItem& item)
{
    const double shown = NodeFigures::shown(kind, figure);
    if (shown <= 0) return;
    const CostUnit unit = document.measurement ? document.measurement->unit : CostUnit::Time;
    item.figure =
        (figure.isEstimated ? QStringLiteral("≈ ") : QString()) + figureText(kind, shown, unit);
    if (kind == CardFigure::Time && document.measurement->isEmulated && unit == CostUnit::Time)
        item.figure += QStringLiteral(" emulated");
    item.isEstimated = figure.isEstimated;
    item.heat = static_cast<float>(shown);
    if (figure.isEstimated && figure.call >= 0)
        item.figureNote = QStringLiteral("estimated: its part of the kernel %1, by operations")
                              .arg(document.calls[static_cast<size_t>(figure.call)].name);
}

/// Between the ends of the ramp: bright is bad. A sound comparison stays dark: the bright end is no
/// better than what counts as an error at all.
struct DecibelRamp
{
    double best = 140;
    double worst = 20;

    float heatOf(double sqnrDb) const
    {
        if (std::isnan(sqnrDb)) return 1;
        return static_cast<float>(std::clamp((best - sqnrDb) / (best - worst), 0.0, 1.0));
    }
};

DecibelRamp rampOf(const NodeFigures& figures, const Scene& scene)
{
    constexpr double kStep = 10, kBest = 140, kWorst = 20, kLeast = 0;
    double best = -HUGE_VAL, worst = HUGE_VAL;
    for (const SceneItem& item : scene.items)
        if (const NodeFigure* figure = item.hasFigure ? figures.of(item.node) : nullptr;
            figure && std::isfinite(figure->value)) {
            best = std::max(best, figure->value);
            worst = std::min(worst, figure->value);
        }
    if (!std::isfinite(best)) return {};
    const double bright = std::clamp(kStep * std::floor(worst / kStep), kLeast, kWorst);
    return {std::clamp(kStep * std::ceil(best / kStep), bright + 2 * kStep, kBest), bright};
}

void setLoss(const NodeFigure& figure, CardFigure kind, const DecibelRamp& ramp, SceneItem& item)
{
    item.figure = figureText(kind, figure.value);
    item.heat = ramp.heatOf(figure.value);
    item.figureNote = kind == CardFigure::Sensitivity
                          ? QStringLiteral("signal to noise of the outputs when this layer alone "
                                           "is quantized")
                          : QStringLiteral("signal to noise of its result, with everything before "
                                           "it quantized, too");
}

void setDecibels(const Document& document, CardFigure kind, const NodeFigure& figure,
                 const DecibelRamp& ramp, SceneItem& item)
{
    if (isOfQuantizing(kind)) return setLoss(figure, kind, ramp, item);
    if (figure.tensor < 0 || !document.comparison) return;
    const core::ComparedTensor& tensor =
        document.comparison->tensors[static_cast<size_t>(figure.tensor)];
    item.figure = figureText(CardFigure::CumulativeError, figure.value);
    if (figure.isEstimated) item.figure = QStringLiteral("(%1)").arg(item.figure);
    item.heat = ramp.heatOf(figure.value);
    item.isEstimated = figure.isEstimated;
    const QString name = QString::fromStdString(tensor.name);
    const QString kernel =
        QString::fromStdString(tensor.title.text().empty() ? tensor.function : tensor.title.text());
    item.figureNote = figure.isEstimated
                          ? QStringLiteral("of %1, the result of the kernel %2, inside of which "
                                           "this is computed")
                                .arg(name, kernel)
                          : QStringLiteral("of %1, computed by %2").arg(name, kernel);
    if (tensor.cumulative.isOutside) item.figureNote += QStringLiteral("; outside tolerance");
    if (tensor.isolated && tensor.isolated->isOutside)
        item.figureNote += QStringLiteral("; the kernel itself is off");
}

bool isOpenGroup(const SceneItem& item) { return item.isScope && !item.isCollapsed; }

/// Of a share, the whole.
float largestOf(const Scene& scene)
{
    if (scene.looks.figure == CardFigure::Bound) return 1;
    float largest = 0;
    for (const SceneItem& item : scene.items)
        if (!isOpenGroup(item)) largest = std::max(largest, item.heat);
    return largest;
}

void writeDecibels(const Document& document, const NodeFigures& figures, const ScopeNodes& scopes,
                   Scene& scene)
{
    const DecibelRamp ramp = rampOf(figures, scene);
    const CardFigure kind = scene.looks.figure;
    for (SceneItem& item : scene.items)
        if (const NodeFigure* figure = item.hasFigure ? figures.of(item.node) : nullptr)
            setDecibels(document, kind, *figure, ramp, item);
    for (size_t s = 0; s < scopes.nodes.size(); ++s) {
        if (scopes.items[s] < 0) continue;
        SceneItem& item = scene.items[static_cast<size_t>(scopes.items[s])];
        const NodeFigure* found = figures.worstOf(scopes.nodes[s]);
        if (!found || isOpenGroup(item)) continue;
        NodeFigure worst = *found;
        worst.isEstimated = false;
        setDecibels(document, kind, worst, ramp, item);
        item.figureNote = QStringLiteral("the worst inside: ") + item.figureNote;
    }
    scene.least = static_cast<float>(ramp.best);
    scene.largest = static_cast<float>(ramp.worst);
}

} // namespace

void writeFigures(const Document& document, const NodeFigures& figures, const ScopeNodes& scopes,
                  Scene& scene)
{
    const CardFigure kind = scene.looks.figure;
    if (document.measurement) scene.unit = document.measurement->unit;
    if (isCompared(kind)) return writeDecibels(document, figures, scopes, scene);
    for (SceneItem& item : scene.items)
        if (const NodeFigure* figure = item.hasFigure ? figures.of(item.node) : nullptr)
            setFigure(document, *figure, kind, item);
    for (size_t s = 0; s < scopes.nodes.size(); ++s)
        if (kind != CardFigure::Error && scopes.items[s] >= 0) // errors do not add up
            setFigure(document, figures.sumOf(scopes.nodes[s]), kind,
                      scene.items[static_cast<size_t>(scopes.items[s])]);
    scene.largest = largestOf(scene);
    for (SceneItem& item : scene.items) {
        if (isOpenGroup(item)) item.heat = -1; // its bar would be longer than all others
        if (item.heat >= 0 && scene.largest > 0)
            item.heat = std::min(1.0f, item.heat / scene.largest);
    }
}

} // namespace tenon::views
