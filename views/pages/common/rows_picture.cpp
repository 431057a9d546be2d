// SPDX-License-Identifier: GPL-3.0-or-later
// Cells one under another; long tables end with a line that says how many are left out.
#include "views/pages/common/rows_picture.h"

#include "views/models/format.h"

#include <QAbstractItemView>
#include <QHeaderView>
#include <QPainter>
#include <QTableView>

#include <vector>

namespace tenon::views {

namespace {

constexpr size_t kMostRows = 1000;
constexpr int kMargin = 8;
constexpr int kTitleHeight = 26;

struct Column
{
    int index = 0;
    int width = 0;
};

struct Row
{
    QModelIndex index;
    int height = 0;
};

struct Sheet
{
    std::vector<Column> columns;
    std::vector<Row> rows;
    size_t left = 0; ///< rows that are left out
    bool hasTitles = false;
    int width = 0;
    int height = 0;
};

std::vector<Column> columnsOf(const QAbstractItemView& view)
{
    std::vector<Column> columns;
    if (const auto* table = qobject_cast<const QTableView*>(&view)) {
        for (int i = 0; i < table->model()->columnCount(); ++i) {
            const int column = table->horizontalHeader()->logicalIndex(i);
            if (!table->isColumnHidden(column))
                columns.push_back({column, table->columnWidth(column)});
        }
        return columns;
    }
    return {{0, view.viewport()->width()}};
}

void addRows(const QAbstractItemView& view, const QModelIndex& parent, Sheet& sheet)
{
    const auto* table = qobject_cast<const QTableView*>(&view);
    for (int i = 0; i < view.model()->rowCount(parent); ++i) {
        const QModelIndex row = view.model()->index(i, 0, parent);
        if (sheet.rows.size() < kMostRows)
            sheet.rows.push_back(
                {row, table ? table->rowHeight(i) : view.sizeHintForIndex(row).height()});
        else
            ++sheet.left;
        addRows(view, row, sheet);
    }
}

Sheet sheetOf(const QAbstractItemView& view)
{
    Sheet sheet;
    sheet.columns = columnsOf(view);
    addRows(view, {}, sheet);
    const auto* table = qobject_cast<const QTableView*>(&view);
    sheet.hasTitles = table && !table->horizontalHeader()->isHidden();
    for (const Column& column : sheet.columns) sheet.width += column.width;
    sheet.height = (sheet.hasTitles ? kTitleHeight : 0) + (sheet.left > 0 ? kTitleHeight : 0);
    for (const Row& row : sheet.rows) sheet.height += row.height;
    return sheet;
}

void paintTitles(const QAbstractItemView& view, const Sheet& sheet, QPainter& painter)
{
    painter.setFont(view.font());
    painter.setPen(view.palette().color(QPalette::PlaceholderText));
    int x = kMargin;
    for (const Column& column : sheet.columns) {
        const auto data = [&](int role) {
            return view.model()->headerData(column.index, Qt::Horizontal, role);
        };
        const QVariant alignment = data(Qt::TextAlignmentRole);
        painter.drawText(QRect(x + 6, kMargin, column.width - 12, kTitleHeight),
                         alignment.isValid() ? alignment.toInt() : int{Qt::AlignVCenter},
                         data(Qt::DisplayRole).toString());
        x += column.width;
    }
}

} // namespace

QSizeF rowsPictureSize(const QAbstractItemView& view)
{
    const Sheet sheet = sheetOf(view);
    return QSizeF(sheet.width + 2 * kMargin, sheet.height + 2 * kMargin);
}

void paintRows(const QAbstractItemView& view, QPainter& painter)
{
    const Sheet sheet = sheetOf(view);
    painter.fillRect(QRectF(QPointF(), rowsPictureSize(view)),
                     view.palette().color(QPalette::Base));
    int y = kMargin;
    if (sheet.hasTitles) {
        paintTitles(view, sheet, painter);
        y += kTitleHeight;
    }
    for (const Row& row : sheet.rows) {
        int x = kMargin;
        for (const Column& column : sheet.columns) {
            QStyleOptionViewItem option;
            option.initFrom(&view);
            option.state = QStyle::State_Enabled;
            option.rect = QRect(x, y, column.width, row.height);
            option.font = view.font();
            option.widget = &view;
            const QModelIndex cell = row.index.siblingAtColumn(column.index);
            view.itemDelegateForIndex(cell)->paint(&painter, option, cell);
            x += column.width;
        }
        y += row.height;
    }
    if (sheet.left == 0) return;
    painter.setPen(view.palette().color(QPalette::PlaceholderText));
    painter.drawText(QRect(kMargin, y, sheet.width, kTitleHeight), Qt::AlignVCenter,
                     QObject::tr("and %1, which a CSV file has, too")
                         .arg(countOf(static_cast<qint64>(sheet.left), QObject::tr("more row"))));
}

} // namespace tenon::views
