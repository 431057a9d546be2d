// SPDX-License-Identifier: GPL-3.0-or-later
// Each row: name, bytes, ratio to the bound, time, and a bar in proportion.
#include "views/pages/memory/planner_list.h"

#include "views/models/format.h"
#include "views/pages/common/exhibit.h"

#include <QPainter>
#include <QStyledItemDelegate>

namespace tenon::views {

namespace {

constexpr int kPlannerHeight = 36;
constexpr int kTimeWidth = 62;
constexpr int kRatioWidth = 56;
constexpr int kBytesWidth = 104;

class PlannerDelegate : public QStyledItemDelegate
{
public:
    PlannerDelegate(const ThemeSource& themes, PlannerModel* planners, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_themes(themes)
        , m_planners(planners)
    {
    }

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {200, kPlannerHeight};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = m_themes.theme();
        const PlannerRow* const shown = m_planners->row(index);
        if (!shown) return;
        const PlannerRow& row = *shown;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const bool isHovered = (option.state & QStyle::State_MouseOver) && !row.isReference;
        if (row.isChosen || isHovered) {
            QColor fill = t.accentTint;
            if (!row.isChosen) fill.setAlphaF(0.45f);
            painter->setPen(Qt::NoPen);
            painter->setBrush(fill);
            painter->drawRoundedRect(QRectF(option.rect).adjusted(0, 1, 0, -1), 5, 5);
        }
        if ((option.state & QStyle::State_HasFocus) && !row.isReference) {
            painter->setPen(t.accentSoft);
            painter->setBrush(Qt::NoBrush);
            painter->drawRoundedRect(QRectF(option.rect).adjusted(0.5, 1.5, -0.5, -1.5), 5, 5);
        }
        const QRect area = option.rect.adjusted(10, 4, -8, -5);
        paintBar(painter, t, row, area);
        paintText(painter, t, row, area);
        painter->restore();
    }

private:
    static void paintBar(QPainter* painter, const Theme& t, const PlannerRow& row,
                         const QRect& area)
    {
        if (!row.problem.isEmpty()) return;
        painter->setPen(Qt::NoPen);
        painter->setBrush(row.isChosen ? t.accent : row.isReference ? t.line : t.faint);
        const int width = std::max(4, static_cast<int>(area.width() * row.share));
        painter->drawRoundedRect(QRect(area.left(), area.bottom() - 3, width, 4), 2, 2);
    }

    static void paintText(QPainter* painter, const Theme& t, const PlannerRow& row,
                          const QRect& area)
    {
        QRect line(area.left(), area.top(), area.width(), 20);
        painter->setFont(row.isChosen ? t.bodyStrong : t.body);
        painter->setPen(row.isChosen ? t.accent : row.isReference ? t.secondary : t.text);
        const QString name = row.algorithm;
        painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter, name);
        const int nameWidth = QFontMetrics(t.bodyStrong).horizontalAdvance(name) + 10;
        painter->setFont(t.body);
        if (!row.problem.isEmpty()) {
            painter->setPen(t.removed);
            const QRect rest = line.adjusted(nameWidth, 0, 0, 0);
            painter->drawText(
                rest, Qt::AlignRight | Qt::AlignVCenter,
                QFontMetrics(t.body).elidedText(row.problem, Qt::ElideRight, rest.width()));
            return;
        }
        const auto right = [&](int width, const QString& text, const QColor& colour) {
            painter->setPen(colour);
            painter->drawText(QRect(line.right() - width, line.top(), width, line.height()),
                              Qt::AlignRight | Qt::AlignVCenter, text);
            line.setRight(line.right() - width);
        };
        right(kTimeWidth, row.ms < 0 ? QStringLiteral("–") : durationText(row.ms * 1000),
              t.secondary);
        right(kRatioWidth, ratioText(row), row.isProvenOptimal ? t.added : t.secondary);
        right(kBytesWidth, countText(row.bytes) + QStringLiteral(" B"), t.text);
    }

    const ThemeSource& m_themes;
    PlannerModel* m_planners;
};

} // namespace

PlannerList::PlannerList(const ThemeSource& themes, PlannerModel* model, QWidget* parent)
    : QListView(parent)
    , m_planners(model)
{
    setModel(model);
    setItemDelegate(new PlannerDelegate(themes, model, this));
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    viewport()->setAutoFillBackground(false);
    setAccessibleName(tr("Planners"));
    new Exhibit(*this);
    connect(&themes, &ThemeSource::changed, this, [this] { viewport()->update(); });
    connect(model, &QAbstractItemModel::modelReset, this, [this] { updateGeometry(); });
    connect(this, &QListView::clicked, this, &PlannerList::choose);
    connect(this, &QListView::activated, this, &PlannerList::choose);
}

QSize PlannerList::sizeHint() const { return {300, kPlannerHeight * m_planners->rowCount()}; }

void PlannerList::choose(const QModelIndex& index)
{
    const PlannerRow* const row = m_planners->row(index);
    if (row && !row->isReference && !row->isChosen) emit chosen(row->algorithm);
}

} // namespace tenon::views
