// SPDX-License-Identifier: GPL-3.0-or-later
// Bars, rows and fits of footprints.
#include "views/models/footprint_rows.h"

#include "views/models/format.h"

#include <algorithm>
#include <span>

namespace tenon::views {

namespace {

/// Colours of the parts in their order: flash and RAM do not share one, so a legend serves both.
constexpr int kFlashColours[] = {0, 1, 3, 5};
constexpr int kRamColours[] = {2, 6, 4, 5, 7};

std::vector<StackBar> bars(const Footprint& footprint,
                           std::vector<FootprintPart> ExecutorFootprint::*parts,
                           std::span<const int> colours)
{
    std::vector<StackBar> made;
    for (const ExecutorFootprint& executor : footprint.executors) {
        StackBar bar{executor.name};
        bar.isExact = executor.isExact;
        bar.problem = executor.problem;
        bar.isComplete = isComplete(executor.*parts);
        bar.totalBytes = knownBytes(executor.*parts);
        size_t index = 0;
        for (const FootprintPart& part : executor.*parts) {
            if (part.bytes > 0)
                bar.parts.push_back({part.name, part.bytes, colours[index % colours.size()]});
            ++index;
        }
        made.push_back(std::move(bar));
    }
    return made;
}

void addRows(const ExecutorFootprint& executor, const QString& memory,
             const std::vector<FootprintPart>& parts, qint64 most, std::vector<FootprintRow>& rows)
{
    const auto share = [&](qint64 bytes) {
        return most > 0 && bytes > 0 ? static_cast<double>(bytes) / static_cast<double>(most) : 0;
    };
    for (const FootprintPart& part : parts)
        rows.push_back({executor.name, memory, part.name, part.bytes, false, executor.isExact,
                        share(part.bytes)});
    const qint64 total = knownBytes(parts);
    rows.push_back({executor.name, memory, QStringLiteral("total"), total, true, executor.isExact,
                    share(total)});
}

} // namespace

qint64 knownBytes(const std::vector<FootprintPart>& parts)
{
    qint64 total = 0;
    for (const FootprintPart& part : parts) total += std::max<qint64>(0, part.bytes);
    return total;
}

bool isComplete(const std::vector<FootprintPart>& parts)
{
    return std::all_of(parts.begin(), parts.end(),
                       [](const FootprintPart& part) { return part.bytes >= 0; });
}

std::vector<StackBar> flashBars(const Footprint& footprint)
{
    return bars(footprint, &ExecutorFootprint::flash, kFlashColours);
}

std::vector<StackBar> ramBars(const Footprint& footprint)
{
    return bars(footprint, &ExecutorFootprint::ram, kRamColours);
}

FootprintModel* makeFootprintModel(QObject* parent)
{
    const auto extra = [](const FootprintRow& row, int role) -> QVariant {
        if (role == SortRole) return row.isTotal ? QVariant() : QVariant(row.share);
        if (role == Qt::ToolTipRole)
            return row.isExact ? QStringLiteral("measured on the linked image")
                               : QStringLiteral("estimated");
        return {};
    };
    const auto bytes = [](const FootprintRow& r) {
        return r.bytes < 0 ? QStringLiteral("not known")
                           : countText(r.bytes) + QStringLiteral(" B");
    };
    const auto how = [](const FootprintRow& r) {
        return r.bytes < 0 ? QString()
               : r.isExact ? QStringLiteral("measured")
                           : QStringLiteral("estimated");
    };
    return new FootprintModel(
        {{QStringLiteral("Executor"), [](const FootprintRow& r) { return r.executor; }, false,
          extra},
         {QStringLiteral("Memory"), [](const FootprintRow& r) { return r.memory; }, false, extra},
         {QStringLiteral("Part"), [](const FootprintRow& r) { return r.part; }, false, extra},
         {QStringLiteral("Bytes"), bytes, true, extra},
         {QStringLiteral("How known"), how, false, extra}},
        parent);
}

std::vector<FootprintRow> footprintRows(const Footprint& footprint)
{
    qint64 mostFlash = 0, mostRam = 0;
    for (const ExecutorFootprint& executor : footprint.executors) {
        mostFlash = std::max(mostFlash, knownBytes(executor.flash));
        mostRam = std::max(mostRam, knownBytes(executor.ram));
    }
    std::vector<FootprintRow> rows;
    for (const ExecutorFootprint& executor : footprint.executors) {
        if (!executor.problem.isEmpty()) continue;
        addRows(executor, QStringLiteral("flash"), executor.flash, mostFlash, rows);
        addRows(executor, QStringLiteral("RAM"), executor.ram, mostRam, rows);
    }
    return rows;
}

QString Fit::text() const
{
    if (usedBytes == 0 && !isExact) return QStringLiteral("not known");
    const QString used = (isExact ? QString() : QStringLiteral("at least ")) + byteText(usedBytes);
    if (budgetBytes <= 0) return used;
    return used + QStringLiteral(" of ") + byteText(budgetBytes) +
           (fits() ? QString() : QStringLiteral(": does not fit"));
}

} // namespace tenon::views
