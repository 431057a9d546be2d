// SPDX-License-Identifier: GPL-3.0-or-later
// Rows and columns of the Memory page.
#include "views/models/memory_rows.h"

#include "views/models/format.h"
#include "views/models/node_text.h"
#include "views/models/tables.h"

#include <algorithm>

namespace tenon::views {

namespace {

QString callText(const Document& document, int call)
{
    return call >= 0 && static_cast<size_t>(call) < document.calls.size()
               ? document.calls[static_cast<size_t>(call)].name
               : QString();
}

/// The node whose result the call writes: of a fused call the last one.
QString originText(const Document& document, int call)
{
    if (call < 0 || static_cast<size_t>(call) >= document.calls.size()) return {};
    const auto& sources = document.calls[static_cast<size_t>(call)].sources;
    return sources.empty() ? callText(document, call)
                           : sourceNames(document.imported, {sources.back()});
}

QVariant nodeVariant(core::NodeId node)
{
    return node.isValid() ? QVariant(static_cast<qint64>(node.value)) : QVariant(qint64{-1});
}

QVariant bufferExtra(const BufferRow& row, int role)
{
    if (role == NodeRole) return nodeVariant(row.node);
    if (role == FigureRole) return row.share;
    if (role == Qt::ToolTipRole)
        return row.label + QStringLiteral("  ") + row.name + QLatin1Char('\n') + row.type +
               QStringLiteral("\nwritten by ") + row.writer + QStringLiteral("\nlast read by ") +
               row.lastReader;
    return {};
}

} // namespace

BufferModel* makeBufferModel(QObject* parent)
{
    const auto calls = [](const BufferRow& r) {
        return QStringLiteral("%1 – %2").arg(r.firstCall).arg(r.lastCall);
    };
    const auto offset = [](const BufferRow& r) {
        return r.pool.isEmpty() ? countText(r.offset)
                                : r.pool + QLatin1Char(' ') + countText(r.offset);
    };
    const auto bytesOf = [](qint64 BufferRow::*member) {
        return [member](const BufferRow& r) { return r.*member; };
    };
    const QString bytes = QStringLiteral("B");
    return new BufferModel(
        {{QStringLiteral("Buffer"), [](const BufferRow& r) { return r.label; }, false, bufferExtra},
         {QStringLiteral("From"), [](const BufferRow& r) { return r.origin; }, false, bufferExtra},
         {QStringLiteral("Type"), [](const BufferRow& r) { return r.type; }, false, bufferExtra},
         {QStringLiteral("Calls"), calls, true, bufferExtra,
          [](const BufferRow& r) { return r.firstCall; }},
         {QStringLiteral("Offset"), offset, true, bufferExtra, bytesOf(&BufferRow::bottom)},
         {QStringLiteral("Bytes"), [](const BufferRow& r) { return countText(r.bytes); }, true,
          bufferExtra, bytesOf(&BufferRow::bytes), bytes},
         {QStringLiteral("Padding"), [](const BufferRow& r) { return countText(r.paddingBytes); },
          true, bufferExtra, bytesOf(&BufferRow::paddingBytes), bytes},
         {QStringLiteral("Last read by"), [](const BufferRow& r) { return r.lastReader; }, false,
          bufferExtra}},
        parent);
}

std::vector<BufferRow> bufferRows(const Document& document, const MemoryPlan& plan)
{
    std::vector<BufferRow> rows;
    qint64 largest = 1;
    for (const PlannedBuffer& buffer : plan.buffers) largest = std::max(largest, buffer.bytes);
    const std::vector<PoolBand> bands = poolBands(plan);
    for (size_t i = 0; i < plan.buffers.size(); ++i) {
        const PlannedBuffer& buffer = plan.buffers[i];
        const auto pool = static_cast<size_t>(std::max(0, buffer.pool));
        BufferRow row{static_cast<int>(i), QStringLiteral("t%1").arg(i), buffer.name};
        row.type = buffer.type;
        row.writer = callText(document, buffer.writer);
        row.origin = originText(document, buffer.writer);
        row.lastReader = buffer.isOutput          ? QStringLiteral("the caller, as an output")
                         : buffer.readers.empty() ? QString()
                                                  : callText(document, buffer.readers.back());
        row.bytes = buffer.bytes;
        row.paddingBytes = buffer.paddingBytes;
        row.offset = buffer.offset;
        row.bottom = buffer.offset + (pool < bands.size() ? bands[pool].bottom : 0);
        if (bands.size() > 1 && pool < bands.size()) row.pool = bands[pool].name;
        row.firstCall = buffer.firstCall;
        row.lastCall = buffer.lastCall;
        row.share = static_cast<double>(buffer.bytes) / static_cast<double>(largest);
        if (buffer.writer >= 0 && static_cast<size_t>(buffer.writer) < document.calls.size())
            row.node = document.calls[static_cast<size_t>(buffer.writer)].node;
        rows.push_back(std::move(row));
    }
    return rows;
}

int colourOf(const BufferRow& row) { return row.buffer % kOpFamilyCount; }

std::vector<BufferRow> aliveRows(const std::vector<BufferRow>& rows, int call)
{
    std::vector<BufferRow> alive;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(alive), [&](const BufferRow& row) {
        return row.firstCall <= call && call <= row.lastCall;
    });
    std::stable_sort(alive.begin(), alive.end(),
                     [](const BufferRow& a, const BufferRow& b) { return a.bytes > b.bytes; });
    return alive;
}

PlannerModel* makePlannerModel(QObject* parent)
{
    const auto bytes = [](const PlannerRow& r) {
        return r.problem.isEmpty() ? countText(r.bytes) + QStringLiteral(" B") : r.problem;
    };
    const auto ratio = [](const PlannerRow& r) { return ratioText(r); };
    const auto time = [](const PlannerRow& r) {
        return r.ms < 0 ? QStringLiteral("–") : durationText(r.ms * 1000);
    };
    const auto tip = [](const PlannerRow& r, int role) {
        if (role != Qt::ToolTipRole) return QVariant();
        QStringList lines{r.doc};
        if (r.isProvenOptimal) lines << QStringLiteral("proven: no plan is smaller");
        if (!r.problem.isEmpty()) lines << r.problem;
        return QVariant(lines.join(QLatin1Char('\n')));
    };
    return new PlannerModel(
        {{QStringLiteral("Planner"), [](const PlannerRow& r) { return r.algorithm; }, false, tip},
         {QStringLiteral("Bytes"), bytes, true, tip,
          [](const PlannerRow& r) { return r.problem.isEmpty() ? QVariant(r.bytes) : QVariant(); },
          QStringLiteral("B")},
         {QStringLiteral("To the bound"), ratio, true, tip,
          [](const PlannerRow& r) { return r.ratio > 0 ? QVariant(r.ratio) : QVariant(); },
          QStringLiteral("")},
         {QStringLiteral("Time"), time, true, tip,
          [](const PlannerRow& r) { return r.ms < 0 ? QVariant() : QVariant(r.ms); },
          QStringLiteral("ms")}},
        parent);
}

std::vector<PlannerRow> plannerRows(const MemoryPlan& plan)
{
    const auto ratio = [&](qint64 bytes) {
        return plan.lowerBoundBytes > 0
                   ? static_cast<double>(bytes) / static_cast<double>(plan.lowerBoundBytes)
                   : 0;
    };
    std::vector<PlannerRow> rows;
    qint64 largest = std::max<qint64>(1, plan.withoutReuseBytes);
    for (const PlannerResult& result : plan.planners) largest = std::max(largest, result.bytes);
    for (const PlannerResult& result : plan.planners) {
        PlannerRow row{result.algorithm, result.doc, result.problem, result.bytes};
        if (result.problem.isEmpty()) {
            row.ratio = ratio(result.bytes);
            row.ms = result.ms;
            row.share = static_cast<double>(result.bytes) / static_cast<double>(largest);
            row.isProvenOptimal = result.isProvenOptimal;
            row.isAtBound = result.bytes == plan.lowerBoundBytes;
        }
        row.isChosen = result.algorithm == plan.algorithm;
        rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const PlannerRow& a, const PlannerRow& b) {
        return a.problem.isEmpty() != b.problem.isEmpty() ? a.problem.isEmpty() : a.bytes < b.bytes;
    });
    PlannerRow reference{QStringLiteral("no reuse"),
                         QStringLiteral("every buffer in a place of its own: what planning saves")};
    reference.bytes = plan.withoutReuseBytes;
    reference.ratio = ratio(reference.bytes);
    reference.share = static_cast<double>(reference.bytes) / static_cast<double>(largest);
    reference.isReference = true;
    rows.push_back(std::move(reference));
    return rows;
}

MemoryFactModel* makeMemoryFactModel(QObject* parent)
{
    const auto extra = [](const MemoryFact& fact, int role) -> QVariant {
        if (role == NodeRole) return nodeVariant(fact.node);
        if (role == MutedRole) return true;
        if (role == Qt::ToolTipRole) return fact.value;
        return {};
    };
    const auto value = [](const MemoryFact& fact, int role) -> QVariant {
        if (role == NodeRole) return nodeVariant(fact.node);
        return role == Qt::ToolTipRole ? QVariant(fact.value) : QVariant();
    };
    return new MemoryFactModel(
        {{QStringLiteral("Fact"), [](const MemoryFact& f) { return f.label; }, false, extra},
         {QStringLiteral("Value"), [](const MemoryFact& f) { return f.value; }, false, value}},
        parent);
}

QString ratioText(const PlannerRow& row)
{
    if (row.ratio <= 0) return {};
    return row.isAtBound ? QStringLiteral("= bound")
                         : QStringLiteral("×%1").arg(row.ratio, 0, 'f', 3);
}

LiveModel* makeLiveModel(QObject* parent)
{
    const auto extra = [](const LiveRow& row, int role) -> QVariant {
        if (role == NodeRole) return nodeVariant(row.node);
        if (role == FigureRole) return row.share;
        if (role == Qt::ToolTipRole) return row.name + QLatin1Char('\n') + row.sources;
        return {};
    };
    return new LiveModel(
        {{QStringLiteral("Call"), [](const LiveRow& r) { return QString::number(r.call); }, true,
          extra, [](const LiveRow& r) { return r.call; }, QStringLiteral("")},
         {QStringLiteral("Kernel"), [](const LiveRow& r) { return r.name; }, false, extra},
         {QStringLiteral("From"), [](const LiveRow& r) { return r.sources; }, false, extra},
         {QStringLiteral("Live bytes"), [](const LiveRow& r) { return countText(r.bytes); }, true,
          extra, [](const LiveRow& r) { return r.bytes; }, QStringLiteral("B")}},
        parent);
}

std::vector<LiveRow> liveRows(const Document& document, const LiveCurve& curve)
{
    std::vector<LiveRow> rows;
    const qint64 most = curve.peakCall < 0 ? 1 : curve.bytes[static_cast<size_t>(curve.peakCall)];
    for (size_t i = 0; i < curve.bytes.size(); ++i) {
        LiveRow row{static_cast<int>(i), callText(document, static_cast<int>(i))};
        row.bytes = curve.bytes[i];
        row.share = most > 0 ? static_cast<double>(row.bytes) / static_cast<double>(most) : 0;
        if (i < document.calls.size()) {
            row.sources = sourceNames(document.imported, document.calls[i].sources);
            row.node = document.calls[i].node;
        } else {
            row.name = QStringLiteral("after the last call");
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

LiveCurve liveCurve(const MemoryPlan& plan)
{
    LiveCurve curve{plan.liveBytes, plan.arenaBytes, plan.lowerBoundBytes};
    const auto peak = std::max_element(curve.bytes.begin(), curve.bytes.end());
    if (peak != curve.bytes.end()) curve.peakCall = static_cast<int>(peak - curve.bytes.begin());
    return curve;
}

std::vector<PoolBand> poolBands(const MemoryPlan& plan)
{
    std::vector<PoolBand> bands;
    qint64 bottom = 0;
    for (const MemoryPool& pool : plan.pools) {
        bands.push_back({pool.name, bottom, pool.peakBytes, pool.budgetBytes});
        bottom += bands.back().heightBytes();
    }
    return bands;
}

} // namespace tenon::views
