// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the report: headings, figures, the tables of the pages, two drawings.
#include "views/models/report.h"

#include "views/models/exact_facts.h"
#include "views/models/footprint_rows.h"
#include "views/models/format.h"
#include "views/models/measured_text.h"
#include "views/models/memory_rows.h"
#include "views/models/tables.h"

#include <algorithm>
#include <memory>

namespace tenon::views {

namespace {

const char* const kStyle = R"(
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1f27; background: #f4f5f8; margin: 0; }
main { max-width: 1180px; margin: 0 auto; padding: 24px; }
h1 { font-size: 22px; margin: 0; } h2 { font-size: 15px; margin: 0 0 10px; }
section { background: #fff; border: 1px solid #dfe3ea; border-radius: 8px; padding: 14px 16px; margin-top: 12px; }
p { margin: 4px 0; color: #5c6675; } .error { color: #b4423b; }
.tiles { display: flex; flex-wrap: wrap; gap: 12px; margin-top: 12px; }
.tile { flex: 1 1 200px; background: #fff; border: 1px solid #dfe3ea; border-radius: 8px; padding: 12px 16px; }
.tile b { display: block; font-size: 20px; } .tile span { color: #5c6675; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th { text-align: left; color: #5c6675; font-weight: 600; border-bottom: 1px solid #dfe3ea; }
th, td { padding: 3px 8px; vertical-align: top; } .n { text-align: right; font-variant-numeric: tabular-nums; }
td.w { overflow-wrap: anywhere; } tr:nth-child(even) td { background: #fafbfc; }
.scroll { overflow: auto; max-height: 760px; border: 1px solid #dfe3ea; border-radius: 6px; }
pre { font: 13px ui-monospace, monospace; margin: 0; white-space: pre-wrap; }
@media print { section { break-inside: avoid; } .scroll { max-height: none; overflow: visible; } }
)";

QString escaped(const QString& text) { return text.toHtmlEscaped(); }

QString section(const QString& title, const QString& content)
{
    return QStringLiteral("<section><h2>%1</h2>\n%2</section>\n").arg(escaped(title), content);
}

QString paragraph(const QString& text, const char* kind = "")
{
    return text.isEmpty()
               ? QString()
               : QStringLiteral("<p class=\"%1\">%2</p>\n").arg(QLatin1String(kind), escaped(text));
}

QString tableOf(const QAbstractItemModel& model)
{
    const auto isNumber = [&](int column) {
        const int alignment =
            model.headerData(column, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
        return (alignment & Qt::AlignRight) != 0;
    };
    QString html = QStringLiteral("<table><tr>");
    for (int c = 0; c < model.columnCount(); ++c)
        html += QStringLiteral("<th class=\"%1\">%2</th>")
                    .arg(QLatin1String(isNumber(c) ? "n" : "w"),
                         escaped(model.headerData(c, Qt::Horizontal, Qt::DisplayRole).toString()));
    html += QStringLiteral("</tr>\n");
    for (int r = 0; r < model.rowCount(); ++r) {
        html += QStringLiteral("<tr>");
        for (int c = 0; c < model.columnCount(); ++c)
            html += QStringLiteral("<td class=\"%1\">%2</td>")
                        .arg(QLatin1String(isNumber(c) ? "n" : "w"),
                             escaped(model.index(r, c).data(PlainTextRole).toString()));
        html += QStringLiteral("</tr>\n");
    }
    return html + QStringLiteral("</table>\n");
}

/// The table of a page over these rows.
template <class Model, class Row>
QString tableOf(Model* made, std::vector<Row> rows)
{
    const std::unique_ptr<Model> model(made);
    model->setRows(std::move(rows));
    return tableOf(*model);
}

QString tile(const QString& value, const QString& what)
{
    return QStringLiteral("<div class=\"tile\"><b>%1</b><span>%2</span></div>\n")
        .arg(escaped(value), escaped(what));
}

QString tiles(const Document& document, const MemoryPlan* memory)
{
    QString html;
    if (const auto& m = document.measurement) {
        html += m->unit == CostUnit::Instructions
                    ? tile(costText(m->medianUs, m->unit),
                           QObject::tr("instructions of a run on %1").arg(placeText(*m)))
                    : tile(QObject::tr("%1 ± %2").arg(durationText(m->medianUs),
                                                      durationText(m->halfUs())),
                           QObject::tr("median and its 95 % interval, %1 on %2")
                               .arg(countOf(m->runs, QObject::tr("run")), placeText(*m)));
        if (m->peer)
            html += tile(durationText(m->peer->medianUs),
                         QObject::tr("%1, same inputs and threads").arg(m->peer->name));
    }
    if (memory) {
        const bool isLeast = memory->arenaBytes == memory->lowerBoundBytes;
        html += tile(
            byteText(memory->arenaBytes),
            QObject::tr("arena by %1, %2")
                .arg(memory->algorithm,
                     isLeast
                         ? QObject::tr("which is the lower bound")
                         : QObject::tr("lower bound %1").arg(byteText(memory->lowerBoundBytes))));
    }
    const core::ModelCounts& counts = document.counts;
    if (counts.macs > 0)
        html += tile(shortCountText(static_cast<double>(counts.macs)),
                     QObject::tr("multiply-accumulates"));
    html += tile(shortCountText(static_cast<double>(counts.parameters)), QObject::tr("parameters"));
    if (document.expectedError > 0)
        html += tile(errorText(document.expectedError),
                     QObject::tr("of the largest result: error expected by rounding"));
    return QStringLiteral("<div class=\"tiles\">%1</div>\n").arg(html);
}

/// The figures of the tiles and more, in full digits.
QString factTable(const Document& document)
{
    using Model = TableModel<ExactFact>;
    return tableOf(new Model({{QObject::tr("Figure"), [](const ExactFact& f) { return f.label; }},
                              {QObject::tr("Exactly"),
                               [](const ExactFact& f) { return countText(f.value); }, true}}),
                   exactFacts(document));
}

QString passTable(const Document& document)
{
    struct Row
    {
        QString name, phase, time, changes, nodes;
    };
    using Model = TableModel<Row>;
    std::vector<Row> rows;
    for (const PassStep& step : document.passes)
        rows.push_back({step.title(), step.phase, durationText(step.ms * 1000),
                        step.isChanged ? countText(static_cast<qint64>(step.changes.size()))
                                       : QStringLiteral("–"),
                        countText(core::graphNodes(step.after))});
    return tableOf(
        new Model({{QObject::tr("Pass"), [](const Row& r) { return r.name; }},
                   {QObject::tr("Phase"), [](const Row& r) { return r.phase; }},
                   {QObject::tr("Time"), [](const Row& r) { return r.time; }, true},
                   {QObject::tr("Changes"), [](const Row& r) { return r.changes; }, true},
                   {QObject::tr("Graph nodes after"), [](const Row& r) { return r.nodes; }, true}}),
        std::move(rows));
}

/// Live bytes by kernel call: a step for each, scaled to the drawing.
QString curveOf(const MemoryPlan& plan)
{
    if (plan.liveBytes.empty()) return {};
    constexpr double kWidth = 1100, kHeight = 180;
    const double most = static_cast<double>(
        std::max<qint64>(1, *std::max_element(plan.liveBytes.begin(), plan.liveBytes.end())));
    const double step = kWidth / static_cast<double>(plan.liveBytes.size());
    QString path = QStringLiteral("M0 %1").arg(kHeight);
    for (size_t i = 0; i < plan.liveBytes.size(); ++i) {
        const double top = kHeight - (kHeight - 10) * static_cast<double>(plan.liveBytes[i]) / most;
        path += QStringLiteral(" V%1 H%2")
                    .arg(top, 0, 'f', 1)
                    .arg(step * static_cast<double>(i + 1), 0, 'f', 1);
    }
    return QStringLiteral("<svg viewBox=\"0 0 1100 182\" role=\"img\"><path d=\"%1 V180 Z\" "
                          "fill=\"#e7eefc\" stroke=\"#2b6be4\"/></svg>\n")
               .arg(path) +
           paragraph(QObject::tr("bytes alive at each of %1, at most %2")
                         .arg(countOf(static_cast<qint64>(plan.liveBytes.size()),
                                      QObject::tr("kernel call")),
                              byteText(static_cast<qint64>(most))));
}

QString memorySections(const Document& document, const MemoryPlan& plan)
{
    return section(QObject::tr("Memory"), curveOf(plan)) +
           section(QObject::tr("Planners"), tableOf(makePlannerModel(nullptr), plannerRows(plan))) +
           section(QObject::tr("Buffers"),
                   tableOf(makeBufferModel(nullptr), bufferRows(document, plan)));
}

QString measured(const Measurement& m)
{
    if (m.unit == CostUnit::Instructions)
        return paragraph(fullCostText(m.medianUs, m.unit) + QStringLiteral(", ") + m.date) +
               paragraph(spreadText(m)) + paragraph(m.method) + paragraph(m.hygiene);
    const QString spread =
        QObject::tr("median %1, deviation %2, p95 %3, 95 % confidence interval "
                    "of the median %4 to %5, %6, %7, %8")
            .arg(durationText(m.medianUs), durationText(m.madUs), durationText(m.p95Us),
                 durationText(m.lowUs), durationText(m.highUs), countOf(m.runs, QObject::tr("run")),
                 countOf(m.threads, QObject::tr("thread")), m.date);
    QString peer;
    if (m.peer)
        peer = QObject::tr("%1: median %2, 95 % confidence interval %3 to %4")
                   .arg(m.peer->name, durationText(m.peer->medianUs), durationText(m.peer->lowUs),
                        durationText(m.peer->highUs));
    return paragraph(spread) + paragraph(peer) + paragraph(m.method) + paragraph(m.hygiene) +
           paragraph(m.peak);
}

QString footprintSection(const Footprint& footprint)
{
    QString html =
        paragraph(footprint.target) + paragraph(footprint.method) + paragraph(footprint.exclusions);
    for (const ExecutorFootprint& executor : footprint.executors)
        if (!executor.problem.isEmpty())
            html += paragraph(executor.name + QStringLiteral(": ") + executor.problem, "error");
    PartsModel parts;
    parts.setFootprint(footprint);
    return html + tableOf(parts);
}

QString comparisonSection(const ReportedComparison& comparison)
{
    const CompareVerdict& verdict = comparison.verdict;
    QString html =
        paragraph(comparison.caption) + paragraph(verdict.title, verdict.isWithin ? "" : "error");
    for (const QString& line : verdict.details + comparison.notes.split(QLatin1Char('\n')))
        html += paragraph(line);
    return html + tableOf(*comparison.tensors);
}

} // namespace

QString reportHtml(const Document& document, const ReportParts& parts)
{
    const MemoryPlan* memory = document.memory ? &*document.memory : nullptr;
    QString html =
        QStringLiteral("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%1</title>"
                       "<style>%2</style></head>\n<body><main>\n<h1>%1</h1>\n")
            .arg(escaped(document.name), QLatin1String(kStyle));
    html += paragraph(factsText(document));
    html += paragraph(QObject::tr("%1, %2").arg(parts.madeBy, parts.date));
    if (document.isCompiled())
        html += paragraph(QObject::tr("compiled for %1").arg(document.target));
    html += tiles(document, memory);
    html += section(QObject::tr("Model"),
                    QStringLiteral("<pre>%1</pre>\n").arg(escaped(modelText(document))));
    html += section(QObject::tr("Figures"), factTable(document));
    if (!document.issues.empty())
        html +=
            section(QObject::tr("Issues"), tableOf(makeIssueModel(nullptr), issueRows(document)));
    html += section(QObject::tr("Graph"), parts.graph.isEmpty()
                                              ? paragraph(parts.graphMissing)
                                              : QStringLiteral("<div class=\"scroll\">%1</div>\n")
                                                    .arg(QString::fromUtf8(parts.graph)));
    if (document.measurement)
        html += section(QObject::tr("Measurement"), measured(*document.measurement));
    if (document.isCompiled())
        html += section(QObject::tr("Kernel calls"),
                        tableOf(makeCallModel(nullptr), callRows(document)));
    if (memory) html += memorySections(document, *memory);
    if (parts.footprint)
        html += section(QObject::tr("Executors"), footprintSection(*parts.footprint));
    if (parts.comparison)
        html += section(QObject::tr("Compare"), comparisonSection(*parts.comparison));
    html += section(QObject::tr("Operators"),
                    tableOf(makeOperatorModel(nullptr), operatorRows(document)));
    if (!document.passes.empty()) html += section(QObject::tr("Passes"), passTable(document));
    return html + QStringLiteral("</main></body></html>\n");
}

} // namespace tenon::views
