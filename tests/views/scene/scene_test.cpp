// SPDX-License-Identifier: GPL-3.0-or-later
// Scenes: places that stay, diff states, frames, groups, two versions side by side, lineage, and
// the tables that say the same.
#include "tests/views/fixtures.h"
#include "views/models/node_search.h"
#include "views/models/run_rows.h"
#include "views/models/tables.h"
#include "views/scene/lineage.h"
#include "views/scene/scene_table.h"
#include "views/scene/stage.h"

#include <QAbstractItemModelTester>
#include <QTest>

#include <algorithm>
#include <set>

using namespace tenon;
using namespace tenon::views;

class SceneTest : public QObject
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

    void labelsEdgesClearOfFrames()
    {
        Stage stage = Stage::forPasses(board(3));
        QVERIFY(stage.arrange());
        const Scene scene = stage.scene(3, DiffMode::Union);
        int labels = 0;
        for (const SceneEdge& edge : scene.edges) {
            if (edge.label.isEmpty()) continue;
            ++labels;
            for (const SceneItem& item : scene.items)
                for (const double border : {item.rect.top(), item.rect.bottom()})
                    QVERIFY(std::abs(edge.labelAt.y() - border) > 6 ||
                            edge.labelAt.x() < item.rect.left() ||
                            edge.labelAt.x() > item.rect.right());
        }
        QVERIFY(labels >= 3);
    }

    void closesTheGapOfAFoldedMember()
    {
        const auto places = std::make_shared<const Storyboard>(tests::foldedDocument(2));
        Stage stage = Stage::forPasses(places);
        QVERIFY(stage.arrange());
        const Scene before = stage.scene(3, DiffMode::After),
                    after = stage.scene(4, DiffMode::After);
        std::map<PlaceId, std::vector<QRectF>> rows;
        for (const SceneItem& item : after.items)
            if (item.isMember) rows[item.frame].push_back(item.rect);
        QCOMPARE(rows.size(), size_t{2});
        for (const auto& [frame, rects] : rows) {
            const QRectF outer = after.items[static_cast<size_t>(after.itemAt(frame))].rect;
            for (size_t i = 0; i < rects.size(); ++i) {
                QVERIFY(outer.contains(rects[i]));
                if (i > 0) QCOMPARE(rects[i].top() - rects[i - 1].bottom(), double{Stage::kRowGap});
            }
            QVERIFY(outer.bottom() - rects.back().bottom() < 20);
        }
        // Edges meet the cards where they stand now; what was not fused stays to the pixel.
        for (const SceneEdge& edge : after.edges) {
            const auto from = static_cast<size_t>(edge.from), to = static_cast<size_t>(edge.to);
            QCOMPARE(after.points[edge.first].y(), after.items[from].rect.bottom());
            QCOMPARE(after.points[edge.first + edge.count - 1].y(), after.items[to].rect.top());
            for (uint32_t i = 1; i < edge.count; ++i)
                QVERIFY(after.points[edge.first + i].y() >= after.points[edge.first + i - 1].y());
        }
        for (const SceneItem& item : after.items) {
            if (item.isMember || item.isFrame) continue;
            const int old = before.itemAt(item.place);
            QVERIFY(old >= 0);
            QCOMPARE(before.items[static_cast<size_t>(old)].rect, item.rect);
        }
    }

    void showsTwoVersionsSideBySide()
    {
        Stage stage = Stage::forPasses(board(2));
        QVERIFY(stage.arrange());
        // batch_norm -> multiply, add is a fan; four nodes -> one frame is a wedge.
        const Scene fan = stage.split(1, 2), wedge = stage.split(2, 3), both = stage.split(1, 3);
        const auto ends = [](const Scene& scene, auto end) {
            std::map<int, int> counts;
            for (const SceneRibbon& ribbon : scene.ribbons) ++counts[ribbon.*end];
            return counts;
        };
        QCOMPARE(fan.ribbons.size(), size_t{4});
        for (const auto& [item, count] : ends(fan, &SceneRibbon::from)) QCOMPARE(count, 2);
        QCOMPARE(wedge.ribbons.size(), size_t{8});
        for (const auto& [item, count] : ends(wedge, &SceneRibbon::to)) {
            QCOMPARE(count, 4);
            QVERIFY(wedge.items[static_cast<size_t>(item)].isFrame);
        }
        QCOMPARE(both.ribbons.size(), size_t{6}); // conv, batch_norm, relu of each block
        for (const Scene* scene : {&fan, &wedge, &both}) {
            QCOMPARE(scene->columns.size(), size_t{2});
            for (const SceneRibbon& ribbon : scene->ribbons) {
                const QRectF from = scene->items[static_cast<size_t>(ribbon.from)].rect;
                const QRectF to = scene->items[static_cast<size_t>(ribbon.to)].rect;
                QVERIFY(scene->items[static_cast<size_t>(ribbon.from)].isBefore);
                QVERIFY(from.right() < to.left());
                QVERIFY(ribbon.fromTop >= from.top() && ribbon.fromBottom <= from.bottom() + 1e-6);
                QVERIFY(ribbon.toTop >= to.top() && ribbon.toBottom <= to.bottom() + 1e-6);
            }
            for (const SceneEdge& edge : scene->edges)
                QCOMPARE(scene->items[static_cast<size_t>(edge.from)].isBefore,
                         scene->items[static_cast<size_t>(edge.to)].isBefore);
        }
        const auto input = static_cast<size_t>(fan.itemAt(stage.board().sequence().front()));
        QCOMPARE(fan.items[input].state, DiffState::Unchanged);
    }

    void opensControlFlowAsGroups()
    {
        const auto document = tests::branchingDocument();
        const auto places = std::make_shared<const Storyboard>(document, BodyCards::Shown);
        Stage open = Stage::forScopes(places, 0, {});
        QVERIFY(open.arrange());
        QCOMPARE(open.scopes().size(), size_t{3});
        QCOMPARE(open.scopes()[0].name, QStringLiteral("choose"));
        QCOMPARE(open.scopes()[1].name, QStringLiteral("then_branch"));
        QCOMPARE(open.scopes()[2].parent, 0);
        const Scene scene = open.scene(0, DiffMode::After);
        QCOMPARE(scene.items.size(), size_t{3 + 1 + 1 + 3 + 1 + 1}); // groups, cards, output
        const core::NodeId sigmoid = findNode(document->imported, QStringLiteral("sigmoid"));
        QVERIFY(sigmoid.isValid());
        const PlaceId inner = places->placeOf(sigmoid);
        QCOMPARE(open.scopesAround(inner).size(), size_t{2});
        const auto reads = [&](const Scene& in, PlaceId from, const char* title) {
            return std::any_of(in.edges.begin(), in.edges.end(), [&](const SceneEdge& edge) {
                return edge.from == in.itemAt(from) &&
                       in.items[static_cast<size_t>(edge.to)].title == QLatin1String(title);
            });
        };
        QVERIFY(reads(scene, inner, "add"));

        Stage closed = Stage::forScopes(places, 0, {open.scopes()[0].path});
        QVERIFY(closed.arrange());
        const Scene card = closed.scene(0, DiffMode::After);
        QCOMPARE(card.items.size(), size_t{1 + 1 + 1 + 1});
        QVERIFY(card.items[0].isCollapsed);
        QVERIFY(card.items[0].place != kNoPlace); // selecting the group selects the If
        QVERIFY(reads(card, inner, "add"));
        // The pass stepper shows control flow as one card.
        QCOMPARE(Storyboard(document).sequence().size(), size_t{4});
    }

    void tableTwinsHaveARowForEveryItem()
    {
        Stage stage = Stage::forPasses(board(2));
        QVERIFY(stage.arrange());
        const Scene scene = stage.scene(3, DiffMode::Union);
        SceneTable* table = makeSceneTable(this);
        const QAbstractItemModelTester tester(
            table, QAbstractItemModelTester::FailureReportingMode::QtTest);
        table->setRows(sceneRows(scene));
        QCOMPARE(table->rowCount(), static_cast<int>(scene.items.size()));
        for (int row = 0; row < table->rowCount(); ++row) {
            QCOMPARE(table->index(row, 0).data().toString(),
                     scene.items[static_cast<size_t>(row)].title);
            QVERIFY(table->index(row, 0).data(NodeRole).toLongLong() >= 0);
        }
        const LineageIndex index(std::make_shared<const Storyboard>(stage.board()));
        const Lineage lineage = index.lineageOf(scene.items.front().place, 3);
        size_t dots = 0;
        for (const LineageRow& row : lineage.rows) dots += row.versions.size();
        const auto touches =
            touchRows(lineage, {QStringLiteral("a"), QStringLiteral("b"), QStringLiteral("c")});
        QCOMPARE(touches.size(), dots);
        QVERIFY(dots > 0);
        Document measured;
        measured.measurement = Measurement{};
        measured.measurement->runUs = {3, 1, 2};
        QCOMPARE(runRows(measured.measurement).size(), size_t{3});
        QCOMPARE(runRows(measured.measurement)[1].us, 1.0);
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

    void comparesAnyTwoVersionsInOnePicture()
    {
        Stage stage = Stage::forPasses(board(2));
        QVERIFY(stage.arrange());
        const Scene both = stage.difference(0, 3);
        QCOMPARE(countOf(both, DiffState::Added, true), 2); // the kernels
        const Scene same = stage.difference(3, 3);
        QCOMPARE(countOf(same, DiffState::Added, true), 0);
        const Scene last = stage.difference(2, 3), known = stage.scene(3, DiffMode::Union);
        QCOMPARE(last.items.size(), known.items.size());
    }

    void foldsBlocksOfAModelWithoutScopes()
    {
        const auto chain = tests::largeDocument(30); // conv, conv, add, ten times
        const auto places = std::make_shared<const Storyboard>(chain);
        Stage open = Stage::forScopes(places, 0, {});
        QVERIFY(open.arrange());
        QCOMPARE(open.scopes().size(), size_t{11});
        QCOMPARE(open.scopes()[0].name, QStringLiteral("block ×10"));
        QVERIFY(open.scopes()[0].isRepeat);
        QCOMPARE(open.scopes()[1].name, QStringLiteral("block 1 of 10"));
        QCOMPARE(open.scopes()[1].parent, 0);
        QCOMPARE(open.scopes()[1].cardCount, 3);
        Stage closed = Stage::forScopes(places, 0, {open.scopes()[0].path});
        QVERIFY(closed.arrange());
        QCOMPARE(closed.scene(0, DiffMode::After).items.size(), size_t{3}); // input, block, output
        const Stage named =
            Stage::forScopes(std::make_shared<const Storyboard>(tests::smallDocument(4)), 0, {});
        for (const NameScope& scope : named.scopes()) QVERIFY(!scope.isRepeat);
    }

    void tellsTheSameInTheStripAndInTheListOfPasses()
    {
        const auto places = board(2);
        const LineageIndex index(places);
        for (size_t version = 0; version < 4; ++version)
            for (PlaceId place = 0; place < static_cast<PlaceId>(places->places().size());
                 ++place) {
                std::set<int> dots;
                for (const LineageRow& row : index.lineageOf(place, version).rows)
                    dots.insert(row.versions.begin(), row.versions.end());
                const std::vector<int> touching = index.versionsTouching(place, version);
                QCOMPARE(std::vector<int>(dots.begin(), dots.end()), touching);
            }
    }

    void followsLineageFromAFrameToItsSources()
    {
        const auto places = board(2);
        const LineageIndex index(places);
        const core::Module& last = places->document().version(3);
        const PlaceId frame = places->placeOf(last.main().order[0]);
        QVERIFY(places->places()[static_cast<size_t>(frame)].isFrame);
        QCOMPARE(index.versionsTouching(frame, 3), (std::vector<int>{2, 3}));
        const Lineage lineage = index.lineageOf(frame, 3);
        QCOMPARE(lineage.sourceCount, 3);
        QCOMPARE(lineage.rows[1].op, QStringLiteral("BatchNormalization"));
        QCOMPARE(lineage.rows[1].versions, (std::vector<int>{2, 3}));
        // A call that was chosen elsewhere is described also where the shown version has none yet.
        QCOMPARE(versionFilling(*places, frame, 0), std::optional<size_t>(3));
        QCOMPARE(index.lineageOf(frame, 0).rows.size(), lineage.rows.size());
        QCOMPARE(index.lineageOf(frame, 0).title, lineage.title);
    }
};

QTEST_GUILESS_MAIN(SceneTest)
#include "scene_test.moc"
