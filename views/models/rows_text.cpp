// SPDX-License-Identifier: GPL-3.0-or-later
// Cells of rows, quoted where a format needs it.
#include "views/models/rows_text.h"

#include "views/models/table_model.h"

#include <QAbstractItemModel>
#include <QLocale>
#include <QStringList>

namespace tenon::views {

namespace {

QString cellText(const QModelIndex& cell)
{
    const QVariant text = cell.data(PlainTextRole);
    return text.isValid() ? text.toString() : cell.data(Qt::DisplayRole).toString();
}

/// Shortest text that reads back as the same number.
QString fileText(const QVariant& value)
{
    if (value.typeId() == QMetaType::Double)
        return QString::number(value.toDouble(), 'g', QLocale::FloatingPointShortest);
    return value.toString();
}

QString quoted(QString cell)
{
    const bool isPlain = !cell.contains(QLatin1Char(',')) && !cell.contains(QLatin1Char('"')) &&
                         !cell.contains(QLatin1Char('\n')) && !cell.contains(QLatin1Char('\r'));
    if (isPlain) return cell;
    cell.replace(QLatin1Char('"'), QStringLiteral("\"\""));
    return QLatin1Char('"') + cell + QLatin1Char('"');
}

void addRows(const QAbstractItemModel& model, const QModelIndex& parent, QStringList& lines)
{
    for (int row = 0; row < model.rowCount(parent); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(parent); ++column) {
            const QModelIndex cell = model.index(row, column, parent);
            const QVariant value = cell.data(FileRole);
            cells << quoted(value.isValid() ? fileText(value) : cellText(cell));
        }
        const QModelIndex first = model.index(row, 0, parent);
        // A title over rows is no row.
        if (!model.hasChildren(first)) lines << cells.join(QLatin1Char(','));
        addRows(model, first, lines);
    }
}

} // namespace

QString tabbedRows(const QModelIndexList& rows)
{
    QStringList lines;
    for (const QModelIndex& row : rows) {
        QStringList cells;
        for (int column = 0; column < row.model()->columnCount(row.parent()); ++column) {
            QString cell = cellText(row.siblingAtColumn(column));
            cell.replace(QLatin1Char('\t'), QLatin1Char(' '))
                .replace(QLatin1Char('\n'), QLatin1Char(' '));
            cells << cell;
        }
        lines << cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

QString csvText(const QAbstractItemModel& model)
{
    QStringList lines, titles;
    for (int column = 0; column < model.columnCount(); ++column) {
        QVariant title = model.headerData(column, Qt::Horizontal, FileRole);
        if (!title.isValid()) title = model.headerData(column, Qt::Horizontal, Qt::DisplayRole);
        titles << quoted(title.toString());
    }
    lines << titles.join(QLatin1Char(','));
    addRows(model, {}, lines);
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

} // namespace tenon::views
