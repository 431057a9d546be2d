// SPDX-License-Identifier: GPL-3.0-or-later
// Key strokes and clicks as an X server hands them out, and an X server to do so.
#pragma once

#include <QStringList>
#include <QWidget>

#include <functional>

namespace tenon::app {

// Everything is waited for by its effect, with patience for a machine that does other work.
constexpr int kEventPatienceMs = 400000;

/// Presses a key, in xdotool's name for it, in the window.
void pressKey(const QWidget& window, const QString& name);
/// Letters, digits and what else xdotool has a name for here.
void typeText(const QWidget& window, const QString& text);
/// The key's name; empty is what is not typed here.
QString keyOf(QChar letter);
/// The left button, somewhere in a widget.
void clickOn(const QWidget& widget, QPoint place);
void rightClickOn(const QWidget& widget, QPoint place);
/// Presses the left button at one place, and leaves it at another.
void dragBetween(QPoint from, QPoint to);

/// Runs a test's main function on a display of its own, "1600x1000x24" large; 77, which tells
/// CTest that it was skipped, where Xvfb or xdotool is missing, or 1 where they are required.
int onOwnDisplay(int argc, char** argv, const char* size, const std::function<int()>& run);

} // namespace tenon::app
