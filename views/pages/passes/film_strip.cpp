// SPDX-License-Identifier: GPL-3.0-or-later
// Painting of frames: pass, the kernel's rows with the followed one marked, what it is then.
#include "views/pages/passes/film_strip.h"

#include "views/models/node_text.h"

#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kFrameWidth = 168;
constexpr int kFrameHeight = 128;
constexpr int kShownRows = 4;
constexpr int kRowHeight = 15;

/// As many rows as fit, with the followed one among them.
size_t firstShown(const std::vector<FilmRow>& rows)
{
    size_t followed = 0;
    while (followed < rows.size() && !rows[followed].isFollowed) ++followed;
    if (rows.size() <= kShownRows || followed < kShownRows) return 0;
    return std::min(followed, rows.size() - kShownRows);
}

void paintRows(QPainter& painter, const QRectF& area, const FilmFrame& frame, const Theme& t)
{
    const size_t first = firstShown(frame.rows);
    const size_t last = std::min(frame.rows.size(), first + kShownRows);
    double y = area.top();
    for (size_t i = first; i < last; ++i, y += kRowHeight) {
        const FilmRow& row = frame.rows[i];
        const QRectF line(area.left(), y, area.width(), kRowHeight - 1);
        painter.setPen(Qt::NoPen);
        painter.setBrush(row.isFollowed ? t.accentTint : t.panel);
        painter.drawRoundedRect(line, 3, 3);
        painter.setBrush(t.familyColour(familyOfOp(row.title.toStdString())));
        painter.drawRect(QRectF(line.left(), line.top() + 2, 3, line.height() - 4));
        painter.setFont(t.secondaryFont);
        painter.setPen(row.isFollowed ? t.accentInk : t.secondary);
        const QRectF text = line.adjusted(8, 0, -4, 0);
        painter.drawText(
            text, Qt::AlignLeft | Qt::AlignVCenter,
            QFontMetrics(t.secondaryFont)
                .elidedText(row.title, Qt::ElideMiddle, static_cast<int>(text.width())));
    }
    if (frame.rows.size() <= kShownRows) return;
    painter.setPen(t.secondary);
    painter.drawText(
        QRectF(area.left(), y, area.width(), kRowHeight), Qt::AlignLeft | Qt::AlignVCenter,
        FilmStrip::tr("row %1 to %2 of %3").arg(first + 1).arg(last).arg(frame.rows.size()));
}

void paintLine(QPainter& painter, const QRectF& area, const QFont& font, const QColor& ink,
               const QString& text)
{
    painter.setFont(font);
    painter.setPen(ink);
    painter.drawText(
        area, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(font).elidedText(text, Qt::ElideRight, static_cast<int>(area.width())));
}

} // namespace

void FilmDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const
{
    const auto* film = static_cast<const FilmModel*>(index.model());
    const FilmFrame* frame = film->row(index);
    if (!frame) return;
    const Theme& t = m_themes.theme();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool isCurrent = option.state & QStyle::State_Selected;
    const QRectF area = QRectF(option.rect).adjusted(2.5, 2.5, -5.5, -2.5);
    painter->setPen(QPen(isCurrent ? t.accent : t.line, isCurrent ? 1.6 : 1));
    painter->setBrush(t.canvas);
    painter->drawRoundedRect(area, 6, 6);
    const QRectF text = area.adjusted(8, 0, -8, 0);
    const auto line = [&](double y) { return QRectF(text.left(), y, text.width(), 16); };
    paintLine(*painter, line(area.top() + 4), t.bodyStrong, isCurrent ? t.accentInk : t.text,
              frame->pass);
    paintRows(*painter, QRectF(text.left(), area.top() + 24, text.width(), 0), *frame, t);
    paintLine(*painter, line(area.bottom() - 20), t.secondaryFont, t.text, frame->where);
    painter->restore();
}

QSize FilmDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const
{
    return {kFrameWidth, kFrameHeight};
}

FilmStrip::FilmStrip(const ThemeSource& themes, FilmModel* film, QWidget* parent)
    : QListView(parent)
    , m_themes(themes)
{
    setModel(film);
    setItemDelegate(new FilmDelegate(themes, this));
    setFlow(QListView::LeftToRight);
    setWrapping(false);
    setUniformItemSizes(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setAccessibleName(tr("The followed node in every pass that touched it"));
    viewport()->setAutoFillBackground(false);
    setFixedHeight(sizeHint().height());
    connect(&themes, &ThemeSource::changed, viewport(), QOverload<>::of(&QWidget::update));
}

QSize FilmStrip::sizeHint() const { return {400, kFrameHeight + 14}; }

void FilmStrip::showFrame(int row)
{
    m_isQuiet = true;
    setCurrentIndex(model()->index(row, 0));
    if (row >= 0) scrollTo(currentIndex());
    m_isQuiet = false;
}

void FilmStrip::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QListView::currentChanged(current, previous);
    if (!m_isQuiet && current.isValid()) emit frameChosen(current.row());
}

void FilmStrip::paintEvent(QPaintEvent* event)
{
    QListView::paintEvent(event);
    if (model()->rowCount() > 0) return;
    QPainter painter(viewport());
    painter.setFont(m_themes.theme().body);
    painter.setPen(m_themes.theme().secondary);
    painter.drawText(viewport()->rect(), Qt::AlignCenter,
                     tr("Select a node, or find one (Ctrl+F), to see what every pass made of it."));
}

} // namespace tenon::views
