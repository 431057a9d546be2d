// SPDX-License-Identifier: GPL-3.0-or-later
// DataTable: a quiet table over an item model, sorted by any column; a row can lead to a node.
#pragma once

#include "views/models/sorted_rows.h"
#include "views/theme/theme_source.h"

#include <QStyledItemDelegate>
#include <QTableView>

#include <map>
#include <vector>

namespace tenon::views {

/// Paints cells with the theme; rows with a share (FigureRole) show it as a bar in one column.
class DataDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    DataDelegate(const ThemeSource& themes, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_themes(themes)
    {
    }
    /// `textWidth` is left for the column's text, beside the longest bar.
    void setBarColumn(int column, int textWidth = 52)
    {
        m_barColumn = column;
        m_barTextWidth = textWidth;
    }
    void setSeverityColumn(int column) { m_severityColumn = column; }
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    const ThemeSource& m_themes;
    int m_barColumn = -1;
    int m_barTextWidth = 0;
    int m_severityColumn = -1;
};

class DataTable : public QTableView
{
    Q_OBJECT
public:
    DataTable(const ThemeSource& themes, QAbstractItemModel* model, QWidget* parent = nullptr);
    DataDelegate& delegate() { return *m_delegate; }
    /// Widths by column; 0 takes what is left.
    void setColumnWidths(const std::vector<int>& widths);
    /// As wide as the rows in view need, up to `most`; a width that was dragged stays.
    void fitColumn(int column, int most);
    /// Hides of `columns` those that say nothing, and of the others, from the first on, as many as
    /// it takes for each column that shares the room to have `least`; again whenever it is resized.
    void fitColumns(std::vector<int> columns, int least);
    /// Any of its cells says something.
    bool hasText(int column) const;
    /// In the model that the table was made with, whatever it is sorted by; -1: none.
    int rowOf(const QModelIndex& index) const;
    /// Selects that model's row and brings it into view.
    void showRow(int row);

signals:
    void nodeRequested(qint64 node);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void applyTheme();
    void shareRoom();
    void hideForRoom();
    const ThemeSource& m_themes;
    SortedRows* m_sorted;
    DataDelegate* m_delegate;
    std::map<int, int> m_fitted; ///< column -> width that was set last
    std::vector<int> m_sharing;  ///< columns that share what the others leave
    std::vector<int> m_yielding; ///< columns that are hidden where these get too little
    int m_leastShare = 0;
};

} // namespace tenon::views
