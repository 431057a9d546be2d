// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out the viewer; what is in a slice is the presenter's.
#include "views/pages/compare/tensor_view.h"

#include "views/pages/common/columns.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/common/popup_menu.h"

#include <QIntValidator>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace tenon::views {

using Role = ThemedLabel::Role;
using Look = PillButton::Look;

namespace {

constexpr int kFieldWidth = 46;
constexpr const char* kAxis = "axis"; ///< property of a field

QString axisText(const std::vector<int64_t>& shape, int axis)
{
    return axis < 0 ? TensorView::tr("one row")
                    : TensorView::tr("axis %1 (%2)")
                          .arg(axis)
                          .arg(static_cast<qint64>(shape[static_cast<size_t>(axis)]));
}

} // namespace

TensorView::TensorView(const ThemeSource& themes, TensorPresenter& presenter, QWidget* parent)
    : Panel(themes, tr("Values"), parent)
    , m_presenter(presenter)
    , m_tabs(new PillTabs(themes, PillTabs::Size::Small))
    , m_stack(new QStackedWidget)
    , m_notice(new EmptyNotice(themes, {}, {}, {}))
{
    m_tabs->addTab(tr("slice"));
    m_tabs->addTab(tr("distribution"));
    m_tabs->setAccessibleName(tr("What is shown of the tensor"));
    header()->setContentsMargins(kPanelMargin, 6, 10, 4);
    header()->addWidget(m_tabs);
    m_stack->addWidget(m_notice);
    m_stack->addWidget(buildMaps());
    m_stack->addWidget(buildDistribution());
    content()->addWidget(m_stack, 1);
    connect(&presenter, &TensorPresenter::stateChanged, this, &TensorView::refresh);
    connect(m_tabs, &QTabBar::currentChanged, this, &TensorView::refresh);
    connect(&themes, &ThemeSource::changed, this, &TensorView::refreshMaps);
    refresh();
}

QWidget* TensorView::buildMaps()
{
    auto* page = new QWidget;
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addLayout(buildAxes());
    auto* row = new QHBoxLayout;
    row->setSpacing(18);
    m_reference = buildMap(tr("reference"), tr("Values of the reference"), m_referenceRows);
    m_device = buildMap(tr("device"), tr("Values of the device"), m_deviceRows);
    m_difference =
        buildMap(tr("difference, without sign"), tr("Differences of the values"), m_differenceRows);
    for (HeatMap* map : {m_reference, m_device, m_difference}) row->addWidget(map, 1);
    layout->addLayout(row, 1);
    return page;
}

/// A picture and its cells as rows.
HeatMap* TensorView::buildMap(const QString& title, const QString& name, SliceRows*& rows)
{
    rows = new SliceRows(this);
    auto* map = new HeatMap(themes(), title);
    map->setAccessibleName(name);
    map->setCellText([this](int row, int column) { return m_presenter.cellText(row, column); });
    new Exhibit(*map, rows);
    return map;
}

QLayout* TensorView::buildAxes()
{
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    m_rows = new PillButton(themes(), Look::Plain, {});
    m_columns = new PillButton(themes(), Look::Plain, {});
    m_worst = new PillButton(themes(), Look::Quiet, tr("Worst element"));
    m_worst->setToolTip(tr("The slice with the largest difference"));
    m_rows->setAccessibleName(tr("axis of the rows"));
    m_columns->setAccessibleName(tr("axis of the columns"));
    m_fields = new QWidget;
    row->addWidget(new ThemedLabel(themes(), Role::Secondary, tr("down")));
    row->addWidget(m_rows);
    row->addWidget(new ThemedLabel(themes(), Role::Secondary, tr("across")));
    row->addWidget(m_columns);
    row->addSpacing(6);
    row->addWidget(m_fields);
    row->addStretch(1);
    row->addWidget(m_worst);
    connect(m_rows, &QPushButton::clicked, this, [this] { chooseAxis(*m_rows, true); });
    connect(m_columns, &QPushButton::clicked, this, [this] { chooseAxis(*m_columns, false); });
    connect(m_worst, &QPushButton::clicked, &m_presenter, &TensorPresenter::showWorst);
    return row;
}

QWidget* TensorView::buildDistribution()
{
    m_chart = new ValueChart(themes());
    m_chart->setAccessibleName(tr("How often values come"));
    m_table = new DataTable(themes(), &m_presenter.statistics());
    m_table->setAccessibleName(tr("Statistics of the tensor"));
    m_table->setColumnWidths({0, 92, 92, 92});
    m_table->setMinimumWidth(350);
    new Exhibit(*m_chart, m_table->model());
    auto* split = makeSplitter(Qt::Horizontal, {m_chart, m_table}, {500, 380});
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 0);
    return split;
}

void TensorView::chooseAxis(PillButton& button, bool isRow)
{
    QMenu* menu = makePopupMenu(this);
    const TensorState& state = m_presenter.state();
    for (int axis = 0; axis < static_cast<int>(state.shape.size()); ++axis) {
        QAction* action = menu->addAction(axisText(state.shape, axis), this, [this, axis, isRow] {
            isRow ? m_presenter.setRowAxis(axis) : m_presenter.setColumnAxis(axis);
        });
        action->setCheckable(true);
        action->setChecked(axis == (isRow ? state.slice.rowAxis : state.slice.columnAxis));
    }
    menu->popup(button.mapToGlobal(QPoint(0, button.height() + 4)));
}

QLineEdit* TensorView::indexField(int axis) const
{
    return m_fields->findChild<QLineEdit*>(QStringLiteral("axis%1").arg(axis));
}

/// A field for every axis; those that are shown are hidden.
void TensorView::rebuildFields()
{
    const std::vector<int64_t>& shape = m_presenter.state().shape;
    if (m_fields->layout() && shape == m_fieldShape) return;
    m_fieldShape = shape;
    qDeleteAll(m_fields->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    delete m_fields->layout();
    auto* row = new QHBoxLayout(m_fields);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(5);
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) addField(axis);
}

void TensorView::addField(int axis)
{
    const auto most = static_cast<int>(m_fieldShape[static_cast<size_t>(axis)] - 1);
    auto* cell = new QWidget;
    cell->setObjectName(QStringLiteral("cell%1").arg(axis));
    auto* inside = new QHBoxLayout(cell);
    inside->setContentsMargins(0, 0, 4, 0);
    inside->setSpacing(4);
    auto* field = new QLineEdit;
    field->setObjectName(QStringLiteral("axis%1").arg(axis));
    field->setProperty(kAxis, axis);
    field->setValidator(new QIntValidator(0, std::max(0, most), field));
    field->setFixedWidth(kFieldWidth);
    field->setAlignment(Qt::AlignRight);
    field->setAccessibleName(tr("index of axis %1").arg(axis));
    field->setToolTip(tr("0 to %1; Up and Down, or the wheel, go on").arg(most));
    field->installEventFilter(this);
    inside->addWidget(new ThemedLabel(themes(), Role::Secondary, tr("axis %1").arg(axis)));
    inside->addWidget(field);
    m_fields->layout()->addWidget(cell);
    connect(field, &QLineEdit::textEdited, this, [this, axis](const QString& text) {
        bool isNumber = false;
        const qint64 index = text.toLongLong(&isNumber);
        if (isNumber) m_presenter.setIndex(axis, index);
    });
}

/// From slice to slice by keys and wheel.
bool TensorView::eventFilter(QObject* watched, QEvent* event)
{
    int step = 0;
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        step = key == Qt::Key_Up ? 1 : key == Qt::Key_Down ? -1 : 0;
    } else if (event->type() == QEvent::Wheel) {
        const int turned = static_cast<QWheelEvent*>(event)->angleDelta().y();
        step = turned > 0 ? 1 : turned < 0 ? -1 : 0;
    }
    const int axis = watched->property(kAxis).toInt();
    const auto& at = m_presenter.state().slice.at;
    if (step == 0 || static_cast<size_t>(axis) >= at.size())
        return Panel::eventFilter(watched, event);
    m_presenter.setIndex(axis, at[static_cast<size_t>(axis)] + step);
    return true;
}

void TensorView::refreshAxes()
{
    const TensorState& state = m_presenter.state();
    rebuildFields();
    m_rows->setText(axisText(state.shape, state.slice.rowAxis));
    m_columns->setText(axisText(state.shape, state.slice.columnAxis));
    for (PillButton* button : {m_rows, m_columns}) {
        button->updateGeometry();
        button->setEnabled(state.shape.size() > 1);
    }
    for (int axis = 0; axis < static_cast<int>(state.shape.size()); ++axis) {
        auto* cell = m_fields->findChild<QWidget*>(QStringLiteral("cell%1").arg(axis));
        const bool isShown = axis == state.slice.rowAxis || axis == state.slice.columnAxis;
        cell->setVisible(!isShown && state.shape[static_cast<size_t>(axis)] > 1);
        QLineEdit* field = indexField(axis);
        const QString text =
            QString::number(static_cast<qint64>(state.slice.at[static_cast<size_t>(axis)]));
        if (field->hasFocus() && field->text().isEmpty()) continue;
        const QSignalBlocker quiet(field);
        if (field->text() != text) field->setText(text);
    }
}

void TensorView::refreshMaps()
{
    const TensorState& state = m_presenter.state();
    if (!state.hasTensor) return;
    const double least = state.digest.histogram.least, greatest = state.digest.histogram.greatest;
    m_reference->setRaster(state.reference, least, greatest);
    m_device->setRaster(state.device, least, greatest);
    m_referenceRows->setRaster(state.reference);
    m_deviceRows->setRaster(state.device);
    m_differenceRows->setRaster(state.difference);
    m_difference->setMagnitudes(state.difference,
                                std::max(std::fabs(state.digest.difference.least),
                                         std::fabs(state.digest.difference.greatest)));
}

void TensorView::refresh()
{
    const TensorState& state = m_presenter.state();
    setTitle(state.title.isEmpty() ? tr("Values") : tr("Values of %1").arg(state.title));
    setCaption(state.caption);
    m_tabs->setVisible(state.hasTensor);
    m_stack->setCurrentIndex(state.hasTensor ? 1 + m_tabs->currentIndex() : 0);
    if (state.hasTensor) {
        refreshAxes();
        refreshMaps();
        m_chart->setHistogram(state.digest.histogram);
        return;
    }
    if (!state.problem.isEmpty())
        m_notice->setText(tr("The values cannot be shown"), state.problem);
    else if (state.isLoading)
        m_notice->setText(tr("Reading the values…"), {});
    else
        m_notice->setText(tr("No tensor selected"),
                          tr("Select a row to see the tensor's values: a slice of the reference, "
                             "of the device and of their difference, and how they are spread."));
}

} // namespace tenon::views
