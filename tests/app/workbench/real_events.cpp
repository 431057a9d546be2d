// SPDX-License-Identifier: GPL-3.0-or-later
// xdotool speaks to Xvfb.
#include "tests/app/workbench/real_events.h"

#include <QApplication>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <cstdio>

namespace tenon::app {

namespace {

void xdotool(const QStringList& arguments)
{
    QProcess process;
    process.start(QStringLiteral("xdotool"), arguments);
    QVERIFY(process.waitForStarted(kEventPatienceMs));
    QVERIFY(
        QTest::qWaitFor([&] { return process.state() == QProcess::NotRunning; }, kEventPatienceMs));
    QCOMPARE(process.exitCode(), 0);
}

int skip(const char* tool)
{
    const QByteArray required = qgetenv("TENON_REQUIRE");
    std::printf("SKIP %s is not installed\n", tool);
    return required.contains("xvfb") ? 1 : 77;
}

} // namespace

void pressKey(const QWidget& window, const QString& name)
{
    xdotool({QStringLiteral("windowfocus"), QString::number(window.winId()), QStringLiteral("key"),
             name});
}

QString keyOf(QChar letter)
{
    if (letter.isLetterOrNumber() && letter.unicode() < 128) return letter;
    switch (letter.unicode()) {
    case '_': return QStringLiteral("underscore");
    case '/': return QStringLiteral("slash");
    case '.': return QStringLiteral("period");
    case '-': return QStringLiteral("minus");
    case '=': return QStringLiteral("equal");
    case ' ': return QStringLiteral("space");
    default: return {};
    }
}

void typeText(const QWidget& window, const QString& text)
{
    QStringList keys{QStringLiteral("windowfocus"), QString::number(window.winId()),
                     QStringLiteral("key")};
    for (const QChar letter : text) keys << keyOf(letter);
    xdotool(keys);
}

void rightClickOn(const QWidget& widget, QPoint place)
{
    const QPoint at = widget.mapToGlobal(place);
    xdotool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
             QStringLiteral("click"), QStringLiteral("3")});
}

void dragBetween(QPoint from, QPoint to)
{
    const auto at = [](QPoint p) {
        return QStringList{QStringLiteral("mousemove"), QString::number(p.x()),
                           QString::number(p.y()), QStringLiteral("sleep"), QStringLiteral("0.2")};
    };
    QStringList steps = at(from);
    steps << QStringLiteral("mousedown") << QStringLiteral("1");
    constexpr int kPieces = 6; // a drag begins after some way, and enters what it comes to
    for (int i = 1; i <= kPieces; ++i) steps << at(from + (to - from) * i / kPieces);
    steps << at(to) << QStringLiteral("mouseup") << QStringLiteral("1");
    xdotool(steps);
}

void clickOn(const QWidget& widget, QPoint place)
{
    const QPoint at = widget.mapToGlobal(place);
    xdotool({QStringLiteral("mousemove"), QString::number(at.x()), QString::number(at.y()),
             QStringLiteral("click"), QStringLiteral("1")});
}

int onOwnDisplay(int argc, char** argv, const char* size, const std::function<int()>& run)
{
    if (QStandardPaths::findExecutable(QStringLiteral("Xvfb")).isEmpty()) return skip("Xvfb");
    if (QStandardPaths::findExecutable(QStringLiteral("xdotool")).isEmpty()) return skip("xdotool");
    QProcess server;
    server.start(QStringLiteral("Xvfb"),
                 {QStringLiteral("-displayfd"), QStringLiteral("1"), QStringLiteral("-screen"),
                  QStringLiteral("0"), QLatin1String(size)});
    if (!server.waitForReadyRead(120000)) return skip("a working Xvfb");
    qputenv("DISPLAY", ':' + server.readAllStandardOutput().trimmed());
    qputenv("QT_QPA_PLATFORM", "xcb");
    qputenv("QTEST_FUNCTION_TIMEOUT", "1400000"); // ctest's limit comes after it
    int code = 1;
    {
        const QApplication application(argc, argv);
        code = run();
    }
    server.kill();
    server.waitForFinished();
    return code;
}

} // namespace tenon::app
