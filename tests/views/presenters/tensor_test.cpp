// SPDX-License-Identifier: GPL-3.0-or-later
// The tensor viewer's presenter: values of the selected tensor, its slices, and why there are none.
#include "tests/views/comparisons.h"
#include "views/presenters/board_prompt.h"
#include "views/presenters/tensor_presenter.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class TensorTest : public QObject
{
    Q_OBJECT

private:
    struct Desk
    {
        explicit Desk(const Engine& engine)
            : workspace(engine, 1)
            , prompt(workspace.jobs())
            , boards(workspace, prompt)
            , compare(workspace, boards, prompt)
            , tensor(compare)
        {
            QObject::connect(&workspace, &WorkspacePresenter::documentChanged, &compare,
                             &ComparePresenter::setDocument);
        }
        bool run()
        {
            workspace.open(QStringLiteral("small.onnx"));
            if (!QTest::qWaitFor([&] { return compare.state().canStart; }, 60000)) return false;
            compare.compare();
            return QTest::qWaitFor(
                [&] { return compare.state().hasResult && !tensor.state().isLoading; }, 60000);
        }
        WorkspacePresenter workspace;
        BoardPrompt prompt;
        BoardsPresenter boards;
        ComparePresenter compare;
        TensorPresenter tensor;
    };

private slots:
    void showsTheSliceOfTheLargestDifference()
    {
        Desk desk(tests::comparingEngine(std::make_shared<tests::FakeComparing>()));
        QVERIFY(desk.run());
        const TensorState& state = desk.tensor.state();
        QVERIFY(state.hasTensor);
        QCOMPARE(state.title, QStringLiteral("block1.Relu"));
        QCOMPARE(state.slice.at, (std::vector<int64_t>{1, 1, 2}));
        QCOMPARE(state.difference.at(1, 2), 1.0);
        QCOMPARE(state.reference.at(0, 0), 6.0);
        QCOMPARE(desk.tensor.cellText(1, 2),
                 QStringLiteral("[1, 1, 2]: 12 instead of 11, difference 1"));
        QCOMPARE(desk.tensor.cellText(2, 0), QString());
        QCOMPARE(desk.tensor.statistics().rows()[1].device, 12.0);
    }

    void cutsOtherSlices()
    {
        Desk desk(tests::comparingEngine(std::make_shared<tests::FakeComparing>()));
        QVERIFY(desk.run());
        const TensorState& state = desk.tensor.state();
        desk.tensor.setIndex(0, 0);
        QCOMPARE(state.reference.at(0, 0), 0.0);
        desk.tensor.setIndex(0, 99); // the nearest there is
        QCOMPARE(state.slice.at[0], 1);
        desk.tensor.setRowAxis(2); // changes places with the axis of the columns
        QCOMPARE(state.slice.columnAxis, 1);
        QCOMPARE(state.reference.rows, 3);
        QCOMPARE(state.reference.at(2, 1), 11.0);
        desk.tensor.setColumnAxis(0);
        QCOMPARE(state.reference.columns, 2);
        desk.tensor.setRowAxis(5);
        QCOMPARE(state.slice.rowAxis, 2);
        desk.tensor.setIndex(1, 0);
        QCOMPARE(state.difference.at(2, 1), 0.0);
        desk.tensor.showWorst();
        QCOMPARE(state.difference.at(2, 1), 1.0);
    }

    void followsTheSelection()
    {
        Desk desk(tests::comparingEngine(std::make_shared<tests::FakeComparing>()));
        QVERIFY(desk.run());
        desk.compare.selectTensor(0);
        QVERIFY(desk.tensor.state().isLoading);
        QVERIFY(QTest::qWaitFor([&] { return desk.tensor.state().hasTensor; }, 60000));
        QCOMPARE(desk.tensor.state().title, QStringLiteral("block0.Relu"));
        QCOMPARE(desk.tensor.state().digest.difference.greatest, 0.0);
        desk.compare.selectTensor(-1);
        QVERIFY(!desk.tensor.state().hasTensor);
        QCOMPARE(desk.tensor.state().title, QString());
    }

    void saysWhyThereAreNoValues()
    {
        Engine engine = tests::comparingEngine(std::make_shared<tests::FakeComparing>());
        engine.comparing.values = [](const CompareOutcome&, size_t,
                                     core::JobContext&) -> core::Result<TensorValues> {
            return core::makeError(core::DiagnosticCode::BadArgument, "they were not kept");
        };
        Desk desk(engine);
        QVERIFY(desk.run());
        QVERIFY(!desk.tensor.state().hasTensor);
        QCOMPARE(desk.tensor.state().problem, QStringLiteral("they were not kept"));
        QVERIFY(desk.workspace.state().bannerTitle.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TensorTest)
#include "tensor_test.moc"
