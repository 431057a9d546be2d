// SPDX-License-Identifier: GPL-3.0-or-later
// The Quantize page's presenter: a draft with its problems and command line, the worst tensor
// first, layers whose precision is chosen with the curve moving, and the way to the new model.
#include "tests/views/fixtures.h"
#include "views/presenters/board_prompt.h"
#include "views/presenters/quantize_presenter.h"
#include "views/scene/card_looks.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::views;
using core::Precision;

namespace {

struct Asked
{
    QuantizeQuestion last;
    int runs = 0;
};

/// Three layers; the second costs most.
core::PrecisionCosts costs()
{
    core::PrecisionCosts out;
    const double losses[] = {0.01, 0.04, 0.02};
    for (int i = 0; i < 3; ++i) {
        core::LayerCost layer{.layer = "conv" + std::to_string(i), .op = "Conv"};
        layer.output = i == 1 ? "bad" : "good";
        layer.loss = {losses[i], losses[i] / 4, 0};
        layer.weightBytes = {100, 400, 400};
        layer.time = {1, 3, 3};
        out.layers.push_back(layer);
    }
    out.wholeLoss = std::sqrt(0.01 * 0.01 + 0.04 * 0.04 + 0.02 * 0.02);
    out.inFloat = {2200, 0, 19};
    out.in8Bits = {1300, 0, 13};
    out.place = "this computer";
    out.timeUnit = "us";
    return out;
}

Engine engineFor(Asked* asked)
{
    Engine engine = tests::fakeEngine();
    engine.quantize = [asked](const QuantizeQuestion& question, const BoardAsk&,
                              core::JobContext&) -> core::Result<QuantizeOutcome> {
        asked->last = question;
        ++asked->runs;
        if (question.method == QLatin1String("entropy"))
            return core::makeError(core::DiagnosticCode::BadModel,
                                   "the model is quantized already");
        QuantizeRow good, bad;
        good.tensor = QStringLiteral("good");
        good.measuredDb = 60;
        bad.tensor = QStringLiteral("bad");
        bad.measuredDb = 15;
        bad.node = QStringLiteral("conv1");
        QuantizeOutcome out;
        out.rows = worstFirst({good, bad});
        out.summary = QStringLiteral("two tensors");
        out.warnings = {QStringLiteral("the data do not represent")};
        out.loss = 0.03;
        out.before = {{2200, 500, 19}, 4000};
        out.after = {{1300, 400, 13}, 1500};
        out.timeUnit = QStringLiteral("us");
        if (!question.measuresSensitivity) return out;
        out.costs = std::make_shared<const core::PrecisionCosts>(costs());
        out.curve = core::predictedCurve(*out.costs);
        out.curve.front().measured = core::MeasuredCost{0.05, 1500, {1300, 400, 13}};
        out.choice = core::widened(*out.costs, 0);
        return out;
    };
    return engine;
}

struct Desk
{
    explicit Desk(Asked* asked)
        : workspace(engineFor(asked), 1)
        , prompt(workspace.jobs())
        , boards(workspace, prompt)
        , quantization(workspace, boards, prompt)
    {
        QObject::connect(&workspace, &WorkspacePresenter::documentChanged, &quantization,
                         &QuantizePresenter::setDocument);
    }
    bool open()
    {
        workspace.open(QStringLiteral("small.onnx"));
        return QTest::qWaitFor([&] { return workspace.state().canBuild; }, 60000);
    }
    bool run()
    {
        quantization.quantize();
        return QTest::qWaitFor([&] { return !quantization.state().isRunning; }, 60000);
    }
    const QuantizeState& state() const { return quantization.state(); }
    WorkspacePresenter workspace;
    BoardPrompt prompt;
    BoardsPresenter boards;
    QuantizePresenter quantization;
};

} // namespace

class QuantizeTest : public QObject
{
    Q_OBJECT

private slots:
    void saysWhatIsMissing()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.state().problem.contains(QStringLiteral("open a model")));
        QVERIFY(desk.open());
        QVERIFY(desk.state().problem.contains(QStringLiteral("examples")));
        desk.quantization.setData(QStringLiteral("/nowhere/at/all"));
        QVERIFY(desk.state().problem.contains(QStringLiteral("/nowhere/at/all")));
        desk.quantization.setData(m_folder.path());
        QCOMPARE(desk.state().problem, QString());
        QVERIFY(desk.state().canStart);
        desk.quantization.setEvaluation(QStringLiteral("/not/there/either"));
        QVERIFY(desk.state().problem.contains(QStringLiteral("/not/there/either")));
        QVERIFY(!desk.state().canStart);
        desk.quantization.setEvaluation({});
        QVERIFY(desk.state().canStart);
        for (const auto limit :
             {&QuantizePresenter::setLargestLoss, &QuantizePresenter::setLargestFlash,
              &QuantizePresenter::setLargestTime}) {
            (desk.quantization.*limit)(QStringLiteral("little"));
            QVERIFY(!desk.state().canStart);
            QVERIFY(desk.state().commandLine.isEmpty()); // it would say the limit before
            (desk.quantization.*limit)(QStringLiteral("2"));
            QVERIFY(desk.state().canStart);
        }
        desk.quantization.setOutput(desk.workspace.state().path);
        QVERIFY(desk.state().problem.contains(QStringLiteral("the model itself")));
        desk.quantization.setOutput(m_folder.filePath(QStringLiteral("model.elf")));
        QVERIFY(desk.state().problem.contains(QStringLiteral(".onnx")));
        desk.quantization.setOutput(QStringLiteral("/nowhere/at/all/q.onnx"));
        QVERIFY(desk.state().problem.contains(QStringLiteral("/nowhere/at/all")));
        desk.quantization.setOutput(m_folder.filePath(QStringLiteral("new.onnx")));
        QCOMPARE(desk.state().problem, QString());
        QVERIFY(!desk.state().replaces);
        const QString other = m_folder.filePath(QStringLiteral("other.onnx"));
        QVERIFY(QFile(other).open(QIODevice::WriteOnly));
        desk.quantization.setOutput(other);
        QVERIFY(desk.state().canStart && desk.state().replaces);
        QVERIFY(QFile::remove(other));
    }

    void writesTheCommandLine()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.open());
        desk.quantization.setData(m_folder.path());
        desk.quantization.setMethod(QStringLiteral("mse"));
        desk.quantization.setEqualizes(true);
        desk.quantization.setWider(QStringLiteral("int16"));
        desk.quantization.setLargestLoss(QStringLiteral("2"));
        desk.quantization.setLargestFlash(QStringLiteral("10"));
        desk.quantization.setLargestTime(QStringLiteral("12345678.5"));
        desk.quantization.setIntegerEnds(true);
        QVERIFY2(desk.state().commandLine.endsWith(
                     QStringLiteral("small-int8.onnx --method mse --equalize --wider int16 "
                                    "--max-loss 0.02 --budget-size 10240 --budget-time "
                                    "12345678.5 --sensitivity --integer-io")),
                 qPrintable(desk.state().commandLine));
        desk.workspace.setTarget(QStringLiteral("c -mcpu=cortex-m4"));
        QVERIFY(desk.state().commandLine.endsWith(QStringLiteral(" --target 'c -mcpu=cortex-m4'")));
        desk.quantization.setEvaluation(m_folder.path());
        QVERIFY(desk.state().commandLine.contains(QStringLiteral(" --evaluate ")));
        QVERIFY(desk.boards.select(QStringLiteral("pi")));
        QVERIFY(desk.state().commandLine.contains(QStringLiteral(" --board pi")));
        desk.workspace.open(QStringLiteral("small.onnx"), QStringLiteral("n=2 m=3"));
        QTRY_VERIFY(desk.state().commandLine.contains(QStringLiteral(" --shape n=2 --shape m=3 ")));
    }

    void showsTheWorstTensorFirstAndOpensTheResult()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.open());
        desk.quantization.setData(m_folder.path());
        QVERIFY(desk.run());
        QVERIFY(asked.last.measuresSensitivity);
        QCOMPARE(desk.state().warnings.size(), 1);
        QCOMPARE(desk.state().summary, QStringLiteral("two tensors"));
        QCOMPARE(desk.quantization.tensors().rowCount(), 2);
        QCOMPARE(desk.quantization.tensors().rows()[0].tensor, QStringLiteral("bad"));
        QCOMPARE(desk.quantization.tensors().rows()[0].share, 0.75);
        QCOMPARE(desk.state().tensor.tensor, QStringLiteral("bad"));
        QCOMPARE(desk.quantization.placed().rows()[1].before, QStringLiteral("2.15 KiB"));
        QSignalSpy opened(&desk.workspace, &WorkspacePresenter::opened);
        desk.quantization.openResult();
        QVERIFY(QTest::qWaitFor([&] { return opened.count() == 1; }, 60000));
        QVERIFY(opened[0][0].toString().endsWith(QStringLiteral("small-int8.onnx")));
    }

    void movesTheCurveWithTheLayers()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.open());
        desk.quantization.setData(m_folder.path());
        QVERIFY(desk.run());
        const MixCurve before = desk.state().curve;
        QCOMPARE(before.predicted.size(), size_t{4});
        QCOMPARE(before.measured.size(), size_t{1});
        QVERIFY(!desk.state().isByHand);
        desk.quantization.pinLayer(0, static_cast<int>(Precision::Float));
        const MixCurve after = desk.state().curve;
        QCOMPARE(after.predicted.size(), size_t{3}); // one layer less to choose
        QVERIFY(after.predicted[0].loss < before.predicted[0].loss);
        QVERIFY(after.predicted[0].x > before.predicted[0].x);
        QVERIFY(desk.state().isByHand);
        desk.quantization.chooseWider(1);
        QCOMPARE(desk.quantization.layers().rows()[1].precision, Precision::Float); // the worst
        QVERIFY(!desk.quantization.layers().rows()[1].isPinned);
        QVERIFY(
            desk.state().caption.startsWith(QStringLiteral("1 of 3 layers in int8, 2 in float")));
        desk.quantization.cycleLayer(1);
        desk.quantization.cycleLayer(1);
        QCOMPARE(desk.quantization.layers().rows()[1].precision, Precision::Int16);
        desk.quantization.pinLayer(0, -1);
        desk.quantization.chooseWider(0);
        QVERIFY(desk.state().commandLine.contains(QStringLiteral(" --int16-node conv1")));
        QVERIFY(!desk.state().commandLine.contains(QStringLiteral("--sensitivity")));
        QVERIFY(desk.run());
        QCOMPARE(asked.last.wideLayers, QStringList{QStringLiteral("conv1")});
        QVERIFY(desk.state().isByHand); // the file stays what its layers were chosen to be
        QVERIFY(desk.state().caption.endsWith(QStringLiteral("error 3.00 %")));
        QVERIFY(desk.state().commandLine.contains(QStringLiteral(" --int16-node conv1")));
        QCOMPARE(desk.state().curve.measured.size(), size_t{1}); // the choice, as it was measured
        QCOMPARE(desk.state().curve.measured[0].loss, 0.03);
        desk.quantization.setMethod(QStringLiteral("mse"));
        QVERIFY(desk.state().commandLine.contains(QStringLiteral("--sensitivity"))); // anew
        desk.quantization.setAxis(MixAxis::Time);
        QCOMPARE(desk.state().curve.predicted.back().x, 19.0 - 2 + 2);
    }

    void refusesToLeaveAllInFloat()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.open());
        desk.quantization.setData(m_folder.path());
        QVERIFY(desk.run());
        for (int row = 0; row < 3; ++row)
            desk.quantization.pinLayer(row, static_cast<int>(Precision::Float));
        QVERIFY(desk.state().problem.contains(QStringLiteral("every layer")));
        QVERIFY(!desk.state().canStart);
    }

    void paintsTheGraph()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.open());
        desk.quantization.setData(m_folder.path());
        QVERIFY(desk.run());
        desk.quantization.selectLayer(1);
        QCOMPARE(desk.state().tensor.tensor, QStringLiteral("bad"));
        QCOMPARE(*desk.quantization.layers().rows()[1].measuredDb, 15.0);
        QVERIFY(desk.workspace.document()->quantization);
    }

    void reportsWhatFailed()
    {
        Asked asked;
        Desk desk(&asked);
        QVERIFY(desk.open());
        desk.quantization.setData(m_folder.path());
        desk.quantization.setMethod(QStringLiteral("entropy"));
        QVERIFY(desk.run());
        QVERIFY(desk.state().error.contains(QStringLiteral("quantized already")));
        QVERIFY(desk.state().written.isEmpty());
        QVERIFY(!desk.workspace.state().bannerText.isEmpty());
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(QuantizeTest)
#include "quantize_test.moc"
