// SPDX-License-Identifier: GPL-3.0-or-later
// The pages as the window knows them: values of which it asks all alike, and actions that act on
// the page that is looked at.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/pages/common/notice.h"
#include "views/pages/inspect/inspect_page.h"

#include <QTest>

using namespace tenon;
using namespace tenon::app;

class PagesTest : public QObject
{
    Q_OBJECT

private:
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    static WindowOptions options() { return {true, false, {}, 1}; }

private slots:
    void takesPagesAsValues()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        QSet<QString> names;
        for (const views::Page& page : window.pages()) {
            QVERIFY2(page.widget && page.focus && !page.tip.isEmpty(), qPrintable(page.name));
            QVERIFY(page.widget->isAncestorOf(page.focus));
            QVERIFY2(!names.contains(page.name), qPrintable(page.name));
            names << page.name;
            window.actions().action(QStringLiteral("show-") + page.name)->trigger();
            QVERIFY2(page.widget->isVisible(), qPrintable(page.name));
            // Before a model is open, too, something there says what would be seen.
            const auto notices = page.widget->findChildren<views::EmptyNotice*>();
            QVERIFY2(page.canvas || std::any_of(notices.begin(), notices.end(),
                                                [](auto* notice) { return notice->isVisible(); }),
                     qPrintable(page.name));
        }
    }

    void actsOnTheShownPage()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        auto& inspect = window.part<views::InspectPage>();
        const auto run = [&](const char* id) {
            window.actions().action(QLatin1String(id))->trigger();
        };
        window.showPerspective(QStringLiteral("memory"));
        run("table"); // of no page that is looked at
        QVERIFY(!inspect.graphTwin().isTable());
        run("issues"); // belongs to a page, which comes to the front
        QVERIFY(inspect.isVisible());
        run("table");
        QVERIFY(inspect.graphTwin().isTable());
        QVERIFY(window.actions().action(QStringLiteral("shapes"))->isEnabled());
        QVERIFY(!window.actions().action(QStringLiteral("measure-executors"))->isEnabled());
    }

    void leadsFromAMemberToItsNodeOnEveryPage()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        for (const views::Page& page : window.pages()) {
            if (!page.inspector) continue;
            const auto& order = window.workspace().document()->imported.main().order;
            window.workspace().selection().select({});
            emit page.inspector->nodeRequested(order.back());
            QCOMPARE(window.workspace().selection().node(), order.back());
        }
    }
};

QTEST_MAIN(PagesTest)
#include <algorithm>

#include "pages_test.moc"
