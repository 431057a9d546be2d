// SPDX-License-Identifier: GPL-3.0-or-later
// WindowUser: a test that acts on a window as people do and waits for what they would see.
#pragma once

#include "app/engine/engine.h"
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

    /// What runs behind it, with a folder of its own.
    EngineOptions engineOptions() const
    {
        EngineOptions engine;
        engine.configFolder = m_folder.filePath(QStringLiteral("config"));
        return engine;
    }
    void makeWindow(const views::AskForFile& askForFile = views::askWithDialog)
    {
        makeWindow(makeEngine(engineOptions()), askForFile);
    }
    void makeWindow(const views::Engine& engine,
                    const views::AskForFile& askForFile = views::askWithDialog)
    {
        WindowOptions options{false, true, QStringLiteral(TENON_SAMPLE_MODEL), 2,
                              m_folder.filePath(QStringLiteral("settings.json"))};
        options.askForFile = askForFile;
        m_window = std::make_unique<MainWindow>(engine, Settings(), options);
        m_window->move(0, 0);
        m_window->resize(1366, 768);
        m_window->show();
    }
    /// The sample, compiled.
    void compileSample()
    {
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get(), kEventPatienceMs));
        m_window->openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle());
        press("ctrl+shift+b");
        QVERIFY(waitFor([&] { return m_window->workspace().document()->isCompiled(); }));
        QVERIFY(settle());
    }

    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

} // namespace tenon::app
