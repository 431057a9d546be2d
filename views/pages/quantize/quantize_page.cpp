// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Quantize perspective and binds it to its presenter.
#include "views/pages/quantize/quantize_page.h"

#include "views/pages/common/columns.h"
#include "views/pages/common/exhibit.h"

#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QScrollArea>

namespace tenon::views {

using Role = ThemedLabel::Role;

QuantizePage::QuantizePage(const PageContext& context)
    : m_themes(context.themes)
    , m_presenter(
          new QuantizePresenter(context.workspace, context.boards, context.boardPrompt, this))
    , m_form(new QuantizeForm(context.themes, *m_presenter, context.host))
    , m_stack(new QStackedWidget)
    , m_notice(new EmptyNotice(context.themes, {}, {}, tr("Quantize")))
{
    auto* empty = new Panel(m_themes, tr("Error against size and time"));
    empty->content()->addWidget(m_notice, 1);
    m_stack->addWidget(empty);
    m_stack->addWidget(buildMiddle());
    auto* scroll = new QScrollArea; // a small window has no room for all of the form
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(m_form->minimumWidth() + kGutter); // with its bar
    scroll->setWidget(m_form);
    fillWith(*this, new Columns({{scroll, 350}, {m_stack, 0}, {buildSide(), 330}}));
    connectTables(context.workspace.selection());
    connect(m_notice, &EmptyNotice::triggered, m_presenter, &QuantizePresenter::quantize);
    connect(m_presenter, &QuantizePresenter::stateChanged, this, &QuantizePage::refresh);
    connect(&context.workspace.jobs(), &JobPresenter::stateChanged, this,
            &QuantizePage::refreshNotice);
    refresh();
}

QWidget* QuantizePage::buildMiddle()
{
    auto* rows = makeSplitter(Qt::Vertical, {buildCurve(), buildTables()}, {300, 320});
    rows->setStretchFactor(0, 1);
    rows->setStretchFactor(1, 1);
    return rows;
}

QWidget* QuantizePage::buildCurve()
{
    m_curvePanel = new Panel(m_themes, tr("Error against size and time"));
    m_axis = new PillTabs(m_themes, PillTabs::Size::Small);
    m_axis->addTab(tr("size"));
    m_axis->addTab(tr("time"));
    m_axis->setAccessibleName(tr("what the error is drawn against"));
    m_curvePanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_curvePanel->header()->addWidget(m_axis);
    m_summary = makeSentence(m_themes, Role::Secondary);
    m_warnings = makeSentence(m_themes, Role::Error);
    m_warnings->setAccessibleName(tr("Warnings"));
    m_chart = new MixChart(m_themes);
    m_curvePanel->content()->addWidget(m_summary);
    m_curvePanel->content()->addWidget(m_warnings);
    m_curvePanel->content()->addWidget(m_chart, 1);
    constexpr int kLeast = 290; // three lines of summary, three of warnings and the curve
    m_curvePanel->setMinimumHeight(kLeast);
    connect(m_axis, &QTabBar::currentChanged, this,
            [this](int tab) { m_presenter->setAxis(tab == 0 ? MixAxis::Flash : MixAxis::Time); });
    connect(m_chart, &MixChart::widerChosen, m_presenter, &QuantizePresenter::chooseWider);
    return m_curvePanel;
}

QWidget* QuantizePage::buildTables()
{
    m_tablePanel = new Panel(m_themes, tr("Layers and tensors"));
    m_tables = new PillTabs(m_themes, PillTabs::Size::Small);
    m_tables->addTab(tr("layers"));
    m_tables->addTab(tr("tensors"));
    m_tables->setAccessibleName(tr("what is listed"));
    m_tablePanel->header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    m_tablePanel->header()->addWidget(m_tables);
    m_layers = new DataTable(m_themes, &m_presenter->layers());
    m_layers->setAccessibleName(tr("Layers by what they cost the outputs"));
    m_layers->setColumnWidths({0, 54, 120, 78, 62, 78, 76, 76});
    m_layers->delegate().setBarColumn(2, 58);
    m_layers->installEventFilter(this);
    m_tensors = new DataTable(m_themes, &m_presenter->tensors());
    m_tensors->setAccessibleName(tr("Rounded tensors, the worst first"));
    m_tensors->setColumnWidths({120, 70, 90, 140, 50, 80, 46, 0});
    m_tensors->delegate().setBarColumn(0, 52);
    m_tableStack = new QStackedWidget;
    m_tableStack->addWidget(m_layers);
    m_tableStack->addWidget(m_tensors);
    m_tablePanel->content()->setContentsMargins(8, 0, 8, 8);
    m_tablePanel->content()->addWidget(m_tableStack, 1);
    connect(m_tables, &QTabBar::currentChanged, m_tableStack, &QStackedWidget::setCurrentIndex);
    addLayerCommands();
    return m_tablePanel;
}

QWidget* QuantizePage::buildSide()
{
    m_placedPanel = new Panel(m_themes, tr("Before and after"));
    m_placed = new DataTable(m_themes, &m_presenter->placed());
    m_placed->setAccessibleName(tr("What the model takes before and after"));
    m_placed->setColumnWidths({46, 0, 0, 0});
    m_placedPanel->content()->setContentsMargins(8, 0, 8, 8);
    m_placedPanel->content()->addWidget(m_placed, 1);
    m_valuesPanel = new Panel(m_themes, tr("Values and range"));
    m_values = new RangeChart(m_themes);
    m_tensorText = makeSentence(m_themes, Role::Secondary);
    m_valuesPanel->content()->addWidget(m_values, 1);
    m_valuesPanel->content()->addWidget(m_tensorText);
    auto* rows = makeSplitter(Qt::Vertical, {m_placedPanel, m_valuesPanel}, {210, 300});
    rows->setStretchFactor(1, 1);
    return m_side = rows;
}

void QuantizePage::connectTables(Selection& selection)
{
    for (DataTable* table : {m_layers, m_tensors})
        connect(table, &DataTable::nodeRequested, &selection, &Selection::seekRow);
    connect(m_layers->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                if (index.isValid()) m_presenter->selectLayer(m_layers->rowOf(index));
            });
    connect(m_tensors->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                if (index.isValid()) m_presenter->selectTensor(m_tensors->rowOf(index));
            });
}

/// In the menu of the row.
void QuantizePage::addLayerCommands()
{
    Exhibit* exhibit = Exhibit::of(*m_layers);
    if (!exhibit) return;
    const auto pin = [this](int precision) {
        return [this, precision] {
            const int row = m_layers->rowOf(m_layers->currentIndex());
            m_presenter->pinLayer(row, precision);
            m_layers->showRow(row);
        };
    };
    const auto hasRow = [this] { return m_layers->currentIndex().isValid(); };
    exhibit->addCommand(
        {tr("Keep in float"), pin(static_cast<int>(core::Precision::Float)), hasRow});
    exhibit->addCommand(
        {tr("Data of 16 bits"), pin(static_cast<int>(core::Precision::Int16)), hasRow});
    exhibit->addCommand({tr("8 bits"), pin(static_cast<int>(core::Precision::Int8)), hasRow});
    exhibit->addCommand({tr("As the curve has it"), pin(-1), hasRow});
}

/// Names need room: what the tooltips and the command line say as well leaves first.
void QuantizePage::resizeEvent(QResizeEvent* event)
{
    constexpr int kWide = 3, kNow = 4, kWeights = 5, kInt8Time = 6, kFloatTime = 7;
    constexpr int kNarrow = 1500, kVeryNarrow = 1300, kNarrowest = 1100;
    QWidget::resizeEvent(event);
    for (const int column : {kWide, kWeights}) m_layers->setColumnHidden(column, width() < kNarrow);
    for (const int column : {kInt8Time, kFloatTime})
        m_layers->setColumnHidden(column, width() < kVeryNarrow);
    m_layers->setColumnHidden(kNow, width() < kNarrowest);
}

/// Space asks for another precision of the layer.
bool QuantizePage::eventFilter(QObject* watched, QEvent* event)
{
    const bool isSpace = watched == m_layers && event->type() == QEvent::KeyPress &&
                         static_cast<QKeyEvent*>(event)->key() == Qt::Key_Space;
    if (!isSpace) return QWidget::eventFilter(watched, event);
    const int row = m_layers->rowOf(m_layers->currentIndex());
    m_presenter->cycleLayer(row);
    m_layers->showRow(row);
    return true;
}

void QuantizePage::refreshNotice()
{
    const QuantizeState& state = m_presenter->state();
    m_notice->setActionEnabled(state.canStart);
    if (state.isRunning) {
        const JobState& job = m_presenter->workspace().jobs().state();
        return m_notice->setText(job.title + QStringLiteral("…"),
                                 job.step.isEmpty() ? tr("starting") : job.step);
    }
    if (!state.error.isEmpty())
        return m_notice->setText(tr("The model could not be quantized"), state.error);
    const bool hasDocument = m_presenter->workspace().state().hasDocument;
    // In a low window the form's own sentence is out of sight.
    const QString first = hasDocument && !state.problem.isEmpty()
                              ? QStringLiteral("\n\n") + tr("First: %1.").arg(state.problem)
                              : QString();
    m_notice->setText(
        tr("What do 8 bits cost?"),
        hasDocument
            ? tr("Quantize runs the model on examples, rounds its weights and data to integers, "
                 "measures what every tensor and every layer loses, and what the model then takes "
                 "of the chosen board. Layers that cost too much can stay in float or get 16 bits: "
                 "the curve shows what that is worth.") +
                  first
            : tr("Open a float ONNX model first; then choose examples like those that it will "
                 "see."));
}

void QuantizePage::refresh()
{
    const QuantizeState& state = m_presenter->state();
    m_stack->setCurrentIndex(state.hasResult ? 1 : 0);
    m_side->setVisible(state.hasResult);
    m_summary->setText(state.isRunning ? tr("working…") : state.summary);
    m_summary->setToolTip(state.floats.join(QLatin1Char('\n')));
    m_warnings->setText(state.warnings.join(QLatin1Char('\n')));
    m_warnings->setVisible(!state.warnings.isEmpty());
    m_curvePanel->setCaption(state.caption);
    MixCurve curve = state.curve;
    if (curve.isEmpty() && curve.problem.isEmpty())
        curve.problem = tr("Layers were not measured: no curve");
    m_chart->setCurve(curve);
    m_placedPanel->setCaption(state.place);
    constexpr int kChoice = 3;
    m_placed->setColumnHidden(kChoice, !m_placed->hasText(kChoice));
    const QuantizeRow& tensor = state.tensor;
    m_values->setTensor(tensor);
    m_valuesPanel->setCaption(tensor.tensor);
    m_tensorText->setText(tensor.tensor.isEmpty()
                              ? QString()
                              : tr("%1, scale %2, zero point %3 · %4 dB alone, %5 dB with all "
                                   "before it")
                                    .arg(tensor.type)
                                    .arg(tensor.scale, 0, 'g', 4)
                                    .arg(tensor.zero)
                                    .arg(tensor.expectedDb, 0, 'f', 1)
                                    .arg(tensor.measuredDb, 0, 'f', 1));
    refreshNotice();
}

Page makeQuantizePage(const PageContext& context)
{
    auto* page = new QuantizePage(context);
    QuantizePresenter& presenter = page->presenter();
    return {
        .name = QStringLiteral("quantize"),
        .title = QuantizePage::tr("Quantize"),
        .icon = QStringLiteral("compile"),
        .tip = QuantizePage::tr("The model with 8-bit integers, and what that costs"),
        .widget = page,
        .focus = &page->form().data(),
        .setDocument = [&presenter](bool) { presenter.setDocument(); },
        .takeExamples = [&presenter](const QString& folder) { presenter.setData(folder); },
        .isSettled = [&presenter] { return !presenter.state().isRunning; },
        .actions = {{"quantize", QuantizePage::tr("Model"), QuantizePage::tr("Quantize…"), "", "",
                     QuantizePage::tr("A copy of the model that computes with 8-bit integers, "
                                      "from examples; the error of every tensor and layer"),
                     [page] { page->form().data().setFocus(Qt::ShortcutFocusReason); }, false,
                     [&presenter] { return presenter.workspace().state().hasDocument; },
                     ActsOn::ItsPage}}};
}

} // namespace tenon::views
