// SPDX-License-Identifier: GPL-3.0-or-later
// Two lines per buffer with a bar in the colour of the operator that writes it.
#include "views/pages/memory/alive_list.h"

#include "views/models/format.h"
#include "views/pages/common/exhibit.h"

#include <QPainter>
#include <QStyledItemDelegate>

namespace tenon::views {

namespace {

constexpr int kRowHeight = 44;

class AliveDelegate : public QStyledItemDelegate
{
public:
    AliveDelegate(const ThemeSource& themes, BufferModel* buffers, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_themes(themes)
        , m_buffers(buffers)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {160, kRowHeight};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = m_themes.theme();
        const BufferRow* const shown = m_buffers->row(index);
        if (!shown) return;
        const BufferRow& row = *shown;
        const bool isSelected = option.state & QStyle::State_Selected;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(Qt::NoPen);
        if (isSelected || (option.state & QStyle::State_MouseOver)) {
            QColor fill = t.accentTint;
            if (!isSelected) fill.setAlphaF(0.45f);
            painter->setBrush(fill);
            painter->drawRoundedRect(QRectF(option.rect).adjusted(0, 1, 0, -1), 5, 5);
        }
        const QRect area = option.rect.adjusted(8, 5, -8, -5);
        painter->setBrush(t.families[static_cast<size_t>(colourOf(row))]);
        painter->drawRoundedRect(QRect(area.left(), area.top() + 1, 4, area.height() - 2), 2, 2);
        const QRect text = area.adjusted(13, 0, 0, 0);
        const QString bytes = countText(row.bytes) + QStringLiteral(" B");
        const int bytesWidth = QFontMetrics(t.body).horizontalAdvance(bytes) + 8;
        painter->setFont(t.bodyStrong);
        painter->setPen(isSelected ? t.accent : t.text);
        painter->drawText(text, Qt::AlignLeft | Qt::AlignTop, row.label);
        const int labelWidth = QFontMetrics(t.bodyStrong).horizontalAdvance(row.label) + 8;
        painter->setFont(t.body);
        painter->setPen(t.text);
        painter->drawText(text.adjusted(labelWidth, 0, 0, 0), Qt::AlignLeft | Qt::AlignTop,
                          QFontMetrics(t.body).elidedText(row.origin, Qt::ElideMiddle,
                                                          text.width() - labelWidth - bytesWidth));
        painter->drawText(text, Qt::AlignRight | Qt::AlignTop, bytes);
        painter->setFont(t.secondaryFont);
        painter->setPen(t.secondary);
        const QString life =
            QObject::tr("calls %1 – %2 · %3").arg(row.firstCall).arg(row.lastCall).arg(row.type);
        painter->drawText(
            text, Qt::AlignLeft | Qt::AlignBottom,
            QFontMetrics(t.secondaryFont).elidedText(life, Qt::ElideRight, text.width()));
        painter->restore();
    }

private:
    const ThemeSource& m_themes;
    BufferModel* m_buffers;
};

} // namespace

AliveList::AliveList(const ThemeSource& themes, BufferModel* model, QWidget* parent)
    : QListView(parent)
    , m_buffers(model)
{
    setModel(model);
    setItemDelegate(new AliveDelegate(themes, model, this));
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setAutoFillBackground(false);
    setAccessibleName(tr("Buffers alive at this call"));
    new Exhibit(*this);
    connect(&themes, &ThemeSource::changed, this, [this] { viewport()->update(); });
    const auto go = [this](const QModelIndex& index) {
        if (const BufferRow* const row = m_buffers->row(index)) emit bufferRequested(row->buffer);
    };
    connect(this, &QListView::clicked, this, go);
    connect(this, &QListView::activated, this, go);
}

void AliveList::setSelectedBuffer(int buffer)
{
    const auto& rows = m_buffers->rows();
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows[i].buffer == buffer)
            return setCurrentIndex(m_buffers->index(static_cast<int>(i), 0));
    clearSelection();
    setCurrentIndex({});
}

} // namespace tenon::views
