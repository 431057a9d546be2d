// SPDX-License-Identifier: GPL-3.0-or-later
// The whole window offscreen with the real engine: every page, overlay and theme with the sample
// model; errors stay inside the window.
#include "app/workbench/engine.h"
#include "app/workbench/main_window.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class WindowTest : public QObject
{
    Q_OBJECT

private:
    static WindowOptions options() { return {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1}; }
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }

private slots:
    void startsEmptyAndOpensTheSample()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1280, 800);
        window.show();
        QVERIFY(!window.workspace().state().hasDocument);
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().state().hasDocument,
                 qPrintable(window.workspace().state().bannerText));
        QCOMPARE(window.workspace().state().errorCount, 0);
        for (const char* page : {"inspect", "passes", "benchmark"}) {
            QVERIFY(window.showPerspective(QLatin1String(page)));
            QVERIFY(!window.grab().isNull());
        }
        QVERIFY(!window.showPerspective(QStringLiteral("no such page")));
        window.setDark(true);
        for (const char* overlay : {"palette", "keys", "log", "target"}) {
            window.openOverlay(QLatin1String(overlay));
            QVERIFY(!window.grab().isNull());
            QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window,
                            Qt::Key_Escape);
        }
    }

    void compilesAndShowsAssemblyOfAFusedKernel()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.resize(1600, 1000);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        window.workspace().compile();
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().document()->isCompiled(),
                 qPrintable(window.workspace().state().bannerText));
        window.showPerspective(QStringLiteral("passes"));
        QVERIFY(window.showPass(QStringLiteral("FuseOps")));
        QVERIFY(window.selectNode(QStringLiteral("conv2d")));
        window.showCodeTab(QStringLiteral("assembly"));
        QVERIFY(settle(window));
        bool isShown = false;
        for (const views::CodeView* view : window.findChildren<views::CodeView*>())
            isShown |= view->toPlainText().contains(QStringLiteral("ret"));
        QVERIFY(isShown);
    }

    void keepsAliveOnBadFiles()
    {
        QTemporaryDir folder;
        const QString bad = folder.filePath(QStringLiteral("bad.onnx"));
        QFile file(bad);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("\x08\x07\x3a\xff\xff\xff garbage");
        file.close();
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        for (const QString& path : {bad, folder.filePath(QStringLiteral("missing.onnx"))}) {
            window.openModel(path);
            QVERIFY(settle(window));
            QVERIFY(!window.workspace().state().bannerTitle.isEmpty());
            QVERIFY(!window.workspace().state().bannerText.isEmpty());
        }
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().bannerTitle.isEmpty());
        QVERIFY(window.workspace().state().hasDocument);
    }

    void everyCommandIsInThePalette()
    {
        MainWindow window(makeEngine({}), {}, options());
        window.show();
        PaletteModel* model = window.findChild<PaletteModel*>();
        QVERIFY(model);
        model->load();
        for (const ActionSpec& spec : window.actions().specs()) {
            if (!spec.run || spec.id.startsWith(QLatin1String("recent"))) continue;
            QString text = spec.text;
            text.replace(QStringLiteral("&&"), QStringLiteral("&"));
            model->setQuery(text);
            QVERIFY2(model->rowCount() > 0 && model->entry(0)->text == text, qPrintable(text));
        }
    }

    void noTwoActionsShareAKey()
    {
        MainWindow window(makeEngine({}), {}, options());
        QSet<QString> seen;
        for (const ActionSpec& spec : window.actions().specs())
            for (const QString& keys : spec.keys.split(QStringLiteral(", "), Qt::SkipEmptyParts)) {
                QVERIFY2(!seen.contains(keys), qPrintable(keys));
                seen.insert(keys);
            }
    }
};

QTEST_MAIN(WindowTest)
#include "window_test.moc"
