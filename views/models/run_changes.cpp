// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the comparison of two runs.
#include "views/models/run_changes.h"

#include "core/base/alignment.h"
#include "views/models/format.h"

#include <QObject>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

std::vector<std::string> titlesOf(const std::vector<PastCall>& calls)
{
    std::vector<std::string> titles;
    for (const PastCall& call : calls) titles.push_back(call.title.toStdString());
    return titles;
}

QString timeText(const std::optional<double>& us, CostUnit unit)
{
    return us ? costText(*us, unit) : QStringLiteral("–");
}

QString signedText(double us, CostUnit unit)
{
    return (us < 0 ? QStringLiteral("−") : QStringLiteral("+")) + costText(std::abs(us), unit);
}

QVariant keyOf(const std::optional<double>& value) { return value ? QVariant(*value) : QVariant(); }

std::optional<double> percentOf(const CallChangeRow& row)
{
    const auto difference = row.differenceUs();
    if (!difference || *row.beforeUs <= 0) return std::nullopt;
    return 100 * *difference / *row.beforeUs;
}

QString percentText(const CallChangeRow& row)
{
    const auto percent = percentOf(row);
    if (!percent) return {};
    return (*percent < 0 ? QStringLiteral("−%1 %") : QStringLiteral("+%1 %"))
        .arg(std::abs(*percent), 0, 'f', 1);
}

} // namespace

CallChangeModel* makeCallChangeModel(QObject* parent)
{
    const auto share = [](const CallChangeRow& row, int role) -> QVariant {
        return role == FigureRole && row.differenceUs() ? QVariant(row.share) : QVariant();
    };
    const auto full = [](const CallChangeRow& row, int role) -> QVariant {
        return role == Qt::ToolTipRole ? QVariant(row.title) : QVariant();
    };
    const QString us = QStringLiteral("µs");
    const auto heading = [](const QString& title) {
        return [title](const CallChangeRow& r) { return std::pair(title, costUnitText(r.unit)); };
    };
    return new CallChangeModel(
        {{QObject::tr("Kernel call"), [](const CallChangeRow& r) { return r.title; }, false, full},
         {QObject::tr("Before"),
          [](const CallChangeRow& r) { return timeText(r.beforeUs, r.unit); },
          true,
          {},
          [](const CallChangeRow& r) { return keyOf(r.beforeUs); },
          us,
          heading(QObject::tr("Before"))},
         {QObject::tr("Now"),
          [](const CallChangeRow& r) { return timeText(r.nowUs, r.unit); },
          true,
          {},
          [](const CallChangeRow& r) { return keyOf(r.nowUs); },
          us,
          heading(QObject::tr("Now"))},
         {QObject::tr("Difference"),
          [](const CallChangeRow& r) {
              const auto difference = r.differenceUs();
              return difference ? signedText(*difference, r.unit) : QString();
          },
          true, share, [](const CallChangeRow& r) { return keyOf(r.differenceUs()); }, us,
          heading(QObject::tr("Difference"))},
         {QObject::tr("in %"),
          percentText,
          true,
          {},
          [](const CallChangeRow& r) { return keyOf(percentOf(r)); },
          QStringLiteral("%")}},
        parent);
}

std::vector<CallChangeRow> callChangeRows(const HistoryRow& now, const HistoryRow& before)
{
    std::vector<CallChangeRow> rows;
    if (now.calls.empty() || before.calls.empty() || now.unit != before.unit) return rows;
    double most = 0;
    for (const core::AlignedRow& pair :
         core::aligned(titlesOf(now.calls), titlesOf(before.calls))) {
        CallChangeRow row{.unit = now.unit};
        if (pair.second >= 0) {
            const PastCall& call = before.calls[static_cast<size_t>(pair.second)];
            row.title = call.title;
            row.beforeUs = call.us;
        }
        if (pair.first >= 0) {
            const PastCall& call = now.calls[static_cast<size_t>(pair.first)];
            row.title = call.title;
            row.nowUs = call.us;
        }
        most = std::max(most, std::abs(row.differenceUs().value_or(0)));
        rows.push_back(std::move(row));
    }
    for (CallChangeRow& row : rows)
        row.share = most > 0 ? std::abs(row.differenceUs().value_or(0)) / most : 0;
    return rows;
}

QString runChangeText(const HistoryRow& now, const HistoryRow& before)
{
    const bool isOtherBoard = now.board != before.board;
    const auto half = [isOtherBoard](const HistoryRow& row) {
        const QString when =
            isOtherBoard ? QObject::tr("%1 on %2").arg(row.date, row.board) : row.date;
        if (row.unit == CostUnit::Instructions)
            return QObject::tr("%1: %2").arg(when, fullCostText(row.medianUs, row.unit));
        return QObject::tr("%1: %2 (%3 to %4, n = %5)")
            .arg(when, durationText(row.medianUs), durationText(row.lowUs),
                 durationText(row.highUs))
            .arg(row.runs);
    };
    if (now.id == before.id) return half(now);
    return half(now) + QStringLiteral(" · ") + half(before);
}

} // namespace tenon::views
