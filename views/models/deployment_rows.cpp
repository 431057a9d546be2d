// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of the Deploy page's tables.
#include "views/models/deployment_rows.h"

#include "views/models/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tenon::views {

namespace {

QString words(const char* text) { return QCoreApplication::translate("deployment", text); }

/// As the severity column paints: 0 calm, 1 doubtful, 2 bad.
int severityOf(CheckVerdict verdict)
{
    return verdict == CheckVerdict::Bad ? 2 : verdict == CheckVerdict::Doubtful ? 1 : 0;
}

} // namespace

QString BoardEntry::title() const { return isHere() ? words("This computer") : name; }
QString BoardEntry::titleInText() const { return isHere() ? words("this computer") : name; }

QString boardStateText(BoardState state, const QString& machine)
{
    switch (state) {
    case BoardState::Unknown: return words("not checked yet");
    case BoardState::Offline: return words("offline");
    case BoardState::Ready: return words("ready");
    case BoardState::Busy: return words("busy");
    case BoardState::Guest: return words("emulates %1").arg(machine);
    case BoardState::Mismatch:
        return machine.isEmpty() ? words("target is for another machine")
                                 : words("target is for %1").arg(machine);
    }
    return {};
}

QString boardWayText(BoardWay way)
{
    switch (way) {
    case BoardWay::ThisComputer: return words("this computer");
    case BoardWay::Ssh: return words("SSH");
    case BoardWay::RpcServer: return words("RPC server");
    case BoardWay::Tracker: return words("tracker");
    case BoardWay::Virtual: return words("emulated here");
    case BoardWay::Serial: return words("serial line");
    }
    return {};
}

QString stepGlyph(StepState state)
{
    switch (state) {
    case StepState::Waiting: return QStringLiteral("○");
    case StepState::Running: return QStringLiteral("●");
    case StepState::Done: return QStringLiteral("✓");
    case StepState::Skipped: return QStringLiteral("–");
    case StepState::Failed: return QStringLiteral("✕");
    }
    return {};
}

QString checkGlyph(CheckVerdict verdict)
{
    switch (verdict) {
    case CheckVerdict::Good: return QStringLiteral("✓");
    case CheckVerdict::Doubtful: return QStringLiteral("?");
    case CheckVerdict::Bad: return QStringLiteral("✕");
    }
    return {};
}

BoardModel* makeBoardModel(QObject* parent)
{
    const auto extra = [](const BoardRow& row, int role) -> QVariant {
        if (role != Qt::ToolTipRole && role != Qt::AccessibleDescriptionRole) return {};
        QStringList lines{row.board.address, row.board.summary, row.board.target};
        lines.removeAll(QString());
        return lines.join(QLatin1Char('\n'));
    };
    return new BoardModel(
        {{QStringLiteral("Board"), [](const BoardRow& r) { return r.board.title(); }, false, extra},
         {QStringLiteral("State"), [](const BoardRow& r) { return r.stateText; }, false, extra},
         {QStringLiteral("Reached by"), [](const BoardRow& r) { return boardWayText(r.board.way); },
          false, extra},
         {QStringLiteral("Target"), [](const BoardRow& r) { return r.board.target; }, false,
          extra}},
        parent);
}

CheckModel* makeCheckModel(QObject* parent)
{
    const auto extra = [](const CheckRow& row, int role) -> QVariant {
        if (role == FigureRole) return severityOf(row.verdict);
        if (role == Qt::ToolTipRole)
            return row.advice.isEmpty() ? row.outcome
                                        : row.outcome + QLatin1Char('\n') + row.advice;
        return {};
    };
    const auto outcome = [](const CheckRow& r) {
        return r.advice.isEmpty() ? r.outcome : r.outcome + QStringLiteral("; ") + r.advice;
    };
    return new CheckModel(
        {{QString(), [](const CheckRow& r) { return checkGlyph(r.verdict); }, false, extra},
         {QStringLiteral("Check"), [](const CheckRow& r) { return r.subject; }, false, extra},
         {QStringLiteral("Found"), outcome, false, extra}},
        parent);
}

StepModel* makeStepModel(QObject* parent)
{
    const auto severity = [](const StepRow& row, int role) -> QVariant {
        if (role == FigureRole) return row.state == StepState::Failed ? 2 : 0;
        if (role == Qt::ToolTipRole) return row.detail;
        return {};
    };
    const auto share = [](const StepRow& row, int role) -> QVariant {
        if (role == FigureRole && row.ms > 0) return row.share;
        if (role == Qt::ToolTipRole) return row.detail;
        return {};
    };
    const auto time = [](const StepRow& r) {
        return r.ms > 0 ? durationText(r.ms * 1000) : QString();
    };
    // A target of forty features leaves the other steps no room; its tip and the log have all.
    const auto happened = [](const StepRow& r) {
        constexpr int kMostLetters = 64;
        return r.state == StepState::Failed ? r.detail : shortenedMiddle(r.detail, kMostLetters);
    };
    return new StepModel(
        {{QString(), [](const StepRow& r) { return stepGlyph(r.state); }, false, severity},
         {QStringLiteral("Step"), [](const StepRow& r) { return r.name; }, false, severity},
         {QStringLiteral("What happened"), happened, false, severity},
         {QStringLiteral("Time"), time, true, share,
          [](const StepRow& r) { return r.ms > 0 ? QVariant(r.ms) : QVariant(); },
          QStringLiteral("ms")}},
        parent);
}

namespace {

std::vector<TableColumn<HistoryRow>> historyColumns()
{
    const auto extra = [](const HistoryRow& row, int role) -> QVariant {
        if (role == EmulatedRole) return row.isEmulated;
        if (role != Qt::ToolTipRole) return {};
        return words("%1\n%2 executor, %3, n = %4\n%5")
            .arg(row.target, row.executor)
            .arg(countOf(row.threads, words("thread")))
            .arg(row.runs)
            .arg(row.change);
    };
    const auto median = [](const HistoryRow& r) { return costText(r.medianUs, r.unit); };
    const auto interval = [](const HistoryRow& r) {
        if (r.unit == CostUnit::Instructions) return words("exact");
        return durationText(r.lowUs) + QStringLiteral(" – ") + durationText(r.highUs);
    };
    const auto heading = [](const HistoryRow& r) {
        return std::pair(words("Median"), costUnitText(r.unit));
    };
    using Column = TableColumn<HistoryRow>;
    return {
        Column{QStringLiteral("When"), [](const HistoryRow& r) { return r.date; }, false, extra},
        Column{QStringLiteral("Median"), median, true, extra,
               [](const HistoryRow& r) { return QVariant(r.medianUs); }, QStringLiteral("µs"),
               heading},
        Column{QStringLiteral("Change"), [](const HistoryRow& r) { return r.change; }, false,
               extra},
        Column{QStringLiteral("95 % interval"), interval, true, extra,
               [](const HistoryRow& r) { return QVariant(r.highUs - r.lowUs); }}};
}

} // namespace

HistoryModel* makeHistoryModel(QObject* parent)
{
    return new HistoryModel(historyColumns(), parent);
}

HistoryModel* makeRunsModel(QObject* parent)
{
    auto columns = historyColumns();
    TableColumn<HistoryRow> board;
    board.title = QStringLiteral("Board");
    board.text = [](const HistoryRow& r) { return r.board; };
    board.extra = columns.front().extra;
    columns.insert(columns.begin() + 1, std::move(board));
    return new HistoryModel(std::move(columns), parent);
}

void shareOut(std::vector<StepRow>& steps)
{
    double longest = 0;
    for (const StepRow& step : steps) longest = std::max(longest, step.ms);
    for (StepRow& step : steps) step.share = longest > 0 ? step.ms / longest : 0;
}

std::optional<Measurement> liveMeasurement(const Deployment& report)
{
    if (report.sampleUs.empty() || report.isFinished) return std::nullopt;
    Measurement out;
    out.board = report.board;
    out.isEmulated = report.isEmulated;
    out.unit = report.unit;
    out.runUs = report.sampleUs;
    out.runs = static_cast<int>(report.sampleUs.size());
    out.medianUs = report.runningUs;
    out.lowUs = report.lowUs;
    out.highUs = report.highUs;
    return out;
}

QString liveText(const Deployment& report)
{
    QString text = words("%1 so far · %2")
                       .arg(fullCostText(report.runningUs, report.unit),
                            countOf(static_cast<qint64>(report.sampleUs.size()), words("sample")));
    if (report.leftS >= 0)
        text += words(" · at most %1 s left").arg(std::ceil(report.leftS), 0, 'f', 0);
    return text;
}

QString changeText(double ratio, CostUnit unit)
{
    const double percent = std::abs(1 - ratio) * 100;
    const bool isTime = unit == CostUnit::Time;
    return (ratio < 1 ? (isTime ? words("%1 % faster") : words("%1 % fewer"))
                      : (isTime ? words("%1 % slower") : words("%1 % more")))
        .arg(percent, 0, 'f', percent < 10 ? 1 : 0);
}

} // namespace tenon::views
