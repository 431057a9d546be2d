// SPDX-License-Identifier: GPL-3.0-or-later
// What of a header fits, and a menu of the rest.
#include "views/pages/common/header_fold.h"

#include "views/pages/common/popup_menu.h"

#include <QEvent>

#include <algorithm>

namespace tenon::views {

namespace {

constexpr int kAbsent = -1;
constexpr int kTitleMost = 180; ///< a longer title does not push out buttons

/// Nobody hid it, though what it stands on may be hidden.
bool isWanted(const QWidget& part)
{
    return !(part.isHidden() && part.testAttribute(Qt::WA_WState_ExplicitShowHide));
}

} // namespace

HeaderFold::HeaderFold(const ThemeSource& themes, QWidget& owner, QHBoxLayout& header,
                       QWidget& title, const std::vector<QWidget*>& parts)
    : PillButton(themes, Look::Quiet, QStringLiteral("⋯"))
    , m_owner(owner)
    , m_header(header)
    , m_title(title)
{
    setAccessibleName(tr("More"));
    setToolTip(tr("What has no room beside the title"));
    for (QWidget* part : parts) {
        auto* place = new QWidget;
        delete m_header.replaceWidget(part, place);
        auto* row = new QHBoxLayout(place);
        row->setContentsMargins(0, 0, 0, 0);
        row->addWidget(part);
        part->installEventFilter(this);
        m_parts.push_back({part, place});
    }
    m_header.addWidget(this);
    hide();
    owner.installEventFilter(this);
    connect(this, &QPushButton::clicked, this, &HeaderFold::openMenu);
}

bool HeaderFold::eventFilter(QObject* watched, QEvent* event)
{
    switch (event->type()) {
    case QEvent::Resize:
    case QEvent::LayoutRequest:
        if (watched == &m_owner) fit();
        break;
    case QEvent::ShowToParent:
    case QEvent::HideToParent:
        if (watched != &m_owner) fit();
        break;
    default: break;
    }
    return PillButton::eventFilter(watched, event);
}

/// As few parts as must go into the menu.
void HeaderFold::fit()
{
    size_t count = 0;
    while (count < m_parts.size() && neededWidth(count) > m_owner.width()) ++count;
    m_foldedCount = count;
    bool hasMenu = false;
    for (size_t i = 0; i < m_parts.size(); ++i) {
        const bool wanted = isWanted(*m_parts[i].widget);
        m_parts[i].place->setVisible(wanted && i >= count);
        hasMenu = hasMenu || (wanted && i < count);
    }
    setVisible(hasMenu);
}

int HeaderFold::neededWidth(size_t foldedCount) const
{
    const QMargins margins = m_header.contentsMargins();
    int width = margins.left() + margins.right() - m_header.spacing();
    for (int i = 0; i < m_header.count(); ++i)
        if (const int part = widthOf(*m_header.itemAt(i), foldedCount); part != kAbsent)
            width += part + m_header.spacing();
    return width;
}

int HeaderFold::widthOf(const QLayoutItem& item, size_t foldedCount) const
{
    QLayoutItem& row = const_cast<QLayoutItem&>(item); // asks without changing, but is not const
    const QWidget* widget = row.widget();
    if (widget == this) return foldedCount > 0 ? sizeHint().width() : kAbsent;
    const auto part = std::find_if(m_parts.begin(), m_parts.end(),
                                   [&](const Part& one) { return one.place == widget; });
    if (part != m_parts.end()) {
        const bool isFolded = static_cast<size_t>(part - m_parts.begin()) < foldedCount;
        if (isFolded || !isWanted(*part->widget)) return kAbsent;
        const int hint = part->widget->sizeHint().width();
        return std::clamp(hint, part->widget->minimumWidth(), part->widget->maximumWidth());
    }
    if (item.isEmpty()) return kAbsent;
    if (widget == &m_title) return std::min(row.sizeHint().width(), kTitleMost);
    // Captions take what is left.
    if (widget && widget->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored) return 0;
    return row.sizeHint().width();
}

void HeaderFold::openMenu()
{
    QMenu* menu = makePopupMenu(this);
    for (size_t i = m_foldedCount; i-- > 0;) { // as they stand in the row
        auto* button = qobject_cast<QAbstractButton*>(m_parts[i].widget);
        if (!button || !isWanted(*button)) continue;
        const QString name = button->text().size() > 2 ? button->text() : button->accessibleName();
        QAction* action = menu->addAction(name, button, &QAbstractButton::click);
        action->setEnabled(button->isEnabled());
        action->setToolTip(button->toolTip());
    }
    menu->popup(mapToGlobal(QPoint(0, height() + 4)));
}

} // namespace tenon::views
