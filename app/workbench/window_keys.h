// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of the window that belong to no single action.
#pragma once

#include <QString>

#include <map>
#include <utility>

namespace tenon::app {

class MainWindow;

/// Letters act anywhere on their page.
void bindPageKeys(MainWindow& window);
/// To the pane that many further on, round and round.
void walkPanes(MainWindow& window, int step);
/// Of the sheet of keys: commands of one kind, by the first one's id, as one text with its keys;
/// those with an empty text are left out.
std::map<QString, std::pair<QString, QString>> sharedRows();

} // namespace tenon::app
