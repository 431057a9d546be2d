// SPDX-License-Identifier: GPL-3.0-or-later
// Boards that are emulated here, by their kinds.
#include "views/pages/common/popup_menu.h"
#include "views/pages/deploy/deploy_page.h"

namespace tenon::views {

void DeployPage::chooseVirtual(QPoint below)
{
    QMenu* menu = makePopupMenu(this);
    for (const BoardKindEntry& kind : m_boards.kinds())
        if (kind.canBeVirtual)
            menu->addAction(kind.title, &m_boards,
                            [this, name = kind.name] { m_boards.addVirtual(name); });
    menu->popup(below - QPoint(0, menu->sizeHint().height() + 4));
}

} // namespace tenon::views
