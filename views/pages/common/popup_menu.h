// SPDX-License-Identifier: GPL-3.0-or-later
// Menus that open and return: nothing waits inside of a handler while other events come.
#pragma once

#include <QMenu>

namespace tenon::views {

/// Goes when it is closed, or with its parent; fill it and call popup(). A menu that is executed
/// instead would keep the caller's frame alive while the window behind it changes or closes.
QMenu* makePopupMenu(QWidget* parent);

} // namespace tenon::views
