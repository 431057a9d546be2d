// SPDX-License-Identifier: GPL-3.0-or-later
// Menus on the heap that delete themselves.
#include "views/pages/common/popup_menu.h"

namespace tenon::views {

QMenu* makePopupMenu(QWidget* parent)
{
    auto* menu = new QMenu(parent);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    return menu;
}

} // namespace tenon::views
