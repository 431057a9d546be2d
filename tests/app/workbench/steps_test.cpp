// SPDX-License-Identifier: GPL-3.0-or-later
// Into a pass and out of it with the keys of a person: its rewrites become steps, what is selected,
// compiled and measured stays.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "core/ir/graph_text.h"
#include "views/pages/passes/passes_page.h"

#include <QPushButton>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class StepsTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<MainWindow> m_window;

    bool settle() const
    {
        return QTest::qWaitFor([&] { return m_window->isSettled(); }, 120000);
    }
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = {})
    {
        QTest::keyClick(&m_window->part<views::PassesPage>().canvas(), key, modifiers);
        QVERIFY(settle());
    }
    const views::Document& document() const { return *m_window->workspace().document(); }
    const views::PassStep& shown() const
    {
        return document().passes[static_cast<size_t>(m_window->passes().state().version) - 1];
    }
    QPushButton* button(const QString& text) const
    {
        for (auto* found : m_window->part<views::PassesPage>().findChildren<QPushButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }

private slots:
    void init()
    {
        m_window = std::make_unique<MainWindow>(
            makeEngine({}), Settings(),
            WindowOptions{true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        m_window->resize(1366, 768);
        m_window->show();
        m_window->openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle());
        QVERIFY(m_window->showPerspective(QStringLiteral("passes")));
        QVERIFY(m_window->showPass(QStringLiteral("FuseOps")));
        QVERIFY(settle());
    }
    void cleanup() { m_window.reset(); }

    void stepsThroughTheRewritesOfAPass()
    {
        const size_t passes = document().passes.size();
        const QString after = QString::fromStdString(core::printModule(shown().after));
        const QString counts = m_window->passes().state().countText;
        press(Qt::Key_I);
        QVERIFY(document().stepped);
        QCOMPARE(shown().name, QStringLiteral("FuseOps"));
        QCOMPARE(shown().firstRewrite, 1);
        const int rewrites = shown().rewrites;
        QVERIFY2(rewrites > 3, qPrintable(QString::number(rewrites)));
        QCOMPARE(document().passes.size(), passes + static_cast<size_t>(rewrites) - 1);
        QCOMPARE(m_window->passes().state().countText, counts);
        QVERIFY(m_window->passes().state().title.contains(
            QStringLiteral("rewrite 1 of %1").arg(rewrites)));
        // Each step changes what its rewrite is about, and nothing else.
        for (int i = 1; i <= rewrites; ++i) {
            QCOMPARE(shown().lastRewrite, i);
            QCOMPARE(m_window->passes().deltas().rows().size(), shown().changes.size());
            int added = 0;
            for (const views::SceneItem& item : m_window->passes().scene()->items)
                added += item.state == views::DiffState::Added;
            QVERIFY2(added <= 2, qPrintable(QString::number(added)));
            if (i < rewrites) press(Qt::Key_PageDown);
        }
        QCOMPARE(QString::fromStdString(core::printModule(shown().after)), after);
        press(Qt::Key_I); // of one rewrite there is nothing inside
        QCOMPARE(shown().lastRewrite, rewrites);
        press(Qt::Key_I, Qt::ShiftModifier);
        QVERIFY(!document().stepped);
        QCOMPARE(document().passes.size(), passes);
        QCOMPARE(shown().name, QStringLiteral("FuseOps"));
    }

    void keepsWhatWasCompiled()
    {
        m_window->workspace().compile();
        QVERIFY(settle());
        const size_t calls = document().calls.size();
        const qint64 arena = document().memory->arenaBytes;
        QTest::mouseClick(button(QStringLiteral("Step inside")), Qt::LeftButton);
        QVERIFY(settle());
        QVERIFY(document().stepped);
        QCOMPARE(document().calls.size(), calls);
        QCOMPARE(document().memory->arenaBytes, arena);
        const core::Module& last = document().version(document().passes.size());
        for (const views::KernelCall& call : document().calls) QVERIFY(last.findNode(call.node));
        QTest::mouseClick(button(QStringLiteral("Whole passes")), Qt::LeftButton);
        QVERIFY(settle());
        QVERIFY(!document().stepped);
        QVERIFY(!button(QStringLiteral("Whole passes"))->isVisible());
    }

    void checksTheNumbersBehindEveryRewrite()
    {
        press(Qt::Key_I);
        m_window->actions().action(QStringLiteral("check-numbers"))->trigger();
        QVERIFY(settle());
        QVERIFY2(document().areNumbersChecked,
                 qPrintable(m_window->workspace().state().bannerText));
        for (const views::PassStep& step : document().passes)
            if (step.rewrites > 0 && step.isChanged) QVERIFY(step.maxAbsError);
    }
};

QTEST_MAIN(StepsTest)
#include "steps_test.moc"
