// SPDX-License-Identifier: GPL-3.0-or-later
// The model tried on a picture in the window with the real engine: dropped, run, remembered, and
// what is no picture.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "compiler/frontend/tensor_file.h"
#include "tests/app/runs/samples/sample_files.h"
#include "views/frame/drop_hint.h"
#include "views/frame/trial_sheet.h"

#include <QDropEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tenon;
using namespace tenon::app;

class TrialTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    /// The sample's first example, a rendered 3.
    QString pictureOfThree()
    {
        const QString sets = QFileInfo(QStringLiteral(TENON_SAMPLE_MODEL)).path();
        const auto tensor = compiler::readTensorFile(
            (sets + QStringLiteral("/test_data_set_0/input_0.pb")).toStdString());
        if (!tensor) return {};
        runs::Picture picture{32, 32, {}};
        for (int64_t i = 0; i < 32 * 32; ++i)
            picture.pixels.insert(
                picture.pixels.end(), 3,
                static_cast<uint8_t>(std::lround(tensor->tensor.number(i) * 255)));
        const QString path = m_folder.filePath(QStringLiteral("three.png"));
        test::writePng(path.toStdString(), picture);
        return path;
    }
    static void drop(MainWindow& window, const QString& path)
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&window, &enter);
        QDropEvent event(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&window, &event);
    }

private slots:
    void namesTheDigitOfADroppedPicture()
    {
        WindowOptions options;
        options.settingsPath = m_folder.filePath(QStringLiteral("settings.json"));
        MainWindow window(makeEngine({}), {}, options);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        test::writeText(m_folder.filePath(QStringLiteral("names.txt")).toStdString(),
                        "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        const QString picture = pictureOfThree();
        drop(window, picture);
        auto& sheet = window.part<views::TrialSheet>();
        QVERIFY(sheet.isVisible());
        QVERIFY(settle(window));
        const auto& rows = sheet.trial().results().rows();
        QVERIFY2(rows.size() == 5, qPrintable(sheet.trial().state().summary));
        QCOMPARE(rows[0].detail, QStringLiteral("3"));
        QVERIFY(rows[0].share > 0.9);
        QCOMPARE(sheet.trial().state().seen.width, 32);
        QCOMPARE(sheet.trial().state().effective,
                 QStringLiteral("size=32x32 fit=cover layout=nchw scale=1/255 mean=0 std=1"));
        sheet.labels().setText(m_folder.filePath(QStringLiteral("names.txt")));
        sheet.preprocessing().setText(QStringLiteral("unit fit=stretch"));
        QVERIFY(sheet.trial().state().commandLine.contains(QStringLiteral("--image ") + picture));
        QTest::mouseClick(&sheet.runButton(), Qt::LeftButton);
        QVERIFY(settle(window));
        QCOMPARE(sheet.trial().results().rows()[0].title, QStringLiteral("three"));
        const Settings kept = loadSettings(options.settingsPath);
        QCOMPARE(kept.samples.size(), size_t{1});
        QCOMPARE(kept.samples.begin()->second.preprocessing, QStringLiteral("unit fit=stretch"));

        MainWindow again(makeEngine({}), kept, options);
        again.show();
        again.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(again));
        again.openOverlay(QStringLiteral("try"));
        QCOMPARE(again.part<views::TrialSheet>().preprocessing().text(),
                 QStringLiteral("unit fit=stretch"));
    }

    void saysWhatIsNoPicture()
    {
        MainWindow window(makeEngine({}), {}, {true, false, {}, 1});
        window.show();
        const QString path = m_folder.filePath(QStringLiteral("none.png"));
        test::writeText(path.toStdString(), "no picture");
        drop(window, path);
        QVERIFY2(window.workspace().state().bannerText.contains(QStringLiteral("open one first")),
                 qPrintable(window.workspace().state().bannerText));
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        drop(window, path);
        QVERIFY(settle(window));
        auto& sheet = window.part<views::TrialSheet>();
        QVERIFY2(sheet.trial().state().summary.contains(QStringLiteral("neither a PNG nor a JPEG")),
                 qPrintable(sheet.trial().state().summary));
        sheet.preprocessing().setText(QStringLiteral("mean=red"));
        QVERIFY(!sheet.runButton().isEnabled());
        QVERIFY(sheet.trial().state().problem.contains(QStringLiteral("`mean=red`")));
        sheet.preprocessing().clear();
        sheet.file().setText(m_folder.filePath(QStringLiteral("gone.png")));
        QVERIFY(!sheet.runButton().isEnabled());
    }
};

QTEST_MAIN(TrialTest)
#include "trial_test.moc"
