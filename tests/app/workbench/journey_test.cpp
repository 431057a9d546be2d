// SPDX-License-Identifier: GPL-3.0-or-later
// The main journey in a real window: an X server, real key and mouse events, the real engine.
#include "app/workbench/engine.h"
#include "app/workbench/main_window.h"

#include <QApplication>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>
#include <QThread>

#include <cstdio>

using namespace tenon;
using namespace tenon::app;

namespace {

class JourneyTest : public QObject
{
    Q_OBJECT

private:
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 180000);
    }
    static void xdotool(const QStringList& arguments)
    {
        QProcess process;
        process.start(QStringLiteral("xdotool"), arguments);
        process.waitForStarted();
        QVERIFY(QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, 20000));
        QTest::qWait(80);
    }
    static void key(MainWindow& window, const QString& name)
    {
        xdotool({QStringLiteral("windowfocus"), QString::number(window.winId()),
                 QStringLiteral("key"), name});
    }
    static void click(const QWidget& widget, QPoint place)
    {
        const QPoint at = widget.mapToGlobal(place);
        xdotool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
                 QStringLiteral("click"), QStringLiteral("1")});
    }

private slots:
    void opensStepsSelectsCompilesCancelsAndMeasures()
    {
        MainWindow window(makeEngine({}), {}, {true, true, QStringLiteral(TENON_SAMPLE_MODEL), 2});
        window.move(0, 0);
        window.resize(1600, 1000);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        auto* start = window.findChild<views::StartPage*>();
        for (auto* button : start->findChildren<views::PillButton*>())
            if (button->text().contains(QStringLiteral("sample")))
                click(*button, button->rect().center());
        QVERIFY(QTest::qWaitFor([&] { return window.workspace().state().hasDocument; }, 60000));
        QVERIFY(settle(window));

        key(window, QStringLiteral("alt+2"));
        for (int i = 0; i < 20 && window.passes().state().title != QStringLiteral("FuseOps"); ++i)
            key(window, QStringLiteral("f"));
        QCOMPARE(window.passes().state().title, QStringLiteral("FuseOps"));

        views::GraphCanvas& canvas = window.passesPage().canvas();
        int frame = -1;
        for (const uint32_t item : canvas.visibleItems())
            if (canvas.scene().items[item].isFrame && frame < 0 &&
                canvas.rect().contains(
                    (canvas.pixelRect(static_cast<int>(item)).topLeft() + QPointF(24, 12))
                        .toPoint()))
                frame = static_cast<int>(item);
        QVERIFY(frame >= 0);
        click(canvas, (canvas.pixelRect(frame).topLeft() + QPointF(24, 12)).toPoint());
        QCOMPARE(canvas.selectedItem(), frame);
        QVERIFY(!window.passes().lineage().rows.empty());

        key(window, QStringLiteral("ctrl+shift+b"));
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().document()->isCompiled(),
                 qPrintable(window.workspace().state().bannerText));
        window.showCodeTab(QStringLiteral("assembly"));
        QVERIFY(settle(window));
        bool isShown = false;
        for (const auto* view : window.passesPage().findChildren<views::CodeView*>())
            isShown |= view->toPlainText().contains(QStringLiteral("ret"));
        QVERIFY2(isShown, qPrintable(window.inspector().state().title + QStringLiteral(": ") +
                                     window.inspector().state().codeMessage));

        key(window, QStringLiteral("ctrl+r"));
        if (window.workspace().state().isBusy) key(window, QStringLiteral("shift+F5"));
        QVERIFY(settle(window));
        key(window, QStringLiteral("ctrl+r"));
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().document()->measurement.has_value(),
                 qPrintable(window.workspace().state().bannerText));
        key(window, QStringLiteral("Next"));
        QVERIFY(QTest::qWaitFor(
            [&] {
                const auto& items = window.passes().scene()->items;
                return std::any_of(items.begin(), items.end(),
                                   [](const views::SceneItem& i) { return !i.figure.isEmpty(); });
            },
            20000));
    }
};

/// 77 tells CTest that the test was skipped; a required tool makes it fail instead.
int skip(const char* tool)
{
    const QByteArray required = qgetenv("TENON_REQUIRE");
    std::printf("SKIP %s is not installed\n", tool);
    return required.contains("xvfb") ? 1 : 77;
}

} // namespace

int main(int argc, char** argv)
{
    if (QStandardPaths::findExecutable(QStringLiteral("Xvfb")).isEmpty()) return skip("Xvfb");
    if (QStandardPaths::findExecutable(QStringLiteral("xdotool")).isEmpty()) return skip("xdotool");
    QProcess server;
    server.start(QStringLiteral("Xvfb"),
                 {QStringLiteral("-displayfd"), QStringLiteral("1"), QStringLiteral("-screen"),
                  QStringLiteral("0"), QStringLiteral("1600x1000x24")});
    if (!server.waitForReadyRead(20000)) return skip("a working Xvfb");
    qputenv("DISPLAY", ':' + server.readAllStandardOutput().trimmed());
    qputenv("QT_QPA_PLATFORM", "xcb");
    int code = 1;
    {
        QApplication application(argc, argv);
        JourneyTest test;
        code = QTest::qExec(&test, argc, argv);
    }
    server.kill();
    server.waitForFinished();
    return code;
}

#include "journey_test.moc"
