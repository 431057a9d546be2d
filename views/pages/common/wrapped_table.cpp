// SPDX-License-Identifier: GPL-3.0-or-later
// Wrapped cells, and rows as high as they are.
#include "views/pages/common/wrapped_table.h"

#include "views/models/line_breaks.h"

#include <QHeaderView>
#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kSmallestWidth = 20; ///< of a column: a glyph
constexpr int kSide = 6;
constexpr int kRowPadding = 6;

class WrappedDelegate : public QStyledItemDelegate
{
public:
    WrappedDelegate(const ThemeSource& themes, QTableView* table)
        : QStyledItemDelegate(table)
        , m_themes(themes)
        , m_table(table)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override
    {
        const int width = m_table->columnWidth(index.column()) - 2 * kSide;
        const QRect text = QFontMetrics(m_themes.theme().body)
                               .boundingRect(QRect(0, 0, width, 10000), kFlags,
                                             withBreaks(index.data().toString()));
        return {m_table->columnWidth(index.column()), text.height() + kRowPadding};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = m_themes.theme();
        const bool isSelected = option.state & QStyle::State_Selected;
        painter->save();
        if (isSelected) painter->fillRect(option.rect, t.accentTint);
        painter->setFont(t.body);
        painter->setPen(isSelected ? t.accentInk : t.text);
        painter->drawText(option.rect.adjusted(kSide, 0, -kSide, 0), kFlags,
                          withBreaks(index.data().toString()));
        painter->restore();
    }

private:
    static constexpr int kFlags = Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap;
    const ThemeSource& m_themes;
    QTableView* m_table;
};

} // namespace

WrappedTable::WrappedTable(const ThemeSource& themes, QAbstractItemModel* model,
                           const std::vector<int>& widths, int textColumn, QWidget* parent)
    : DataTable(themes, model, parent)
{
    horizontalHeader()->setMinimumSectionSize(kSmallestWidth);
    setColumnWidths(widths);
    delegate().setSeverityColumn(0);
    setItemDelegateForColumn(textColumn, new WrappedDelegate(themes, this));
    QFont small = verticalHeader()->font(); // hidden, yet no row is lower than its own text
    small.setPixelSize(1);
    verticalHeader()->setFont(small);
    verticalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
}

void WrappedTable::resizeEvent(QResizeEvent* event)
{
    DataTable::resizeEvent(event);
    resizeRowsToContents();
}

} // namespace tenon::views
