// SPDX-License-Identifier: GPL-3.0-or-later
// Models: formats, tables, the pass tree.
#include "tests/views/fixtures.h"
#include "views/models/deployment.h"
#include "views/models/deployment_rows.h"
#include "views/models/format.h"
#include "views/models/measured_text.h"
#include "views/models/node_search.h"
#include "views/models/pass_model.h"
#include "views/models/run_changes.h"
#include "views/models/run_rows.h"
#include "views/models/tables.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class ModelsTest : public QObject
{
    Q_OBJECT

private slots:
    void formatsNumbers()
    {
        QCOMPARE(countText(1234567), QStringLiteral("1,234,567"));
        QCOMPARE(views::countOf(1, QStringLiteral("node")), QStringLiteral("1 node"));
        QCOMPARE(shortCountText(3504872), QStringLiteral("3.50 M"));
        QCOMPARE(shortCountText(9999), QStringLiteral("9,999"));
        QCOMPARE(shortCountText(999600), QStringLiteral("1.00 M"));
        QCOMPARE(shortCountText(99960), QStringLiteral("100 k"));
        QCOMPARE(byteText(1023), QStringLiteral("1023 B"));
        QCOMPARE(byteText(1048300), QStringLiteral("1.00 MiB"));
        QCOMPARE(byteText(4816896), QStringLiteral("4.59 MiB"));
        QCOMPARE(byteDifferenceText(-451584), QStringLiteral("−441 KiB"));
        QCOMPARE(byteDifferenceText(0), QStringLiteral("0"));
        QCOMPARE(durationText(312), QStringLiteral("312 µs"));
        QCOMPARE(durationText(0.5), QStringLiteral("500 ns"));
        QCOMPARE(durationText(999.7), QStringLiteral("1.00 ms"));
        QCOMPARE(durationText(1020), QStringLiteral("1.02 ms"));
        QCOMPARE(durationText(3100000), QStringLiteral("3.10 s"));
        QCOMPARE(costText(1020, CostUnit::Time), QStringLiteral("1.02 ms"));
        QCOMPARE(costText(4951.234, CostUnit::Instructions), QStringLiteral("4.95 M instr."));
        QCOMPARE(fullCostText(4951.234, CostUnit::Instructions),
                 QStringLiteral("4,951,234 instructions"));
        QCOMPARE(shapeLabel({core::kFloat32, core::makeShape({1, 64, 56})}),
                 QStringLiteral("1×64×56"));
        QCOMPARE(shapeLabel({core::kFloat32, {}}), QStringLiteral("scalar"));
        QCOMPARE(shapeLabel({core::kHandle, {}}), QStringLiteral("unknown type"));
        QCOMPARE(typeText({core::kHandle, {}}), QStringLiteral("unknown type"));
        const core::Dim n = core::Dim::symbol("n");
        QCOMPARE(shapeLabel({core::kFloat32, {n, n + core::Dim(1), core::Dim(3)}}),
                 QStringLiteral("n×(n + 1)×3"));
        QCOMPARE(shortenedMiddle(QStringLiteral("abcdefghij"), 5), QStringLiteral("ab…ij"));
    }

    /// A count of instructions is never written as a time, on no cell and in no file.
    void namesWhatWasCounted()
    {
        Document document;
        document.counts.macs = 2100000; // as imported: some were folded into constants
        document.measurement = Measurement{.medianUs = 4951.234,
                                           .lowUs = 4951.234,
                                           .highUs = 4951.234,
                                           .calls = {{.medianUs = 4951}},
                                           .runUs = {4951.234}};
        document.measurement->unit = CostUnit::Instructions;
        document.calls.resize(1);
        document.calls[0].macs = 2000000;
        document.calls[0].flops = 5000000; // an activation is among them
        QCOMPARE(measuredText(document),
                 QStringLiteral("4,951,234 instructions, 2.48 per multiply-add"));
        QCOMPARE(spreadText(*document.measurement),
                 QStringLiteral("every run takes as many; silicon takes a cycle or more of each · "
                                "calls together 4,951,000 instructions"));
        const auto header = [](QAbstractItemModel& model, int column, int role) {
            return model.headerData(column, Qt::Horizontal, role).toString();
        };
        constexpr int kTime = 4; // of calls
        CallModel& calls = *makeCallModel(this);
        QCOMPARE(header(calls, kTime, Qt::DisplayRole), QStringLiteral("Time"));
        calls.setRows(callRows(document));
        QCOMPARE(header(calls, kTime, Qt::DisplayRole), QStringLiteral("Instr."));
        QCOMPARE(header(calls, kTime, FileRole), QStringLiteral("Instr. [k instr.]"));
        QCOMPARE(calls.index(0, kTime).data().toString(), QStringLiteral("4.95 M"));
        RunTable& runs = *makeRunTable(this);
        runs.setRows(runRows(document.measurement));
        QCOMPARE(header(runs, 1, FileRole), QStringLiteral("Instr. [k instr.]"));
        QCOMPARE(runs.index(0, 1).data().toString(), QStringLiteral("4.95 M instr."));
    }

    void comparesCountsOfTwoBoards()
    {
        const auto row = [](const char* board, double us) {
            HistoryRow out{.id = static_cast<qint64>(us), .board = QLatin1String(board)};
            out.unit = CostUnit::Instructions;
            out.medianUs = us;
            out.calls = {{QStringLiteral("conv"), us}};
            return out;
        };
        const HistoryRow before = row("m4", 5000), now = row("m55", 2000);
        const auto rows = callChangeRows(now, before);
        QCOMPARE(rows.size(), size_t{1});
        CallChangeModel& changes = *makeCallChangeModel(this);
        changes.setRows(rows);
        QCOMPARE(changes.index(0, 3).data().toString(), QStringLiteral("−3.00 M instr."));
        QCOMPARE(runChangeText(now, before), QStringLiteral(" on m55: 2,000,000 instructions ·  on "
                                                            "m4: 5,000,000 instructions"));
        HistoryRow timed = before;
        timed.unit = CostUnit::Time;
        QVERIFY(callChangeRows(now, timed).empty()); // nothing to subtract
    }

    void namesThisComputerInsideASentence()
    {
        const BoardEntry here{.name = QStringLiteral("local")};
        QCOMPARE(here.title(), QStringLiteral("This computer"));
        QCOMPARE(here.titleInText(), QStringLiteral("this computer"));
        const BoardEntry pi{.name = QStringLiteral("pi"), .way = BoardWay::Ssh};
        QCOMPARE(pi.titleInText(), QStringLiteral("pi"));
    }

    void saysWhatBoundsACall()
    {
        Document document = *tests::smallDocument(2);
        document.calls.resize(2);
        document.measurement = Measurement{};
        document.measurement->calls = {{100, 50, false}, {100, 25, true}};
        std::unique_ptr<CallModel> model(makeCallModel(nullptr));
        model->setRows(callRows(document));
        const int column = model->columnCount() - 2;
        const auto at = [&](int row, int role) {
            return model->index(row, column).data(role).toString();
        };
        QCOMPARE(at(0, Qt::DisplayRole), QStringLiteral("50 %"));
        QVERIFY(at(0, Qt::ToolTipRole).contains(QStringLiteral("bound by computing")));
        QCOMPARE(at(1, Qt::DisplayRole), QStringLiteral("25 % mem"));
        QVERIFY(at(1, Qt::ToolTipRole).contains(QStringLiteral("bound by memory")));
    }

    void countsDeltasWhereTheyHappened()
    {
        const auto document = tests::smallDocument(2);
        const auto rows = deltaRows(*document, 3);
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(rows[0].from, 4);
        QCOMPARE(rows[0].to, 1);
        QCOMPARE(rows[0].writtenBytes, qint64{-3 * 8 * 16 * 16 * 4});
    }

    void listsPassesByPhaseAndFilters()
    {
        PassModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setDocument(tests::smallDocument(2));
        QCOMPARE(model.rowCount(), 3);
        const QModelIndex infer = model.index(0, 0, model.index(0, 0));
        QCOMPARE(infer.data().toString(), QStringLiteral("InferType"));
        QVERIFY(infer.data(PassModel::IsNoOpRole).toBool());
        QVERIFY(!model.indexOfVersion(3).data(PassModel::IsNoOpRole).toBool());
        model.setFilter(QStringLiteral("expand-batch"));
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.index(0, 0, model.index(0, 0)).data(PassModel::VersionRole).toInt(), 2);
        model.setTouching({3});
        model.setFilter(QStringLiteral("touched:selection"));
        QCOMPARE(model.index(0, 0, model.index(0, 0)).data(PassModel::VersionRole).toInt(), 3);
    }

    void tablesAreSoundModels()
    {
        OperatorModel* operators = makeOperatorModel(this);
        const QAbstractItemModelTester tester(
            operators, QAbstractItemModelTester::FailureReportingMode::QtTest);
        operators->setRows(operatorRows(*tests::smallDocument(3)));
        QCOMPARE(operators->rowCount(), 3);
        QCOMPARE(operators->index(0, 1).data().toString(), QStringLiteral("3"));
    }
};

QTEST_GUILESS_MAIN(ModelsTest)
#include "models_test.moc"
