// SPDX-License-Identifier: GPL-3.0-or-later
// Tables: selection goes to the node, a click on a title sorts.
#include "views/pages/common/data_table.h"

#include "views/models/short_name.h"
#include "views/models/table_model.h"
#include "views/pages/common/exhibit.h"
#include "views/pages/common/plain_tips.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kRowHeight = 25;
/// Rows that a column is fitted to: those at the top.
constexpr int kRowsToFit = 100;

/// What stands in the same column near a cell: as many rows as one sees together.
QStringList textsAround(const QModelIndex& index)
{
    constexpr int kRows = 16;
    QStringList texts;
    const int last = std::min(index.model()->rowCount() - 1, index.row() + kRows);
    for (int row = std::max(0, index.row() - kRows); row <= last; ++row)
        if (row != index.row())
            texts << index.sibling(row, index.column()).data(Qt::DisplayRole).toString();
    return texts;
}

QString shownText(const QModelIndex& index, const QFontMetrics& metrics, int width)
{
    const QString text = index.data(Qt::DisplayRole).toString();
    if (metrics.horizontalAdvance(text) <= width) return text;
    return shortName(text, textsAround(index), [&](const QString& part, Qt::TextElideMode mode) {
        return metrics.elidedText(part, mode, width);
    });
}

/// Of a cell: strong ones are wider than others.
QFont fontOf(const Theme& theme, const QModelIndex& index)
{
    QFont font = index.data(StrongRole).toBool() ? theme.bodyStrong : theme.body;
    if (index.data(EmulatedRole).toBool()) font.setItalic(true);
    return font;
}

} // namespace

void DataDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const
{
    const Theme& t = m_themes.theme();
    const bool isSelected = option.state & QStyle::State_Selected;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (isSelected || (option.state & QStyle::State_MouseOver)) {
        QColor fill = t.accentTint;
        if (!isSelected) fill.setAlphaF(0.45f);
        painter->fillRect(option.rect, fill);
    }
    QRect area = option.rect.adjusted(6, 0, -6, 0);
    const QVariant share = index.data(FigureRole);
    if (index.column() == m_barColumn && share.isValid()) {
        const int room = std::max(0, area.width() - m_barTextWidth);
        const int width = static_cast<int>(room * std::clamp(share.toDouble(), 0.0, 1.0));
        painter->setPen(Qt::NoPen);
        painter->setBrush(t.accentSoft);
        if (width > 0)
            painter->drawRoundedRect(
                QRect(area.left(), area.center().y() - 3, std::max(3, width), 6), 2, 2);
    }
    QColor ink = isSelected ? t.accentInk : t.text;
    if (index.column() == m_severityColumn) {
        const int severity = share.toInt();
        ink = severity >= 2   ? t.stateInk(DiffState::Removed)
              : severity == 1 ? t.stateInk(DiffState::Changed)
                              : t.secondary;
    }
    const QFont font = fontOf(t, index);
    if (index.data(EmulatedRole).toBool() && !isSelected) ink = t.secondary;
    painter->setFont(font);
    painter->setPen(ink);
    const auto alignment = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
    painter->drawText(area, static_cast<int>(alignment) | Qt::TextSingleLine,
                      shownText(index, QFontMetrics(font), area.width()));
    painter->restore();
}

QSize DataDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const
{
    const QFontMetrics metrics(fontOf(m_themes.theme(), index));
    return {metrics.horizontalAdvance(index.data().toString()) + 16, kRowHeight};
}

DataTable::DataTable(const ThemeSource& themes, QAbstractItemModel* model, QWidget* parent)
    : QTableView(parent)
    , m_themes(themes)
    , m_sorted(new SortedRows(model, this))
    , m_delegate(new DataDelegate(themes, this))
{
    setModel(m_sorted);
    setItemDelegate(m_delegate);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setMouseTracking(true);
    setWordWrap(false);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(kRowHeight);
    verticalHeader()->setMinimumSectionSize(kRowHeight);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setResizeContentsPrecision(kRowsToFit);
    horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    horizontalHeader()->setSortIndicatorClearable(true);
    setSortingEnabled(true);
    horizontalHeader()->setStretchLastSection(true);
    viewport()->setAutoFillBackground(false);
    connect(&themes, &ThemeSource::changed, this, &DataTable::applyTheme);
    const auto go = [this](const QModelIndex& index) {
        const QVariant node = index.data(NodeRole);
        if (node.isValid() && node.toLongLong() >= 0) emit nodeRequested(node.toLongLong());
    };
    connect(this, &QTableView::clicked, this, go);
    connect(this, &QTableView::activated, this, go);
    new Exhibit(*this);
    applyTheme();
}

int DataTable::rowOf(const QModelIndex& index) const { return m_sorted->mapToSource(index).row(); }

void DataTable::showRow(int row)
{
    const QModelIndex shown = m_sorted->mapFromSource(m_sorted->sourceModel()->index(row, 0));
    if (!shown.isValid()) return clearSelection();
    selectRow(shown.row());
    scrollTo(shown);
}

void DataTable::applyTheme()
{
    setFont(m_themes.theme().body);
    horizontalHeader()->setFont(m_themes.theme().secondaryFont);
    viewport()->update();
}

void DataTable::setColumnWidths(const std::vector<int>& widths)
{
    horizontalHeader()->setStretchLastSection(false);
    m_sharing.clear();
    for (size_t i = 0; i < widths.size(); ++i) {
        const int column = static_cast<int>(i);
        horizontalHeader()->setSectionResizeMode(column, widths[i] > 0 ? QHeaderView::Interactive
                                                                       : QHeaderView::Stretch);
        if (widths[i] <= 0) m_sharing.push_back(column);
        if (widths[i] <= 0) continue;
        const int least = horizontalHeader()->sectionSizeHint(column);
        horizontalHeader()->resizeSection(column, std::max(widths[i], least));
    }
    shareRoom();
}

/// In equal parts, but none has less than its title needs.
void DataTable::shareRoom()
{
    QHeaderView& titles = *horizontalHeader();
    std::vector<int> sharing;
    int room = viewport()->width();
    for (int column = 0; column < titles.count(); ++column) {
        const bool shares =
            std::find(m_sharing.begin(), m_sharing.end(), column) != m_sharing.end();
        if (!titles.isSectionHidden(column) && shares) sharing.push_back(column);
        if (!shares) room -= titles.sectionSize(column); // 0 of a hidden one
    }
    const auto byTitle = [&](int a, int b) {
        return titles.sectionSizeHint(a) > titles.sectionSizeHint(b);
    };
    std::stable_sort(sharing.begin(), sharing.end(), byTitle);
    auto left = static_cast<int>(sharing.size());
    for (const int column : sharing) {
        const int least = titles.sectionSizeHint(column);
        const bool isTight = left > 1 && room / left < least;
        const auto mode = isTight ? QHeaderView::Fixed : QHeaderView::Stretch;
        if (titles.sectionResizeMode(column) != mode) titles.setSectionResizeMode(column, mode);
        if (isTight) titles.resizeSection(column, least);
        if (isTight) room -= least;
        if (isTight) --left;
    }
}

void DataTable::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    hideForRoom();
    shareRoom();
}

/// Whoever comes by Tab sees where the keys go, also before a row is chosen.
void DataTable::paintEvent(QPaintEvent* event)
{
    QTableView::paintEvent(event);
    if (!hasFocus()) return;
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_themes.theme().accentSoft);
    painter.drawRoundedRect(QRectF(viewport()->rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
}

void DataTable::fitColumns(std::vector<int> columns, int least)
{
    m_yielding = std::move(columns);
    m_leastShare = least;
    hideForRoom();
    shareRoom();
}

void DataTable::hideForRoom()
{
    const auto shares = [this](int column) {
        return std::find(m_sharing.begin(), m_sharing.end(), column) != m_sharing.end();
    };
    for (const int column : m_yielding) setColumnHidden(column, !hasText(column));
    for (const int column : m_yielding) {
        int room = viewport()->width(), sharing = 0;
        for (int i = 0; i < horizontalHeader()->count(); ++i) {
            if (isColumnHidden(i)) continue;
            if (shares(i)) ++sharing;
            if (!shares(i)) room -= columnWidth(i);
        }
        if (sharing == 0 || room >= sharing * m_leastShare) return;
        setColumnHidden(column, true);
    }
}

bool DataTable::hasText(int column) const
{
    for (int row = 0; row < m_sorted->rowCount(); ++row)
        if (!m_sorted->index(row, column).data().toString().isEmpty()) return true;
    return false;
}

void DataTable::fitColumn(int column, int most)
{
    const int now = columnWidth(column);
    const auto [fitted, isFirst] = m_fitted.try_emplace(column, now);
    if (fitted->second != now) return;
    const int least = horizontalHeader()->sectionSizeHint(column);
    setColumnWidth(column, std::clamp(sizeHintForColumn(column), least, std::max(least, most)));
    fitted->second = columnWidth(column);
}

/// A cell that is cut and has no tip of its own says all of it.
bool DataTable::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) return QTableView::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QModelIndex index = indexAt(help->pos());
    const QString whole = index.data(PlainTextRole).toString();
    const bool isCut =
        itemDelegateForIndex(index)->sizeHint({}, index).width() > visualRect(index).width() + 4;
    if (!index.data(Qt::ToolTipRole).toString().isEmpty() || !isCut || whole.isEmpty())
        return QTableView::viewportEvent(event);
    QToolTip::showText(help->globalPos(), plainTip(whole), viewport());
    return true;
}

void DataTable::keyPressEvent(QKeyEvent* event)
{
    // Letters are the page's commands; searching rows by typing would swallow them.
    const bool isLetter = !event->text().isEmpty() && event->text()[0].isLetter();
    if (isLetter && !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier)))
        return event->ignore();
    QTableView::keyPressEvent(event);
}

} // namespace tenon::views
