// SPDX-License-Identifier: GPL-3.0-or-later
// Keys: letters act anywhere on their page but in fields, F6 walks the panes.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/frame/target_sheet.h"
#include "views/pages/common/notice.h"
#include "views/pages/inspect/inspect_page.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/passes/passes_page.h"

#include <QTest>

#include <set>

using namespace tenon;
using namespace tenon::app;

class KeysTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<MainWindow> m_window;

    bool settle() const
    {
        return QTest::qWaitFor([&] { return m_window->isSettled(); }, 120000);
    }
    static const views::Panel* paneOf(const QWidget* widget)
    {
        for (; widget; widget = widget->parentWidget())
            if (const auto* panel = qobject_cast<const views::Panel*>(widget)) return panel;
        return nullptr;
    }

private slots:
    void initTestCase()
    {
        m_window = std::make_unique<MainWindow>(
            makeEngine({}), Settings(),
            WindowOptions{true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        m_window->resize(1366, 768);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        m_window->openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle());
    }
    void cleanupTestCase() { m_window.reset(); }

    void actAnywhereOnThePage()
    {
        m_window->showPerspective(QStringLiteral("passes"));
        QVERIFY(settle());
        auto& page = m_window->part<views::PassesPage>();
        for (QWidget* part :
             {static_cast<QWidget*>(page.findChild<views::PassList*>()),
              static_cast<QWidget*>(page.findChild<views::DataTable*>()),
              static_cast<QWidget*>(&page.modes()), static_cast<QWidget*>(&page.canvas())}) {
            m_window->passes().showVersion(1);
            part->setFocus();
            QTest::keyClick(part, Qt::Key_F);
            QVERIFY2(m_window->passes().state().version > 1, part->metaObject()->className());
            QTest::keyClick(part, Qt::Key_C);
            QVERIFY2(m_window->passes().looks().isColoured, part->metaObject()->className());
            m_window->passes().setLooks({});
        }
        const int version = m_window->passes().state().version;
        page.filter().setFocus(); // what is typed is no command
        QTest::keyClick(&page.filter(), Qt::Key_F);
        QCOMPARE(m_window->passes().state().version, version);
        QCOMPARE(page.filter().text(), QStringLiteral("f"));
        page.filter().clear();
    }

    void leaveTheGraphByTab()
    {
        m_window->showPerspective(QStringLiteral("passes"));
        views::GraphCanvas& canvas = m_window->part<views::PassesPage>().canvas();
        canvas.setFocus();
        canvas.walkOrder(1);
        const int selected = canvas.selectedItem();
        QVERIFY(selected >= 0);
        QTest::keyClick(&canvas, Qt::Key_N);
        const int next = canvas.selectedItem();
        QVERIFY(next != selected);
        QTest::keyClick(&canvas, Qt::Key_Tab);
        QCOMPARE(canvas.selectedItem(), next);
        QVERIFY(!canvas.hasFocus());
    }

    /// A stop that cannot be seen looks like a key that does nothing.
    void stopOnlyAtPartsOfTheWindow()
    {
        m_window->showPerspective(QStringLiteral("inspect"));
        QVERIFY(settle());
        m_window->setFocus();
        QVERIFY(m_window->hasFocus());
        std::vector<QWidget*> stops;
        for (int i = 0; i < 60; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            QWidget* focus = QApplication::focusWidget();
            QVERIFY(focus && focus != m_window.get());
            QVERIFY2(focus->isVisible() && !focus->visibleRegion().isEmpty(),
                     focus->metaObject()->className());
            if (!stops.empty() && focus == stops.front()) break;
            stops.push_back(focus);
        }
        QVERIFY(stops.size() < 60); // it is a round
        // Along the header of the graph from left to right.
        auto& page = m_window->part<views::InspectPage>();
        const views::Panel* graph = paneOf(&page.canvas());
        int x = -1, count = 0;
        for (const QWidget* stop : stops) {
            if (stop == &page.canvas() || paneOf(stop) != graph) continue;
            const int at = stop->mapTo(graph, QPoint()).x();
            QVERIFY2(at > x, qPrintable(stop->accessibleName()));
            x = at;
            ++count;
        }
        QVERIFY(count >= 4);
    }

    void leaveTheFocusWhereTheButtonWas()
    {
        const views::ThemeSource themes(false);
        views::Panel panel(themes, QStringLiteral("panel"));
        auto* notice = new views::EmptyNotice(themes, QStringLiteral("title"),
                                              QStringLiteral("text"), QStringLiteral("Do"));
        panel.content()->addWidget(notice);
        auto* other =
            new views::PillButton(themes, views::PillButton::Look::Plain, QStringLiteral("other"));
        panel.content()->addWidget(other);
        panel.show();
        QVERIFY(QTest::qWaitForWindowActive(&panel));
        auto* button = notice->findChild<views::PillButton*>();
        button->setFocus();
        notice->setActionEnabled(false);
        QVERIFY(!other->hasFocus());
        notice->setActionEnabled(true);
        QVERIFY(button->hasFocus());
        notice->hide();
        QVERIFY(!other->hasFocus());
        QTest::keyClick(&panel, Qt::Key_Tab);
        QVERIFY(other->hasFocus());
        panel.hide();
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

    void closeTheSheetThatCoversThePage()
    {
        m_window->showPerspective(QStringLiteral("inspect"));
        m_window->openOverlay(QStringLiteral("target-editor"));
        const auto* sheet = &m_window->part<views::TargetSheet>();
        QVERIFY(sheet->isVisible());
        m_window->actions().action(QStringLiteral("show-memory"))->trigger();
        QVERIFY(!sheet->isVisible());
        QVERIFY(m_window->part<views::MemoryPage>().isVisible());
    }

    /// Return goes on to the next match, and the field says where one is.
    void countWhatIsFound()
    {
        m_window->showPerspective(QStringLiteral("inspect"));
        QVERIFY(settle());
        auto& page = m_window->part<views::InspectPage>();
        auto* field = page.findChild<views::FindField*>();
        m_window->workspace().selection().select({});
        page.focusFind();
        QTest::keyClicks(field, QStringLiteral("conv2d"));
        const int count = field->note().toInt();
        QVERIFY2(count > 1, qPrintable(field->note()));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(field->note(), QStringLiteral("1/%1").arg(count));
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(field->note(), QStringLiteral("2/%1").arg(count));
        page.canvas().selectPlace(views::kNoPlace);
        emit page.canvas().placeSelected(views::kNoPlace);
        QCOMPARE(field->note(), QString::number(count));
        QTest::keyClicks(field, QStringLiteral("zz"));
        QCOMPARE(field->note(), QStringLiteral("none"));
        QVERIFY(!field->accessibleDescription().isEmpty());
        field->clear();
        QVERIFY(field->note().isEmpty());
    }

    void showThePeakFromAnyPartOfTheMemoryPage()
    {
        m_window->showPerspective(QStringLiteral("memory"));
        QVERIFY(settle());
        m_window->memory().showCall(0);
        auto& page = m_window->part<views::MemoryPage>();
        page.planners().setFocus();
        QTest::keyClick(&page.planners(), Qt::Key_K);
        QCOMPARE(m_window->memory().state().call, m_window->memory().curve().peakCall);
    }

    /// Every pane of every page is reached, and the round ends where it began.
    void walkThePanes()
    {
        for (const views::Page& page : m_window->pages()) {
            m_window->showPerspective(page.name);
            QVERIFY(settle());
            page.focus->setFocus();
            std::set<const views::Panel*> reached;
            for (int i = 0; i < 20; ++i) {
                m_window->actions().action(QStringLiteral("next-pane"))->trigger();
                QWidget* focus = QApplication::focusWidget();
                QVERIFY2(focus, qPrintable(page.name));
                if (const views::Panel* pane = paneOf(focus)) reached.insert(pane);
            }
            for (const auto* panel : page.widget->findChildren<views::Panel*>()) {
                bool canTakeFocus = false;
                for (const auto* part : panel->findChildren<QWidget*>())
                    canTakeFocus |= part->isVisible() && part->isEnabled() &&
                                    (part->focusPolicy() & Qt::TabFocus);
                if (panel->isVisible() && canTakeFocus)
                    QVERIFY2(reached.count(panel), qPrintable(page.name));
            }
            const QWidget* here = QApplication::focusWidget();
            m_window->actions().action(QStringLiteral("next-pane"))->trigger();
            m_window->actions().action(QStringLiteral("previous-pane"))->trigger();
            QCOMPARE(QApplication::focusWidget(), here);
        }
    }
};

QTEST_MAIN(KeysTest)
#include "keys_test.moc"
