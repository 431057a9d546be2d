// SPDX-License-Identifier: GPL-3.0-or-later
// What tables, charts and graphs of the window share.
#pragma once

namespace tenon::app {

class MainWindow;

/// They learn where one can go from their rows and cards, and how to ask for a file.
void hostExhibits(MainWindow& window);

} // namespace tenon::app
