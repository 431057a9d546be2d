// SPDX-License-Identifier: GPL-3.0-or-later
// Steps that are kept: the last ones used, within their bound, and the same as a stage gives them.
#include "tests/views/fixtures.h"
#include "views/presenters/step_views.h"

#include <QTest>

using namespace tenon::views;

class StepViewsTest : public QObject
{
    Q_OBJECT

private:
    static StepViewPtr viewOf(size_t items)
    {
        auto scene = std::make_shared<Scene>();
        scene->items.resize(items);
        auto view = std::make_shared<StepView>();
        view->scene = std::move(scene);
        return view;
    }
    static StepQuestion at(size_t version) { return {.version = version, .last = version}; }

private slots:
    void dropsWhatWasUsedLongestAgo()
    {
        constexpr size_t kThird = StepViews::kMostItems / 3;
        StepViews views;
        for (const size_t version : {1, 2, 3}) views.keep(at(version), viewOf(kThird));
        QVERIFY(views.find(at(1))); // used again
        views.keep(at(4), viewOf(kThird));
        QVERIFY(!views.find(at(2)));
        for (const size_t version : {1, 3, 4}) QVERIFY(views.find(at(version)));
        views.clear();
        QVERIFY(!views.find(at(1)));
    }

    void keepsNothingThatIsLargerThanAll()
    {
        StepViews views;
        views.keep(at(1), viewOf(StepViews::kMostItems + 1));
        QVERIFY(!views.find(at(1)));
    }

    void tellsQuestionsApart()
    {
        StepViews views;
        const StepQuestion union_{.version = 2, .base = 1, .last = 2};
        StepQuestion split = union_, coloured = union_;
        split.mode = DiffMode::Split;
        coloured.looks.isColoured = true;
        views.keep(union_, viewOf(1));
        QVERIFY(views.find(union_));
        QVERIFY(!views.find(split));
        QVERIFY(!views.find(coloured));
    }

    void answersAsTheStageDoes()
    {
        const auto board = std::make_shared<const Storyboard>(tenon::tests::smallDocument(2));
        Stage stage = Stage::forPasses(board);
        QVERIFY(stage.arrange());
        const size_t last = board->document().passes.size();
        const StepViewPtr after = stepViewOf(
            stage, {.version = last, .base = last - 1, .last = last, .mode = DiffMode::After});
        QCOMPARE(after->scene->items.size(), stage.scene(last, DiffMode::After, {}).items.size());
        const StepViewPtr changed =
            stepViewOf(stage, {.version = last, .base = last - 1, .last = last});
        QCOMPARE(changed->scene->items.size(), stage.difference(last - 1, last, {}).items.size());
        QCOMPARE(changed->deltas.size(), board->document().passes.back().changes.size());
        QVERIFY(stepViewOf(stage, {.version = last, .base = last, .last = last})->deltas.empty());
    }
};

QTEST_GUILESS_MAIN(StepViewsTest)
#include "step_views_test.moc"
