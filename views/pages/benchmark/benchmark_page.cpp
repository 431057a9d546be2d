// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Benchmark perspective; the chart's numbers are those of the total above it.
#include "views/pages/benchmark/benchmark_page.h"

#include "views/canvas/export_picture.h"
#include "views/models/deployment_rows.h"
#include "views/models/format.h"
#include "views/models/round_steps.h"
#include "views/models/serving.h"
#include "views/models/traced_run.h"
#include "views/pages/common/columns.h"
#include "views/pages/page.h"

#include <QPainter>

#include <algorithm>

namespace tenon::views {

RunChart::RunChart(const ThemeSource& themes, QWidget* parent)
    : QWidget(parent)
    , m_themes(themes)
{
    setMinimumHeight(120);
    setAccessibleName(tr("Time of every run"));
    connect(&themes, &ThemeSource::changed, this, [this] { update(); });
}

void RunChart::setMeasurement(const std::optional<Measurement>& measurement)
{
    m_measurement = measurement;
    update();
}

namespace {

/// From which time to which the chart reaches. A few runs that took very long, as when the computer
/// did something else, would press all others into one line: they stand at the top edge.
struct TimeAxis
{
    double bottom = 0;
    double top = 1;
    int above = 0; ///< runs beyond the top
    double longest = 0;
};

TimeAxis timeAxis(const Measurement& measured)
{
    // Figures have three digits: lines of the scale closer than a hundredth would read the same.
    constexpr double kFarOff = 3, kRoom = 0.12, kLeastRoom = 0.02;
    const auto [low, high] = std::minmax_element(measured.runUs.begin(), measured.runUs.end());
    std::vector<double> sorted = measured.runUs;
    std::sort(sorted.begin(), sorted.end());
    const double most = sorted[(sorted.size() - 1) * 9 / 10];
    TimeAxis axis{.longest = *high};
    const bool isCut = *high > kFarOff * std::max(most, measured.highUs);
    const double reach = isCut ? 1.5 * std::max(most, measured.highUs) : *high;
    const double pad = std::max((reach - *low) * kRoom, reach * kLeastRoom);
    axis.bottom = std::max(0.0, *low - pad);
    axis.top = reach + pad;
    for (const double us : measured.runUs) axis.above += us > axis.top;
    return axis;
}

double heightAt(const TimeAxis& axis, const QRectF& area, double us)
{
    return area.bottom() - (us - axis.bottom) / (axis.top - axis.bottom) * area.height();
}

void paintScale(QPainter& painter, const QRectF& area, const TimeAxis& axis, CostUnit unit,
                const Theme& t)
{
    constexpr int kLines = 4;
    for (const double value : roundTicks(axis.bottom, axis.top, kLines, StepKind::Decimal)) {
        const double y = heightAt(axis, area, value);
        painter.setPen(t.line);
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(t.secondary);
        painter.drawText(QRectF(0, y - 9, area.left() - 8, 18), Qt::AlignRight | Qt::AlignVCenter,
                         value > 0 ? costText(value, unit) : QStringLiteral("0"));
    }
}

/// A dot for each; beyond the top a mark that points upwards.
void paintRuns(QPainter& painter, const QRectF& area, const TimeAxis& axis, const Measurement& m)
{
    for (size_t i = 0; i < m.runUs.size(); ++i) {
        const double x = area.left() + area.width() * (static_cast<double>(i) + 0.5) /
                                           static_cast<double>(m.runUs.size());
        if (m.runUs[i] <= axis.top)
            painter.drawEllipse(QPointF(x, heightAt(axis, area, m.runUs[i])), 2.6, 2.6);
        else
            painter.drawPolygon(
                QPolygonF({{x - 3.6, area.top() + 6}, {x + 3.6, area.top() + 6}, {x, area.top()}}));
    }
}

} // namespace

void RunChart::paintEvent(QPaintEvent*)
{
    if (!m_measurement || m_measurement->runUs.empty()) return;
    const Theme& t = m_themes.theme();
    const Measurement& m = *m_measurement;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(t.secondaryFont);
    const TimeAxis axis = timeAxis(m);
    const QRectF area(72, 10, width() - 84, height() - 34);
    paintScale(painter, area, axis, m.unit, t);
    QColor band = t.accentSoft;
    band.setAlphaF(0.35f);
    painter.fillRect(QRectF(QPointF(area.left(), heightAt(axis, area, m.highUs)),
                            QPointF(area.right(), heightAt(axis, area, m.lowUs))),
                     band);
    painter.setPen(QPen(t.accent, 1.4));
    const double middle = heightAt(axis, area, m.medianUs);
    painter.drawLine(QPointF(area.left(), middle), QPointF(area.right(), middle));
    painter.setPen(Qt::NoPen);
    painter.setBrush(t.accent);
    paintRuns(painter, area, axis, m);
    painter.setPen(t.secondary);
    const QRectF below(area.left(), area.bottom() + 6, area.width(), 18);
    painter.drawText(below, Qt::AlignLeft, tr("run 1"));
    painter.drawText(below, Qt::AlignRight, tr("run %1").arg(m.runUs.size()));
    QString legend = tr("line: median, band: its 95 % confidence interval");
    if (axis.above > 0)
        legend += tr("; ▲ %1 above, up to %2")
                      .arg(countOf(axis.above, tr("run")), costText(axis.longest, m.unit));
    painter.drawText(below, Qt::AlignHCenter, legend);
}

BenchmarkPage::BenchmarkPage(const ThemeSource& themes, DeployPresenter& deploy,
                             const BoardsPresenter& boards, WorkspacePresenter& workspace,
                             InspectorPresenter& inspector)
    : m_workspace(workspace)
    , m_deploy(deploy)
    , m_boards(boards)
    , m_inspector(new InspectorPanel(themes, inspector))
    , m_totalPanel(new Panel(themes, tr("Whole model")))
    , m_callsPanel(new Panel(themes, tr("Kernel calls")))
    , m_total(new ThemedLabel(themes, ThemedLabel::Role::Heading))
    , m_peer(new ThemedLabel(themes, ThemedLabel::Role::Strong))
    , m_detail(new ThemedLabel(themes, ThemedLabel::Role::Secondary))
    , m_chart(new RunChart(themes))
    , m_runs(makeRunTable(this))
    , m_chartTwin(new TableTwin(themes, m_chart, m_runs, tr("Chart")))
    , m_threads(new PillTabs(themes, PillTabs::Size::Small))
    , m_table(new DataTable(themes, &workspace.calls()))
    , m_notice(new EmptyNotice(themes, {}, {}, tr("Deploy & Benchmark")))
{
    for (ThemedLabel* text : {m_detail, m_peer}) {
        text->setWordWrap(true);
        text->installEventFilter(this);
    }
    m_totalPanel->content()->addWidget(m_total);
    m_totalPanel->content()->addWidget(m_peer);
    m_totalPanel->content()->addWidget(m_detail);
    m_chartTwin->table().setColumnWidths({60, 110});
    m_totalPanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_threads->addTab(tr("all cores"));
    m_threads->addTab(tr("1 thread"));
    m_threads->setToolTip(tr("Threads to compile for and to run with; choosing measures again"));
    m_threads->setAccessibleName(tr("Threads"));
    m_totalPanel->header()->addWidget(m_threads);
    m_totalPanel->header()->addWidget(m_chartTwin->button());
    m_totalPanel->content()->addWidget(m_chartTwin, 1);
    m_totalPanel->content()->addWidget(m_notice, 1);
    m_totalPanel->content()->addStretch(); // the texts stay together where no chart is
    m_table->setColumnWidths({40, 0, 146, 0, 76, 100, 72, 80, 66});
    m_table->delegate().setBarColumn(5);
    m_table->setAccessibleName(tr("Kernel calls"));
    m_callsPanel->content()->addWidget(m_table, 1);
    auto* rows = makeSplitter(Qt::Vertical, {m_totalPanel, m_callsPanel}, {390, 500});
    fillWith(*this, new Columns({{rows, 0}, {m_inspector, 364}}));
    connect(m_notice, &EmptyNotice::triggered, &deploy, &DeployPresenter::deploy);
    connect(m_threads, &QTabBar::currentChanged, this, [this, &deploy](int tab) {
        m_workspace.setThreads(tab == 1 ? 1 : 0);
        if (!m_workspace.state().measurementText.isEmpty()) deploy.deploy();
    });
    connect(m_table, &DataTable::nodeRequested, &workspace.selection(), &Selection::seekRow);
    connect(&workspace.selection(), &Selection::changed, this, &BenchmarkPage::showNode);
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &BenchmarkPage::refresh);
    connect(&boards, &BoardsPresenter::stateChanged, this, &BenchmarkPage::refresh);
    connect(&deploy, &DeployPresenter::stateChanged, this, &BenchmarkPage::refresh);
    refresh();
}

/// The row of the call that serves a node; what no call serves leaves the table as it is.
void BenchmarkPage::showNode(core::NodeId node)
{
    const int call = m_workspace.document() ? callServing(*m_workspace.document(), node) : -1;
    if (call >= 0 && m_table->rowOf(m_table->currentIndex()) != call) m_table->showRow(call);
}

void BenchmarkPage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    refreshColumns();
}

/// A splitter does not ask how high wrapped text is, and would take the chart's last line for it.
bool BenchmarkPage::eventFilter(QObject* watched, QEvent* event)
{
    for (ThemedLabel* text : {m_detail, m_peer})
        if (watched == text && event->type() == QEvent::Resize)
            text->setMinimumHeight(std::max(0, text->heightForWidth(text->width())));
    return QWidget::eventFilter(watched, event);
}

/// What has no figure is no column; the nodes of the file are said by the inspector, too.
void BenchmarkPage::refreshColumns()
{
    constexpr int kMethod = 2, kFrom = 3, kTime = 4, kShare = 5, kGflops = 6, kBound = 7,
                  kError = 8;
    constexpr int kLeastName = 160;
    m_table->fitColumns({kError, kGflops, kFrom, kMethod, kBound, kShare, kTime}, kLeastName);
}

void BenchmarkPage::refreshNotice()
{
    const JobState& job = m_workspace.jobs().state();
    m_notice->setActionEnabled(m_workspace.state().canBuild);
    if (job.isRunning)
        return m_notice->setText(job.title + QStringLiteral("…"),
                                 tr("The times appear here once the model was measured."));
    m_notice->setText(tr("Nothing measured yet"),
                      tr("Deploy & Benchmark runs the model on %1 in a process of its own: the "
                         "total with its spread, and the time of every kernel call on the nodes it "
                         "came from.")
                          .arg(m_boards.board().titleInText()));
}

void BenchmarkPage::refresh()
{
    const WorkspaceState& state = m_workspace.state();
    const bool isMeasured = !state.measurementText.isEmpty();
    m_detail->setVisible(isMeasured);
    refreshNotice();
    refreshColumns();
    m_threads->setEnabled(!state.isBusy);
    m_threads->setVisible(!m_boards.board().countsInstructions); // a microcontroller has none
    m_total->setToolTip(tr("± is the 95 % confidence interval of the median: as far as the band in "
                           "the chart reaches"));
    m_peer->setText(state.peerText);
    m_peer->setVisible(!state.peerText.isEmpty());
    m_detail->setText(state.measurementDetail);
    m_detail->setToolTip(state.measurementMethod);
    m_totalPanel->setCaption(state.compileText);
    m_callsPanel->setCaption(state.callsText);
    refreshChart();
}

/// While the board measures, the samples as they arrive; else those of the last measurement.
void BenchmarkPage::refreshChart()
{
    const DocumentPtr& document = m_workspace.document();
    std::optional<Measurement> shown = document ? document->measurement : std::nullopt;
    m_total->setText(m_workspace.state().measurementText);
    if (const auto live = liveMeasurement(m_deploy.report()); live && m_deploy.state().isRunning) {
        shown = live;
        m_total->setText(liveText(m_deploy.report()));
    }
    m_runs->setRows(runRows(shown));
    m_chart->setMeasurement(shown);
    m_total->setVisible(shown.has_value());
    m_notice->setVisible(!shown.has_value());
    const bool hasSpread = shown && views::hasSpread(*shown);
    m_chartTwin->setVisible(hasSpread);
    m_chartTwin->button()->setVisible(hasSpread);
    m_totalPanel->setSizePolicy(QSizePolicy::Preferred, shown && !hasSpread
                                                            ? QSizePolicy::Maximum
                                                            : QSizePolicy::Preferred);
}

namespace {

Export traceOf(const DocumentPtr& document)
{
    return {BenchmarkPage::tr("Export the times as a trace"),
            QStringLiteral("trace.json"),
            {BenchmarkPage::tr("Trace for Perfetto and Chrome (*.json)")},
            [document](const QString& path) {
                const std::string trace = core::traceEvents(tracedRun(*document));
                return exportText(QString::fromStdString(trace), path);
            }};
}

ActionSpec traceAction(const PageContext& context)
{
    const WorkspacePresenter& workspace = context.workspace;
    const auto isMeasured = [&workspace] {
        return workspace.document() && workspace.document()->measurement;
    };
    return {.id = QStringLiteral("export-trace"),
            .group = BenchmarkPage::tr("File"),
            .text = BenchmarkPage::tr("Export the times as a trace…"),
            .tip = BenchmarkPage::tr("Every kernel call with its nodes, for Perfetto and Chrome"),
            .run =
                [&workspace, isMeasured, ask = context.host.ask] {
                    if (isMeasured()) ask(traceOf(workspace.document()));
                },
            .canRun = isMeasured};
}

} // namespace

Page makeBenchmarkPage(const PageContext& context)
{
    auto* page = new BenchmarkPage(context.themes, context.deploy, context.boards,
                                   context.workspace, context.inspector);
    return {.name = QStringLiteral("benchmark"),
            .title = BenchmarkPage::tr("Benchmark"),
            .icon = QStringLiteral("timing"),
            .tip = BenchmarkPage::tr("Measured times"),
            .widget = page,
            .focus = &page->table(),
            .inspector = &page->inspectorPanel(),
            .actions = {traceAction(context), tableAction([page] { page->chartTwin().toggle(); })}};
}

} // namespace tenon::views
