// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of what was measured before, with a real window, keys and the mouse: a run is opened, held
// beside another, copied and exported.
#include "tests/app/workbench/window_user.h"
#include "views/frame/run_sheet.h"
#include "views/pages/deploy/deploy_page.h"

#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QMenu>

using namespace tenon;
using namespace tenon::app;

namespace {

class HistoriesTest : public WindowUser
{
    Q_OBJECT

private:
    views::DataTable& history() const { return m_window->part<views::DeployPage>().history(); }
    views::RunSheet& sheet() const { return *m_window->findChild<views::RunSheet*>(); }
    views::DataTable& table(const char* name) const
    {
        for (auto* each : sheet().findChildren<views::DataTable*>())
            if (each->accessibleName() == QLatin1String(name)) return *each;
        qFatal("no such table");
    }
    static QPoint placeOf(const views::DataTable& table, int row)
    {
        return table.visualRect(table.model()->index(row, 0)).center();
    }
    static void clickRow(const views::DataTable& table, int row)
    {
        clickOn(*table.viewport(), placeOf(table, row));
        QVERIFY(waitFor([&] { return table.selectionModel()->isRowSelected(row); }));
    }
    /// An entry of the menu that is open.
    void choose(const QString& text) const
    {
        QMenu* menu = nullptr;
        QVERIFY(waitFor([&] {
            menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            return menu && menu->isVisible();
        }));
        for (QAction* action : menu->actions()) {
            if (!action->text().startsWith(text)) continue;
            clickOn(*menu, menu->actionGeometry(action).center());
            QVERIFY(waitFor([&] { return QApplication::activePopupWidget() == nullptr; }));
            return;
        }
        QFAIL(qPrintable(QStringLiteral("no entry ") + text));
    }
    void measure(int runs) const
    {
        press("ctrl+r");
        QVERIFY(waitFor([&] { return m_window->deploy().history().rowCount() == runs; }));
        QVERIFY(settle());
    }
    void open(int row) const
    {
        clickRow(history(), row);
        press("Return");
        QVERIFY(waitFor([&] { return sheet().isVisible(); }));
    }
    void close() const
    {
        press("Escape");
        QVERIFY(waitFor([&] { return !sheet().isVisible(); }));
    }
    QString comparison() const
    {
        return sheet().findChild<views::ThemedLabel*>(QStringLiteral("comparison"))->text();
    }

    QString m_answer; ///< to whoever asks for a file

private slots:
    void initTestCase()
    {
        EngineOptions options = engineOptions();
        options.repeats = 6;
        makeWindow(makeEngine(options), [this](QWidget*, const views::FileQuestion&,
                                               const views::TakeFile& take) { take(m_answer); });
        compileSample();
        for (int runs = 1; runs <= 3; ++runs) measure(runs);
        press("alt+5");
        QVERIFY(waitFor([&] { return history().isVisible(); }));
    }
    void cleanupTestCase() { m_window.reset(); }

    void openARunByKeyAndByButton()
    {
        open(0);
        const auto& newest = m_window->deploy().history().rows().front();
        QCOMPARE(table("Kernel calls of both runs").model()->rowCount(),
                 static_cast<int>(newest.calls.size()));
        QVERIFY(!newest.calls.empty());
        close();
        // The focus is back where it was: the next row is one key away.
        press("Down");
        QVERIFY(waitFor([&] { return history().selectionModel()->isRowSelected(1); }));
        QWidget* button = nullptr;
        for (auto* each : m_window->part<views::DeployPage>().findChildren<views::PillButton*>())
            if (each->accessibleName() == QLatin1String("Open the selected measurement"))
                button = each;
        QVERIFY(button);
        clickOn(*button, button->rect().center());
        QVERIFY(waitFor([&] { return sheet().isVisible(); }));
        close();
    }

    void compareTwoRuns()
    {
        open(0);
        views::DataTable& runs = table("Runs to compare with");
        QCOMPARE(runs.model()->rowCount(), 3);
        QVERIFY(waitFor([&] { return runs.selectionModel()->isRowSelected(1); })); // the one before
        const QString before = comparison();
        clickRow(runs, 2);
        QVERIFY(waitFor([&] { return comparison() != before; }));
        press("Up"); // by key as well
        QVERIFY(waitFor([&] { return comparison() == before; }));
        close();
    }

    void copyAndExport()
    {
        open(0);
        views::DataTable& calls = table("Kernel calls of both runs");
        clickRow(calls, 0);
        QGuiApplication::clipboard()->clear();
        press("ctrl+c");
        const QString name = calls.model()->index(0, 0).data().toString();
        QVERIFY(waitFor([&] { return QGuiApplication::clipboard()->text().startsWith(name); }));
        m_answer = m_folder.filePath(QStringLiteral("calls.csv"));
        rightClickOn(*calls.viewport(), placeOf(calls, 0));
        choose(QStringLiteral("Export as CSV"));
        QVERIFY(waitFor([&] { return QFile::exists(m_answer); }));
        close();
        const QString runs = m_folder.filePath(QStringLiteral("runs.csv"));
        rightClickOn(*history().viewport(), placeOf(history(), 1));
        m_answer = runs;
        choose(QStringLiteral("Export as CSV"));
        QVERIFY(waitFor([&] { return QFile::exists(runs); }));
        QFile file(runs);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll().count('\n'), 1 + 3); // heads and runs
    }
};

} // namespace

int main(int argc, char** argv)
{
    return onOwnDisplay(argc, argv, "1366x768x24", [&] {
        HistoriesTest test;
        return QTest::qExec(&test, argc, argv);
    });
}

#include "histories_test.moc"
