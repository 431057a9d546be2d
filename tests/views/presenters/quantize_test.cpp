// SPDX-License-Identifier: GPL-3.0-or-later
// The quantize sheet's presenter: a draft with its problems and command line, the worst tensor
// first, and the way to the new model.
#include "tests/views/fixtures.h"
#include "views/presenters/quantize_presenter.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class QuantizeTest : public QObject
{
    Q_OBJECT

private:
    static Engine engine(QuantizeQuestion* asked)
    {
        Engine engine = tests::fakeEngine();
        engine.quantize = [asked](const QuantizeQuestion& question,
                                  core::JobContext&) -> core::Result<QuantizeOutcome> {
            *asked = question;
            if (question.method == QLatin1String("entropy"))
                return core::makeError(core::DiagnosticCode::BadModel,
                                       "the model is quantized already");
            QuantizeRow good, bad;
            good.tensor = QStringLiteral("good");
            good.measuredDb = 60;
            bad.tensor = QStringLiteral("bad");
            bad.measuredDb = 15;
            return QuantizeOutcome{worstFirst({good, bad}),
                                   QStringLiteral("two tensors"),
                                   {},
                                   {QStringLiteral("the data do not represent")}};
        };
        return engine;
    }
    static bool open(WorkspacePresenter& workspace)
    {
        workspace.open(QStringLiteral("small.onnx"));
        return QTest::qWaitFor([&] { return workspace.state().canBuild; }, 60000);
    }

private slots:
    void saysWhatIsMissing()
    {
        QuantizeQuestion asked;
        WorkspacePresenter workspace(engine(&asked), 1);
        QuantizePresenter quantization(workspace);
        QVERIFY(open(workspace));
        quantization.start();
        QVERIFY(quantization.state().problem.contains(QStringLiteral("examples")));
        quantization.setData(QStringLiteral("/nowhere/at/all"));
        QVERIFY(quantization.state().problem.contains(QStringLiteral("/nowhere/at/all")));
        quantization.setData(m_folder.path());
        QCOMPARE(quantization.state().problem, QString());
        QVERIFY(quantization.state().canStart);
        quantization.setEvaluation(QStringLiteral("/not/there/either"));
        QVERIFY(quantization.state().problem.contains(QStringLiteral("/not/there/either")));
        QVERIFY(!quantization.state().canStart);
        quantization.setEvaluation({});
        QVERIFY(quantization.state().canStart);
        quantization.setLargestLoss(QStringLiteral("little"));
        QVERIFY(!quantization.state().canStart);
        quantization.setLargestLoss(QStringLiteral("2"));
        quantization.setOutput(workspace.state().path);
        QVERIFY(quantization.state().problem.contains(QStringLiteral("the model itself")));
    }

    void showsTheWorstTensorFirstAndOpensTheResult()
    {
        QuantizeQuestion asked;
        WorkspacePresenter workspace(engine(&asked), 1);
        QuantizePresenter quantization(workspace);
        QVERIFY(open(workspace));
        quantization.start();
        quantization.setData(m_folder.path());
        quantization.setMethod(QStringLiteral("mse"));
        quantization.setLargestLoss(QStringLiteral("2"));
        QVERIFY(quantization.state().commandLine.endsWith(
            QStringLiteral("small-int8.onnx --method mse --max-loss 0.02")));
        quantization.setEqualizes(true);
        quantization.setEvaluation(m_folder.path());
        QVERIFY(quantization.state().commandLine.endsWith(
            QStringLiteral(" --equalize --max-loss 0.02 --evaluate ") + m_folder.path()));
        quantization.quantize();
        QVERIFY(QTest::qWaitFor([&] { return !quantization.state().isRunning; }, 60000));
        QCOMPARE(asked.method, QStringLiteral("mse"));
        QVERIFY(asked.equalizes);
        QCOMPARE(asked.evaluation, m_folder.path());
        QCOMPARE(quantization.state().warnings.size(), 1);
        QCOMPARE(asked.largestLoss, 0.02);
        QCOMPARE(quantization.state().summary, QStringLiteral("two tensors"));
        QCOMPARE(quantization.tensors().rowCount(), 2);
        QCOMPARE(quantization.tensors().rows()[0].tensor, QStringLiteral("bad"));
        QCOMPARE(quantization.tensors().rows()[0].share, 0.75);
        QSignalSpy opened(&workspace, &WorkspacePresenter::opened);
        quantization.openResult();
        QVERIFY(QTest::qWaitFor([&] { return opened.count() == 1; }, 60000));
        QVERIFY(opened[0][0].toString().endsWith(QStringLiteral("small-int8.onnx")));
    }

    void reportsWhatFailed()
    {
        QuantizeQuestion asked;
        WorkspacePresenter workspace(engine(&asked), 1);
        QuantizePresenter quantization(workspace);
        QVERIFY(open(workspace));
        quantization.start();
        quantization.setData(m_folder.path());
        quantization.setMethod(QStringLiteral("entropy"));
        quantization.quantize();
        QVERIFY(QTest::qWaitFor([&] { return !quantization.state().isRunning; }, 60000));
        QVERIFY(quantization.state().summary.contains(QStringLiteral("quantized already")));
        QVERIFY(quantization.state().written.isEmpty());
        QVERIFY(!workspace.state().bannerText.isEmpty());
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(QuantizeTest)
#include "quantize_test.moc"
