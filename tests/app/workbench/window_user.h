// SPDX-License-Identifier: GPL-3.0-or-later
// WindowUser: a test that acts on a window as people do and waits for what they would see.
#pragma once

#include "app/workbench/main_window.h"
#include "tests/app/workbench/real_events.h"

#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace tenon::app {

class WindowUser : public QObject
{
protected:
    template <class Condition>
    static bool waitFor(Condition condition)
    {
        return QTest::qWaitFor(condition, kEventPatienceMs);
    }
    bool settle() const
    {
        return waitFor([&] { return m_window->isSettled(); });
    }
    void press(const char* key) const { pressKey(*m_window, QLatin1String(key)); }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

} // namespace tenon::app
