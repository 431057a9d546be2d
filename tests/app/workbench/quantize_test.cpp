// SPDX-License-Identifier: GPL-3.0-or-later
// The Quantize page in the window with the real engine: typed, clicked, warned, layers chosen on
// the curve, and the result opened.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "compiler/frontend/tensor_file.h"
#include "views/pages/quantize/quantize_page.h"
#include "views/scene/card_looks.h"

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

    static bool openPage(MainWindow& window)
    {
        window.resize(1366, 900);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        return settle(window) && window.showPerspective(QStringLiteral("quantize"));
    }
    static void click(QWidget& widget)
    {
        QTest::mouseClick(&widget, Qt::LeftButton, {}, widget.rect().center());
    }

private slots:
    void equalizesAndWarnsOfUnlikeExamples()
    {
        MainWindow window(makeEngine({}), {}, {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        QVERIFY(openPage(window));
        auto& page = window.part<views::QuantizePage>();
        const views::QuantizeState& state = page.presenter().state();
        QVERIFY(!state.canStart);
        page.form().data().setText(examples(QStringLiteral("dim.npy"), 20, 0.4));
        page.form().evaluation().setText(examples(QStringLiteral("bright.npy"), 8, 1));
        page.form().output().setText(m_folder.filePath(QStringLiteral("q.onnx")));
        page.form().channels().setCurrentIndex(1);
        page.form().sensitivity().setCurrentIndex(1);
        QVERIFY2(state.commandLine.contains(QStringLiteral(" --equalize --evaluate ")),
                 qPrintable(state.commandLine));
        QVERIFY2(state.canStart, qPrintable(state.problem));
        click(*page.findChild<views::EmptyNotice*>()->findChild<views::PillButton*>());
        QVERIFY(settle(window));
        QVERIFY2(!state.written.isEmpty(), qPrintable(state.error));
        QVERIFY(QFileInfo::exists(state.written));
        QCOMPARE(state.warnings.size(), 1);
        QVERIFY2(state.warnings[0].contains(QStringLiteral("do not represent")),
                 qPrintable(state.warnings[0]));
        QVERIFY(page.presenter().tensors().rowCount() > 5);
        QVERIFY(page.chart().curve().isEmpty());
        click(page.form().openButton());
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().path.endsWith(QStringLiteral("q.onnx")));
        QCOMPARE(window.workspace().state().errorCount, 0);
    }

    void choosesLayersOnTheCurve()
    {
        MainWindow window(makeEngine({}), {}, {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        QVERIFY(openPage(window));
        auto& page = window.part<views::QuantizePage>();
        const views::QuantizeState& state = page.presenter().state();
        page.form().data().setText(examples(QStringLiteral("bright.npy"), 10, 1));
        page.form().output().setText(m_folder.filePath(QStringLiteral("mixed.onnx")));
        page.presenter().quantize();
        QVERIFY(settle(window));
        QVERIFY2(state.hasResult, qPrintable(state.error));
        const size_t layers = page.presenter().layers().rows().size();
        QCOMPARE(page.chart().curve().predicted.size(), layers + 1);
        QVERIFY(page.chart().curve().measured.size() >= 3);
        QCOMPARE(page.chart().curve().measured.back().loss, 0.0); // all floats
        QVERIFY(page.placed().model()->rowCount() >= 4);
        QTest::mouseClick(&page.chart(), Qt::LeftButton, {}, page.chart().placeOf(2).toPoint());
        QCOMPARE(page.presenter().mix().wider(), size_t{2});
        QTest::keyClick(&page.chart(), Qt::Key_Left);
        QCOMPARE(page.presenter().mix().wider(), size_t{1});
        QTest::keyClick(&page.chart(), Qt::Key_Left);
        const double before = page.chart().curve().predicted.front().loss;
        views::DataTable& table = page.layers();
        QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                          table.visualRect(table.model()->index(0, 0)).center());
        QVERIFY(!page.values().accessibleDescription().isEmpty());
        QTest::keyClick(&table, Qt::Key_Space); // 16 bits, or float
        QVERIFY(state.isByHand);
        QVERIFY(page.chart().curve().predicted.front().loss < before);
        QVERIFY(state.commandLine.contains(QStringLiteral("-node ")));
        click(page.form().quantizeButton());
        QVERIFY(settle(window));
        QVERIFY2(state.error.isEmpty(), qPrintable(state.error));
        QVERIFY(state.isByHand);
        QCOMPARE(page.chart().curve().measured.size(), size_t{1});
        bool hasSensitivity = false;
        for (const views::CardLooks looks : views::colourings(*window.workspace().document()))
            hasSensitivity |= looks.figure == views::CardFigure::Sensitivity;
        QVERIFY(hasSensitivity);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_MAIN(QuantizeTest)
#include "quantize_test.moc"
