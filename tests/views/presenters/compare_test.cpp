// SPDX-License-Identifier: GPL-3.0-or-later
// The Compare page's presenter: what is asked for, the verdict in words, every tensor with its
// node, and what goes wrong without anything being lost.
#include "core/base/board_code.h"
#include "tests/views/comparisons.h"
#include "views/presenters/board_prompt.h"
#include "views/presenters/compare_presenter.h"
#include "views/scene/card_looks.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

namespace {

struct Desk
{
    explicit Desk(std::shared_ptr<tests::FakeComparing> made)
        : fake(std::move(made))
        , workspace(tests::comparingEngine(fake), 1)
        , prompt(workspace.jobs())
        , boards(workspace, prompt)
        , compare(workspace, boards, prompt)
    {
        QObject::connect(&workspace, &WorkspacePresenter::documentChanged, &compare,
                         &ComparePresenter::setDocument);
    }
    bool open(const QString& path = QStringLiteral("small.onnx"))
    {
        workspace.open(path);
        return QTest::qWaitFor([&] { return workspace.state().canBuild; }, 60000);
    }
    bool run()
    {
        compare.compare();
        return QTest::qWaitFor([&] { return !compare.state().isRunning; }, 60000);
    }
    std::shared_ptr<tests::FakeComparing> fake;
    WorkspacePresenter workspace;
    BoardPrompt prompt;
    BoardsPresenter boards;
    ComparePresenter compare;
};

} // namespace

class CompareTest : public QObject
{
    Q_OBJECT

private slots:
    void saysWhatIsMissing()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.compare.state().problem.contains(QStringLiteral("open a model")));
        QVERIFY(!desk.compare.state().canStart);
        QVERIFY(desk.open());
        QCOMPARE(desk.compare.state().problem, QString());
        QVERIFY(desk.compare.state().canStart);
        desk.compare.setData(QStringLiteral("/nowhere/at/all"));
        QVERIFY(desk.compare.state().problem.contains(QStringLiteral("/nowhere/at/all")));
        desk.compare.setData({});
        desk.compare.setReferenceKind(ReferenceKind::Model);
        QVERIFY(desk.compare.state().problem.contains(QStringLiteral("choose the model")));
        desk.compare.compare();
        QCOMPARE(desk.fake->runs, 0);
    }

    void writesTheCommandLine()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        QCOMPARE(desk.compare.state().commandLine, QStringLiteral("tenon compare small.onnx"));
        desk.compare.setData(m_folder.path());
        desk.compare.setReferenceKind(ReferenceKind::Folder);
        desk.compare.setReferencePath(m_folder.path());
        desk.compare.setIsolates(false);
        BuildOptions options;
        options.executor = QStringLiteral("graph");
        desk.workspace.setOptions(options);
        desk.workspace.setTarget(QStringLiteral("llvm -mcpu=it's"));
        QCOMPARE(desk.compare.state().commandLine,
                 QStringLiteral("tenon compare small.onnx --inputs %1 --reference %1 --target "
                                "'llvm -mcpu=it'\\''s' --no-isolated --executor graph")
                     .arg(m_folder.path()));
        desk.compare.setMeasuresNoise(true);
        QVERIFY(desk.compare.state().commandLine.contains(QStringLiteral(" --noise ")));
        QVERIFY(desk.boards.select(QStringLiteral("pi")));
        QVERIFY(desk.compare.state().commandLine.contains(QStringLiteral(" --board pi ")));
    }

    void asksForWhatWasChosen()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        QVERIFY(desk.boards.select(QStringLiteral("pi")));
        desk.compare.setData(m_folder.path());
        QVERIFY(desk.run());
        QCOMPARE(desk.fake->asked.board, QStringLiteral("pi"));
        QCOMPARE(desk.fake->asked.data, m_folder.path());
        QCOMPARE(desk.fake->asked.reference, QStringLiteral("opt0"));
        QCOMPARE(desk.fake->asked.options, desk.workspace.options());
        QVERIFY(desk.fake->asked.isolates);
    }

    void namesTheFirstTensorThatIsOff()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        QVERIFY(desk.run());
        const CompareState& state = desk.compare.state();
        QVERIFY(state.hasResult);
        QCOMPARE(state.verdict.title,
                 QStringLiteral("The first tensor outside tolerance is block1.Relu"));
        const QString details = state.verdict.details.join(QLatin1Char('\n'));
        QVERIFY2(details.contains(QStringLiteral("kernel conv 3x3 + relu, of block1.Conv, "
                                                 "block1.BatchNormalization, block1.Relu")),
                 qPrintable(details));
        QVERIFY2(details.contains(QStringLiteral("12.0 dB, largest difference 1 at element 11 (12 "
                                                 "instead of 11), 1 of 12 elements outside")),
                 qPrintable(details));
        QVERIFY(details.contains(QStringLiteral("The kernel itself is off")));
        QCOMPARE(state.selected, 1);
        QCOMPARE(state.caption, QStringLiteral("this computer, level 3, aot against level 0 on "
                                               "this computer · 1 data set"));
        QVERIFY(state.notes.contains(QStringLiteral("made up")));
        QVERIFY(state.notes.contains(QStringLiteral("1 tensor inside of fused kernels")));
        const auto& rows = desk.compare.tensors().rows();
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(verdictText(rows[0]), QStringLiteral("within"));
        QCOMPARE(verdictText(rows[1]), QStringLiteral("first outside, own kernel"));
        const core::Module& module = desk.workspace.document()->imported;
        QCOMPARE(module.node(rows[1].node).name, std::string("block1.Relu"));
    }

    void saysThatEverythingAgrees()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        desk.fake->isFaulty = false;
        QVERIFY(desk.open());
        QVERIFY(desk.run());
        QCOMPARE(desk.compare.state().verdict.title, QStringLiteral("Everything agrees"));
        QVERIFY(desk.compare.state().verdict.details[0].startsWith(
            QStringLiteral("all 2 tensors are within tolerance")));
        QVERIFY(desk.compare.state().verdict.isWithin);
        QCOMPARE(desk.compare.state().selected, 0); // the furthest off
    }

    void addsTheErrorsToWhatCardsCanBeColouredBy()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        const size_t before = colourings(*desk.workspace.document()).size();
        QVERIFY(desk.run());
        const auto after = colourings(*desk.workspace.document());
        QCOMPARE(after.size(), before + 2);
        QCOMPARE(colouringText(after[after.size() - 2]), QStringLiteral("error, cumulative"));
        QCOMPARE(colouringText(after.back()), QStringLiteral("error, isolated"));
        // What is compiled later leaves it; another model does not have it.
        desk.workspace.compile();
        QVERIFY(QTest::qWaitFor([&] { return desk.workspace.state().canBuild; }, 60000));
        QVERIFY(desk.workspace.document()->isCompiled());
        QVERIFY(desk.compare.state().hasResult);
        QVERIFY(desk.workspace.document()->comparison);
        QVERIFY(desk.open(QStringLiteral("other.onnx")));
        QVERIFY(QTest::qWaitFor([&] { return !desk.compare.state().hasResult; }, 60000));
        QCOMPARE(desk.compare.tensors().rowCount(), 0);
    }

    void keepsTheLastResultWhenTheNextFails()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        QVERIFY(desk.run());
        desk.fake->error = core::makeError(core::DiagnosticCode::UnknownName,
                                           "there is no board `pi`; `tenon board list` shows them");
        desk.compare.setIsolates(false);
        QVERIFY(desk.compare.state().isStale);
        QVERIFY(desk.run());
        QVERIFY(desk.workspace.state().bannerText.contains(QStringLiteral("no board `pi`")));
        QVERIFY(desk.compare.state().error.contains(QStringLiteral("no board `pi`")));
        QVERIFY(desk.compare.state().hasResult);
        QCOMPARE(desk.compare.tensors().rowCount(), 2);
        desk.fake->error.reset();
        QVERIFY(desk.run());
        QCOMPARE(desk.compare.state().error, QString());
        QVERIFY(!desk.compare.state().isStale);
    }

    void marksABoardThatWasNotReached()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        QVERIFY(desk.boards.select(QStringLiteral("pi")));
        desk.fake->error = core::makeError(core::DiagnosticCode::UnknownName, "not the board");
        QVERIFY(desk.run());
        QVERIFY(desk.boards.state().state != BoardState::Offline);
        desk.fake->error = core::makeError(core::BoardCode::BoardUnreachable, "it refuses");
        QVERIFY(desk.run());
        QCOMPARE(desk.boards.state().state, BoardState::Offline);
    }

    void followsTheSelectedNode()
    {
        Desk desk(std::make_shared<tests::FakeComparing>());
        QVERIFY(desk.open());
        QVERIFY(desk.run());
        const core::Module& module = desk.workspace.document()->imported;
        QSignalSpy moved(&desk.compare, &ComparePresenter::selectionChanged);
        desk.workspace.selection().select(module.main().order[1]); // inside of the first kernel
        QCOMPARE(desk.compare.state().selected, 0);
        QCOMPARE(moved.count(), 1);
        desk.compare.selectTensor(7);
        QCOMPARE(desk.compare.state().selected, 0);
    }

private:
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(CompareTest)
#include "compare_test.moc"
