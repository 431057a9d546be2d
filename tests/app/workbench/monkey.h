// SPDX-License-Identifier: GPL-3.0-or-later
// Monkey: random events into a window, as a windowing system would deliver them.
#pragma once

#include "app/workbench/main_window.h"

#include <QTemporaryDir>
#include <QTimer>

#include <memory>
#include <random>

namespace tenon::tests {

class Monkey
{
public:
    /// `models` are paths to open, also such that cannot be; `makeEngine` is asked for each window.
    Monkey(uint64_t seed, QStringList models, std::function<views::Engine()> makeEngine);

    /// One event, and what it makes the window do at once; says what it was.
    std::string act();
    /// Cancels and closes what is open; false when something still runs after that long.
    bool settle(int patienceMs);

private:
    using Act = std::string (Monkey::*)();
    std::string click();
    std::string doubleClick();
    std::string drag();
    std::string wheel();
    std::string hover();
    std::string pressKey();
    std::string type();
    std::string resize();
    std::string trigger();
    std::string switchPage();
    std::string openModel();
    std::string changeTarget();
    std::string chooseBoard();
    std::string deploy();
    std::string dropFile();
    std::string cancel();
    std::string grab();
    std::string wait();
    std::string reopen();

    int below(int count);
    QWidget* surface() const; ///< what gets the mouse: a menu that is open, else the window
    QWidget* anyPart();
    QPoint pointIn(const QWidget& part);
    QString model() { return m_models[below(static_cast<int>(m_models.size()))]; }
    void keyTo(Qt::Key key, const QString& text, Qt::KeyboardModifiers modifiers);
    std::string mouse(const char* what, QPoint at, int presses);
    void makeWindow();
    void leaveLoops();

    std::mt19937_64 m_random;
    QStringList m_models;
    std::function<views::Engine()> m_makeEngine;
    QTemporaryDir m_folder;
    std::unique_ptr<app::MainWindow> m_window;
    QTimer m_watch;
    int m_acts = 0, m_seen = -1;
};

} // namespace tenon::tests
