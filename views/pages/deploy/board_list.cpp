// SPDX-License-Identifier: GPL-3.0-or-later
// Each row: state dot, name, state in words; below them how it is reached and its target.
#include "views/pages/deploy/board_list.h"

#include "views/pages/common/exhibit.h"

#include <QPainter>
#include <QStyledItemDelegate>

namespace tenon::views {

namespace {

constexpr int kRowHeight = 46;

QColor colourOf(const Theme& t, BoardState state)
{
    switch (state) {
    case BoardState::Ready:
    case BoardState::Guest: return t.added;
    case BoardState::Busy: return t.accent;
    case BoardState::Mismatch: return t.changed;
    case BoardState::Offline: return t.removed;
    case BoardState::Unknown: break;
    }
    return t.secondary;
}

class BoardDelegate : public QStyledItemDelegate
{
public:
    BoardDelegate(const ThemeSource& themes, BoardModel* boards, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_themes(themes)
        , m_boards(boards)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {200, kRowHeight};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = m_themes.theme();
        const BoardRow* const shown = m_boards->row(index);
        if (!shown) return;
        const BoardRow& row = *shown;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const QRectF frame = QRectF(option.rect).adjusted(0, 1, 0, -1);
        if (row.isSelected || (option.state & QStyle::State_MouseOver)) {
            QColor fill = t.accentTint;
            if (!row.isSelected) fill.setAlphaF(0.45f);
            painter->setPen(Qt::NoPen);
            painter->setBrush(fill);
            painter->drawRoundedRect(frame, 5, 5);
        }
        if (option.state & QStyle::State_HasFocus) {
            painter->setPen(t.accentSoft);
            painter->setBrush(Qt::NoBrush);
            painter->drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
        }
        paintText(*painter, t, row, option.rect.adjusted(28, 5, -10, -6));
        paintBoardState(*painter, t, row.state,
                        QPointF(option.rect.left() + 15, option.rect.top() + 15), 4.5);
        painter->restore();
    }

private:
    static void paintText(QPainter& painter, const Theme& t, const BoardRow& row, const QRect& area)
    {
        const QRect first(area.left(), area.top(), area.width(), 18);
        const QRect second(area.left(), area.top() + 18, area.width(), 16);
        const QString& state = row.stateText;
        const int stateWidth = QFontMetrics(t.secondaryFont).horizontalAdvance(state) + 10;
        painter.setFont(t.bodyStrong);
        painter.setPen(row.isSelected ? t.accentInk : t.text);
        painter.drawText(
            first, Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(t.bodyStrong)
                .elidedText(row.board.title(), Qt::ElideMiddle, first.width() - stateWidth));
        painter.setFont(t.secondaryFont);
        painter.setPen(t.secondary);
        painter.drawText(first, Qt::AlignRight | Qt::AlignVCenter, state);
        QStringList parts{row.board.summary.isEmpty() ? row.board.address : row.board.summary};
        if (!row.board.isHere()) parts.prepend(boardWayText(row.board.way));
        if (parts.last().isEmpty() || row.board.isHere()) parts = {row.board.target};
        painter.drawText(
            second, Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(t.secondaryFont)
                .elidedText(parts.join(QStringLiteral(" · ")), Qt::ElideRight, second.width()));
    }

    const ThemeSource& m_themes;
    BoardModel* m_boards;
};

} // namespace

void paintBoardState(QPainter& painter, const Theme& theme, BoardState state, QPointF centre,
                     double radius)
{
    const QColor colour = colourOf(theme, state);
    const bool isHollow = state == BoardState::Unknown || state == BoardState::Offline;
    painter.setPen(isHollow ? QPen(colour, 1.5) : QPen(Qt::NoPen));
    painter.setBrush(isHollow ? QBrush(Qt::NoBrush) : QBrush(colour));
    const double size = isHollow ? radius - 0.7 : radius;
    if (state == BoardState::Mismatch) {
        const QPointF corners[] = {centre + QPointF(0, -size - 0.5),
                                   centre + QPointF(size + 0.5, 0), centre + QPointF(0, size + 0.5),
                                   centre + QPointF(-size - 0.5, 0)};
        painter.drawConvexPolygon(corners, 4);
        return;
    }
    painter.drawEllipse(centre, size, size);
    if (state != BoardState::Offline) return;
    const double half = size * 0.7;
    painter.drawLine(centre + QPointF(-half, half), centre + QPointF(half, -half));
}

BoardList::BoardList(const ThemeSource& themes, BoardModel* model, QWidget* parent)
    : QListView(parent)
    , m_boards(model)
{
    setModel(model);
    setItemDelegate(new BoardDelegate(themes, model, this));
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setAutoFillBackground(false);
    setAccessibleName(tr("Boards"));
    new Exhibit(*this);
    connect(&themes, &ThemeSource::changed, this, [this] { viewport()->update(); });
    connect(this, &QListView::clicked, this, &BoardList::choose);
    connect(this, &QListView::activated, this, &BoardList::choose);
}

void BoardList::choose(const QModelIndex& index)
{
    const BoardRow* const row = m_boards->row(index);
    if (row && !row->isSelected) emit chosen(row->board.name);
}

} // namespace tenon::views
