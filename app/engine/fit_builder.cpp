// SPDX-License-Identifier: GPL-3.0-or-later
// Rows out of what `tenon footprint --board` prints, too.
#include "app/engine/fit_builder.h"

#include "app/engine/backing.h"
#include "app/engine/qt_text.h"
#include "remote/footprint/fit.h"
#include "views/models/format.h"

#include <QCoreApplication>

namespace tenon::app {

using views::FitRow;

namespace {

/// Backticks are for terminals.
QString sentence(const std::string& value) { return text(value).remove(QLatin1Char('`')); }

QString words(const char* value) { return QCoreApplication::translate("Fit", value); }

void addMemory(const remote::FitReport& fit, std::vector<FitRow>& rows)
{
    for (const remote::PoolUse& pool : fit.pools)
        rows.push_back({words("memory"), text(pool.name), FitRow::kUnknown, pool.bytes,
                        pool.limitBytes < 0
                            ? QString()
                            : words("of %1 B").arg(views::countText(pool.limitBytes))});
    for (const remote::PeakBuffer& buffer : fit.peakBuffers)
        rows.push_back({words("at the peak"), text(buffer.title), FitRow::kUnknown, buffer.bytes,
                        words("%1, while %2 runs").arg(text(buffer.kind), text(fit.peakCall))});
}

void addLayers(const remote::FitReport& fit, std::vector<FitRow>& rows)
{
    for (const remote::LayerFlash& layer : fit.layers) {
        const int64_t code = std::max<int64_t>(layer.codeBytes, 0);
        QString note = words("weights %1 B").arg(views::countText(layer.constantBytes));
        if (layer.isShared)
            note += words(", code of a layer before");
        else if (layer.codeBytes >= 0)
            note += words(", code %1 B").arg(views::countText(layer.codeBytes));
        rows.push_back({words("layer"), text(layer.title), layer.constantBytes + code,
                        FitRow::kUnknown, note});
    }
}

} // namespace

core::Result<views::FitAccount> explainFit(const views::DocumentPtr& document,
                                           const views::MemoryBudget& budget, bool isLinked,
                                           core::JobContext& job)
{
    const auto& result = backingOf(document)->result;
    const remote::BoardBudget has{budget.title.toStdString(), budget.flashBytes, budget.ramBytes};
    std::vector<remote::ExecutorFootprint> images;
    if (isLinked && remote::plannedFit(*result, has).fits()) {
        remote::FootprintRequest request{result->loaded, result->options, {"aot-c"}};
        auto measured = remote::measureFootprint(request, job);
        if (!measured) return measured.error();
        images = std::move(*measured);
    }
    const auto fit =
        remote::explainFit(result, has, images.empty() ? nullptr : &images.front(), job);
    if (!fit) return fit.error();
    views::FitAccount out{
        sentence(fit->verdict()), fit->fits(), {}, fit->flashBytes, fit->ramBytes};
    for (const remote::Remedy& remedy : fit->remedies)
        out.rows.push_back(
            {words("remedy"), text(remedy.what), remedy.flashBytes, remedy.ramBytes,
             (remedy.fits ? words("fits; ") : words("does not fit; ")) + sentence(remedy.detail)});
    addMemory(*fit, out.rows);
    addLayers(*fit, out.rows);
    return out;
}

} // namespace tenon::app
