// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the Compare perspective and binds it to its presenter.
#include "views/pages/compare/compare_page.h"

#include "views/pages/common/columns.h"

#include <QApplication>
#include <QItemSelectionModel>
#include <QTimer>

#include <algorithm>

namespace tenon::views {

using Role = ThemedLabel::Role;

namespace {

constexpr int kLeastTableHeight = 25 * 3 + 30; ///< three rows below the titles

} // namespace

ComparePage::ComparePage(const PageContext& context)
    : m_themes(context.themes)
    , m_presenter(
          new ComparePresenter(context.workspace, context.boards, context.boardPrompt, this))
    , m_tensor(new TensorPresenter(*m_presenter, this))
    , m_form(new CompareForm(context.themes, *m_presenter, context.host))
    , m_stack(new QStackedWidget)
    , m_notice(new EmptyNotice(context.themes, {}, {}, tr("Compare")))
{
    auto* empty = new Panel(m_themes, tr("Tensors"));
    empty->content()->addWidget(m_notice, 1);
    m_stack->addWidget(empty);
    m_stack->addWidget(buildResult());
    fillWith(*this, new Columns({{m_form, 290}, {m_stack, 0}}));
    connect(m_notice, &EmptyNotice::triggered, m_presenter, &ComparePresenter::compare);
    connect(m_presenter, &ComparePresenter::stateChanged, this, &ComparePage::refresh);
    connect(m_presenter, &ComparePresenter::selectionChanged, this, &ComparePage::showSelected);
    connect(m_table, &DataTable::nodeRequested, &context.workspace.selection(),
            &Selection::seekRow);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& index) {
                if (index.isValid()) m_presenter->selectTensor(m_table->rowOf(index));
            });
    connect(&context.workspace.jobs(), &JobPresenter::stateChanged, this,
            &ComparePage::refreshNotice);
    refresh();
}

QWidget* ComparePage::buildResult()
{
    m_panel = new Panel(m_themes, tr("Tensors"));
    m_verdict = new ThemedLabel(m_themes, Role::Document);
    m_verdict->setWordWrap(true);
    m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    m_details = makeSentence(m_themes, Role::Secondary);
    m_table = new DataTable(m_themes, &m_presenter->tensors());
    m_table->setAccessibleName(tr("Errors of every tensor"));
    m_table->setColumnWidths({36, 0, 0, 0, 68, 68, 68, 68, 84, 66, 68, 166});
    m_table->delegate().setSeverityColumn(11);
    m_panel->content()->setContentsMargins(8, 0, 8, 8);
    m_panel->content()->addLayout(indented(m_verdict));
    m_panel->content()->addLayout(indented(m_details));
    m_panel->content()->addSpacing(4);
    m_panel->content()->addWidget(m_table, 1);
    m_table->setMinimumHeight(kLeastTableHeight);
    m_values = new TensorView(m_themes, *m_tensor);
    auto* rows = makeSplitter(Qt::Vertical, {m_panel, m_values}, {380, 280});
    rows->setStretchFactor(0, 1);
    rows->setStretchFactor(1, 1);
    return rows;
}

void ComparePage::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    refreshColumns();
}

/// Names need room: what the tooltip and the other columns say as well leaves first.
void ComparePage::refreshColumns()
{
    constexpr int kNodes = 3, kLargest = 5, kAlone = 6, kAloneLargest = 7, kCosine = 8, kUlps = 9;
    constexpr int kNarrow = 1280, kVeryNarrow = 1060, kSmall = 980;
    const bool hasAlone =
        m_presenter->comparison() &&
        std::any_of(m_presenter->tensors().rows().begin(), m_presenter->tensors().rows().end(),
                    [](const CompareRow& row) { return row.isolated; });
    constexpr int kNoise = 10, kVerdict = 11, kWidestVerdict = 166;
    m_table->fitColumn(kVerdict, kWidestVerdict);
    m_table->setColumnHidden(kNoise, !m_table->hasText(kNoise));
    m_table->setColumnHidden(kNodes, width() < kNarrow);
    m_table->setColumnHidden(kLargest, width() < kSmall);
    m_table->setColumnHidden(kAlone, !hasAlone);
    m_table->setColumnHidden(kAloneLargest, !hasAlone || width() < kVeryNarrow);
    for (const int column : {kCosine, kUlps})
        m_table->setColumnHidden(column, width() < kVeryNarrow);
}

void ComparePage::showSelected()
{
    const int tensor = m_presenter->state().selected;
    if (m_table->rowOf(m_table->currentIndex()) == tensor) return;
    m_table->showRow(tensor);
    // The words above may take other room by then.
    QTimer::singleShot(0, m_table, [this] { m_table->scrollTo(m_table->currentIndex()); });
}

void ComparePage::refreshNotice()
{
    const CompareState& state = m_presenter->state();
    m_notice->setActionEnabled(state.canStart);
    if (state.isRunning) {
        const JobState& job = m_presenter->workspace().jobs().state();
        return m_notice->setText(job.title + QStringLiteral("…"),
                                 job.step.isEmpty() ? tr("starting") : job.step);
    }
    if (!state.error.isEmpty())
        return m_notice->setText(tr("The model could not be compared"), state.error);
    m_notice->setText(
        tr("Does %1 compute what it should?").arg(state.place),
        m_presenter->workspace().state().hasDocument
            ? tr("Compare runs the model there and on a reference, fetches the result of every "
                 "kernel, and names the first tensor that is off: with everything before it as the "
                 "device computed it, and its kernel alone on the reference's inputs.")
            : tr("Open a model first; then one click runs it there and on a reference, and names "
                 "the first tensor that is off."));
}

void ComparePage::refresh()
{
    const CompareState& state = m_presenter->state();
    // Its button is of no use while what it started runs: the one that ends it takes the keyboard.
    if (state.isRunning && m_notice->isAncestorOf(QApplication::focusWidget()))
        m_form->stopButton().setFocus(Qt::OtherFocusReason);
    m_stack->setCurrentIndex(state.hasResult ? 1 : 0);
    m_panel->setCaption(!state.isStale ? state.caption
                        : state.error.isEmpty()
                            ? tr("%1 · other choices are made by now").arg(state.caption)
                            : tr("old: the comparison after this failed · %1").arg(state.caption));
    m_verdict->setText(state.verdict.title);
    m_details->setText(state.verdict.details.join(QLatin1Char('\n')));
    refreshNotice();
    refreshColumns();
}

Page makeComparePage(const PageContext& context)
{
    auto* page = new ComparePage(context);
    ComparePresenter& presenter = page->presenter();
    return {.name = QStringLiteral("compare"),
            .title = ComparePage::tr("Compare"),
            .icon = QStringLiteral("check"),
            .tip = ComparePage::tr("Which tensor the board gets wrong"),
            .widget = page,
            .focus = &page->table(),
            .setDocument = [&presenter](bool isSame) { presenter.setDocument(isSame); },
            .takeExamples = [&presenter](const QString& folder) { presenter.setData(folder); },
            .isSettled =
                [page] {
                    return !page->presenter().state().isRunning &&
                           !page->tensor().state().isLoading;
                },
            .actions = {{"compare", ComparePage::tr("Model"),
                         ComparePage::tr("Compare with a reference"), "", "Ctrl+Shift+R",
                         ComparePage::tr("Run the model on the board and on a reference, and name "
                                         "the first tensor that is off"),
                         [&presenter] { presenter.compare(); }, false,
                         [&presenter] { return presenter.state().canStart; }, ActsOn::ItsPage}}};
}

} // namespace tenon::views
