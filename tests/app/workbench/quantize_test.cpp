// SPDX-License-Identifier: GPL-3.0-or-later
// The quantize sheet in the window with the real engine: typed, clicked, warned, and the result
// opened.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "compiler/frontend/tensor_file.h"
#include "views/frame/quantize_sheet.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace tenon;
using namespace tenon::app;

class QuantizeTest : public QObject
{
    Q_OBJECT

private:
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    /// Waves of this height as the sample's pictures, `count` of them along the first axis.
    QString examples(const QString& name, int64_t count, double height)
    {
        std::vector<float> values;
        for (int64_t i = 0; i < count * 32 * 32; ++i)
            values.push_back(
                static_cast<float>(height * (0.5 + 0.5 * std::sin(static_cast<double>(i) * 0.37 +
                                                                  static_cast<double>(i / 1024)))));
        const QString path = m_folder.filePath(name);
        const core::Status written = compiler::writeTensorFile(
            path.toStdString(), core::Tensor::of<float>(core::kFloat32, {count, 1, 32, 32}, values),
            "image");
        return written ? path : QString();
    }

private slots:
    void equalizesAndWarnsOfUnlikeExamples()
    {
        MainWindow window(makeEngine({}), {}, {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        window.openOverlay(QStringLiteral("quantize"));
        auto* sheet = window.findChild<views::QuantizeSheet*>();
        QVERIFY(sheet && sheet->isVisible());
        QVERIFY(!sheet->quantizeButton().isEnabled());
        sheet->data().setText(examples(QStringLiteral("dim.npy"), 20, 0.4));
        sheet->evaluation().setText(examples(QStringLiteral("bright.npy"), 8, 1));
        sheet->quantization().setOutput(m_folder.filePath(QStringLiteral("q.onnx")));
        sheet->channels().setCurrentIndex(1);
        const views::QuantizeState& state = sheet->quantization().state();
        QVERIFY2(state.commandLine.contains(QStringLiteral(" --equalize --evaluate ")),
                 qPrintable(state.commandLine));
        QVERIFY2(sheet->quantizeButton().isEnabled(), qPrintable(state.problem));
        QTest::mouseClick(&sheet->quantizeButton(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !state.isRunning; }, 120000));
        QVERIFY2(!state.written.isEmpty(), qPrintable(state.summary));
        QVERIFY(QFileInfo::exists(state.written));
        QCOMPARE(state.warnings.size(), 1);
        QVERIFY2(state.warnings[0].contains(QStringLiteral("do not represent")),
                 qPrintable(state.warnings[0]));
        QVERIFY(sheet->quantization().tensors().rowCount() > 5);
        QTest::mouseClick(&sheet->openButton(), Qt::LeftButton);
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().path.endsWith(QStringLiteral("q.onnx")));
        QCOMPARE(window.workspace().state().errorCount, 0);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(QuantizeTest)
#include "quantize_test.moc"
