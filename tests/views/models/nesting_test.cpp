// SPDX-License-Identifier: GPL-3.0-or-later
// Changes inside the functions of control flow: counted, marked on the owner's card, selectable.
#include "tests/views/fixtures.h"
#include "views/models/nesting.h"
#include "views/models/tables.h"
#include "views/presenters/passes_presenter.h"
#include "views/scene/stage.h"

#include <QTest>

#include <algorithm>

using namespace tenon;
using namespace tenon::views;

class NestingTest : public QObject
{
    Q_OBJECT

private:
    static core::NodeId nodeOf(const core::Module& module, const std::string& op)
    {
        for (const core::NodeId id : programNodes(module))
            if (module.node(id).op == op) return id;
        return {};
    }
    /// One pass that makes the tanh of the If's second branch a sigmoid.
    static DocumentPtr document()
    {
        auto made = std::make_shared<Document>(*tests::branchingDocument());
        PassStep step{QStringLiteral("Rewrite"),
                      QStringLiteral("simplify"),
                      false,
                      true,
                      1,
                      {},
                      made->imported};
        core::NodeRecord record = made->imported.node(nodeOf(made->imported, "tanh"));
        record.op = "sigmoid";
        core::Change change;
        change.rule = "tanh-to-sigmoid";
        change.from = change.to = {record.id};
        step.after.setNode(record);
        step.changes = {change};
        made->passes.push_back(std::move(step));
        return made;
    }

private slots:
    void countsWhatIsNested()
    {
        const DocumentPtr shown = document();
        QCOMPARE(core::graphNodes(shown->imported), 2); // if, add
        QCOMPARE(core::nestedNodes(shown->imported), 3);
        QVERIFY(factsText(*shown).startsWith(QStringLiteral("2 nodes, 3 nested")));
        const auto rows = operatorRows(*shown);
        QVERIFY(std::any_of(rows.begin(), rows.end(), [](const OperatorRow& row) {
            return row.op == QStringLiteral("tanh") && row.count == 1;
        }));
    }

    void findsTheOwnerInTheMainFunction()
    {
        const core::Module module = document()->imported;
        const auto owners = ownersInMain(module);
        QCOMPARE(owners.at(nodeOf(module, "tanh")), nodeOf(module, "if"));
        QVERIFY(!owners.count(nodeOf(module, "add")));
    }

    void marksTheOwnerAsChangedInside()
    {
        const DocumentPtr shown = document();
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(shown));
        QVERIFY(stage.arrange());
        const Scene scene = stage.scene(1, DiffMode::Union);
        int changed = 0;
        for (const SceneItem& item : scene.items) {
            if (item.state != DiffState::Changed) continue;
            ++changed;
            QCOMPARE(item.title, QStringLiteral("if"));
            QCOMPARE(item.detail, QStringLiteral("1 change inside"));
        }
        QCOMPARE(changed, 1);
        const auto rows = deltaRows(*shown, 1);
        QCOMPARE(rows.size(), size_t{1});
        QCOMPARE(rows[0].from, 1);
        QCOMPARE(rows[0].to, 1); // it has not gone into a kernel, it stands in a branch
    }

    void selectsTheOwnerOfANestedNode()
    {
        JobPresenter jobs(1);
        Selection selection;
        PassesPresenter passes(jobs, selection);
        const DocumentPtr shown = document();
        passes.setDocument(shown, false);
        QVERIFY(QTest::qWaitFor([&] { return passes.state().isReady; }, 60000));
        selection.seek(nodeOf(shown->imported, "tanh"));
        const int item = passes.scene()->itemAt(passes.state().selected);
        QVERIFY(item >= 0);
        QCOMPARE(passes.scene()->items[static_cast<size_t>(item)].title, QStringLiteral("if"));
    }
};

QTEST_GUILESS_MAIN(NestingTest)
#include "nesting_test.moc"
