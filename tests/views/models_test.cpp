// SPDX-License-Identifier: GPL-3.0-or-later
// Models: formats, places that stay, scenes with diff states, lineage, tables, the pass tree.
#include "tests/views/fixtures.h"
#include "views/models/format.h"
#include "views/models/lineage.h"
#include "views/models/pass_model.h"
#include "views/models/stage.h"
#include "views/models/tables.h"

#include <QAbstractItemModelTester>
#include <QTest>

using namespace tenon;
using namespace tenon::views;

class ModelsTest : public QObject
{
    Q_OBJECT

private:
    static std::shared_ptr<const Storyboard> board(int blocks)
    {
        return std::make_shared<const Storyboard>(tests::smallDocument(blocks));
    }

    static int countOf(const Scene& scene, DiffState state, bool isFrame)
    {
        return static_cast<int>(
            std::count_if(scene.items.begin(), scene.items.end(), [&](const SceneItem& i) {
                return i.state == state && i.isFrame == isFrame;
            }));
    }

private slots:
    void formatsNumbers()
    {
        QCOMPARE(countText(1234567), QStringLiteral("1,234,567"));
        QCOMPARE(views::countOf(1, QStringLiteral("node")), QStringLiteral("1 node"));
        QCOMPARE(shortCountText(3504872), QStringLiteral("3.50 M"));
        QCOMPARE(shortCountText(9999), QStringLiteral("9,999"));
        QCOMPARE(shortCountText(999600), QStringLiteral("1.00 M"));
        QCOMPARE(byteText(1023), QStringLiteral("1023 B"));
        QCOMPARE(byteText(4816896), QStringLiteral("4.59 MiB"));
        QCOMPARE(byteDifferenceText(-451584), QStringLiteral("−441 KiB"));
        QCOMPARE(byteDifferenceText(0), QStringLiteral("0"));
        QCOMPARE(durationText(312), QStringLiteral("312 µs"));
        QCOMPARE(durationText(0.5), QStringLiteral("500 ns"));
        QCOMPARE(durationText(1020), QStringLiteral("1.02 ms"));
        QCOMPARE(durationText(3100000), QStringLiteral("3.10 s"));
        QCOMPARE(shapeLabel(core::makeShape({1, 64, 56})), QStringLiteral("1×64×56"));
        QCOMPARE(shapeLabel({}), QStringLiteral("scalar"));
        QCOMPARE(shortenedMiddle(QStringLiteral("abcdefghij"), 5), QStringLiteral("ab…ij"));
    }

    void keepsUntouchedCardsWhereTheyAre()
    {
        Stage stage = Stage::forPasses(board(3));
        QVERIFY(stage.arrange());
        std::map<PlaceId, QRectF> seen;
        for (size_t version = 0; version < 4; ++version)
            for (const DiffMode mode : {DiffMode::Union, DiffMode::After})
                for (const SceneItem& item : stage.scene(version, mode).items) {
                    const auto [it, isNew] = seen.emplace(item.place, item.rect);
                    QCOMPARE(item.rect, it->second);
                }
    }

    void showsADecompositionAsChangedAndAdded()
    {
        Stage stage = Stage::forPasses(board(2));
        QVERIFY(stage.arrange());
        const Scene scene = stage.scene(2, DiffMode::Union);
        QCOMPARE(countOf(scene, DiffState::Changed, false), 2); // add stands where batch_norm stood
        QCOMPARE(countOf(scene, DiffState::Added, false), 2);   // multiply is new
        QCOMPARE(countOf(scene, DiffState::Removed, false), 0);
        QCOMPARE(stage.scene(1, DiffMode::Union).items.front().state, DiffState::Plain);
    }

    void framesAFusedOperatorAroundItsMembers()
    {
        Stage stage = Stage::forPasses(board(2));
        QVERIFY(stage.arrange());
        const Scene scene = stage.scene(3, DiffMode::Union);
        QCOMPARE(countOf(scene, DiffState::Added, true), 2);
        for (const SceneItem& item : scene.items) {
            if (!item.isMember) continue;
            const PlaceId frame = stage.board().places()[static_cast<size_t>(item.place)].frame;
            QVERIFY(scene.items[static_cast<size_t>(scene.itemAt(frame))].rect.contains(item.rect));
        }
        QCOMPARE(std::count_if(scene.items.begin(), scene.items.end(),
                               [](const SceneItem& i) { return i.isMember; }),
                 8);
        QVERIFY(std::all_of(scene.edges.begin(), scene.edges.end(),
                            [](const SceneEdge& e) { return e.count >= 2; }));
    }

    void groupsByScopeAndCollapses()
    {
        const auto alone = std::make_shared<Document>(*tests::smallDocument(2));
        alone->passes.clear();
        const auto places = std::make_shared<const Storyboard>(alone);
        Stage open = Stage::forScopes(places, 0, {});
        QVERIFY(open.arrange());
        QCOMPARE(static_cast<int>(open.scopes().size()), 2);
        QCOMPARE(open.scopes()[0].cardCount, 3);
        Stage closed = Stage::forScopes(places, 0, {open.scopes()[0].path});
        QVERIFY(closed.arrange());
        const Scene scene = closed.scene(0, DiffMode::After);
        QVERIFY(scene.items[0].isCollapsed);
        QCOMPARE(scene.items.size(), open.scene(0, DiffMode::After).items.size() - 3);
    }

    void followsLineageFromAFrameToItsSources()
    {
        const auto places = board(2);
        const LineageIndex index(places);
        const core::Module& last = places->document().version(3);
        const PlaceId frame = places->placeOf(last.main().order[0]);
        QVERIFY(places->places()[static_cast<size_t>(frame)].isFrame);
        QCOMPARE(index.versionsTouching(frame), (std::vector<int>{2, 3}));
        const Lineage lineage = index.lineageOf(frame, 3);
        QCOMPARE(lineage.sourceCount, 3);
        QCOMPARE(lineage.rows[1].op, QStringLiteral("BatchNormalization"));
        QCOMPARE(lineage.rows[1].versions, (std::vector<int>{2, 3}));
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
