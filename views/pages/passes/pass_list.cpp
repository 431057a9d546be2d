// SPDX-License-Identifier: GPL-3.0-or-later
// Painting of phases and passes.
#include "views/pages/passes/pass_list.h"

#include "views/models/format.h"
#include "views/models/pass_model.h"
#include "views/pages/common/exhibit.h"

#include <QPainter>

namespace tenon::views {

namespace {

constexpr int kPassHeight = 27;
constexpr int kPhaseHeight = 25;
constexpr int kBarWidth = 34;
constexpr int kCountWidth = 36;

/// How many changes at the right end, and a bar where the name leaves room for one; answers with
/// what the name has to leave.
int paintChanges(QPainter& painter, const QRect& text, const QModelIndex& index, const Theme& t,
                 bool isSelected)
{
    constexpr int kGap = 8;
    const QString count = countText(index.data(PassModel::ChangeCountRole).toInt());
    const int barLeft = text.right() - kCountWidth - kBarWidth - 2;
    const int nameWidth = painter.fontMetrics().horizontalAdvance(index.data().toString());
    painter.save();
    painter.setFont(t.body);
    painter.setPen(isSelected ? t.accentInk : t.secondary);
    painter.drawText(text, Qt::AlignRight | Qt::AlignVCenter, count);
    const int taken = painter.fontMetrics().horizontalAdvance(count) + kGap;
    if (text.left() + nameWidth + kGap < barLeft) {
        const double share = index.data(PassModel::ShareRole).toDouble();
        painter.setPen(Qt::NoPen);
        painter.setBrush(isSelected ? t.accent : t.accentSoft);
        painter.drawRoundedRect(
            QRectF(barLeft, text.center().y() - 2.5, std::max(3.0, kBarWidth * share), 7), 2, 2);
    }
    painter.restore();
    return taken;
}

/// Its name, weaker where it does nothing, marked where it changes the results too much.
void paintPass(QPainter& painter, const QRect& area, const QModelIndex& index, const Theme& t,
               bool isSelected)
{
    const bool isNoOp = index.data(PassModel::IsNoOpRole).toBool();
    const bool isBroken = index.data(PassModel::IsBrokenRole).toBool();
    const QColor ink = isBroken ? t.removed : isSelected ? t.accentInk : isNoOp ? t.faint : t.text;
    constexpr int kIndent = 14;
    const bool isRewrite = index.data(PassModel::IsRewriteRole).toBool();
    QRect text = area.adjusted(isRewrite ? 2 * kIndent : kIndent, 0, -10, 0);
    if (index.data(PassModel::TouchesRole).toBool()) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(t.accent);
        painter.drawEllipse(QPointF(area.left() + 7, area.center().y() + 1), 2.2, 2.2);
    }
    painter.setFont(isSelected ? t.bodyStrong : t.body);
    if (!isNoOp) text.setRight(text.right() - paintChanges(painter, text, index, t, isSelected));
    const QString name = index.data().toString();
    painter.setPen(ink);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(painter.font())
                         .elidedText(isBroken ? QStringLiteral("✕ ") + name : name, Qt::ElideRight,
                                     text.width()));
}

} // namespace

void PassDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const
{
    const Theme& t = m_themes.theme();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRect area = option.rect.adjusted(6, 1, -6, -1);
    if (index.data(PassModel::IsPhaseRole).toBool()) {
        QFont font = t.secondaryFont;
        font.setPixelSize(10);
        font.setWeight(QFont::DemiBold);
        font.setLetterSpacing(QFont::AbsoluteSpacing, 0.6);
        painter->setFont(font);
        painter->setPen(t.secondary);
        painter->drawText(area.adjusted(8, 4, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                          index.data().toString().toUpper());
        painter->restore();
        return;
    }
    const bool isSelected = option.state & QStyle::State_Selected;
    if (isSelected || (option.state & QStyle::State_MouseOver)) {
        QColor fill = t.accentTint;
        if (!isSelected) fill.setAlphaF(0.5f);
        painter->setPen(isSelected && (option.state & QStyle::State_HasFocus) ? QPen(t.accentSoft)
                                                                              : QPen(Qt::NoPen));
        painter->setBrush(fill);
        painter->drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
    }
    paintPass(*painter, area, index, t, isSelected);
    painter->restore();
}

QSize PassDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const
{
    return {160, index.data(PassModel::IsPhaseRole).toBool() ? kPhaseHeight : kPassHeight};
}

PassList::PassList(const ThemeSource& themes, QAbstractItemModel* model, QWidget* parent)
    : QTreeView(parent)
{
    setModel(model);
    setItemDelegate(new PassDelegate(themes, this));
    setHeaderHidden(true);
    for (int column = PassModel::kName + 1; column < PassModel::kColumnCount; ++column)
        setColumnHidden(column, true); // painted with the name
    setRootIsDecorated(false);
    setIndentation(0);
    setItemsExpandable(false);
    setFrameShape(QFrame::NoFrame);
    setMouseTracking(true);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setAccessibleName(tr("Passes"));
    new Exhibit(*this);
    viewport()->setAutoFillBackground(false);
    expandAll();
    connect(model, &QAbstractItemModel::modelReset, this, &QTreeView::expandAll);
    connect(&themes, &ThemeSource::changed, viewport(), QOverload<>::of(&QWidget::update));
}

void PassList::showCurrent(const QModelIndex& index)
{
    m_isQuiet = true;
    setCurrentIndex(index);
    if (index.isValid()) scrollTo(index);
    m_isQuiet = false;
}

void PassList::currentChanged(const QModelIndex& current, const QModelIndex& previous)
{
    QTreeView::currentChanged(current, previous);
    const QVariant version = current.data(PassModel::VersionRole);
    if (!m_isQuiet && version.isValid()) emit versionChosen(version.toInt());
}

} // namespace tenon::views
