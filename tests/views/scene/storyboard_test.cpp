// SPDX-License-Identifier: GPL-3.0-or-later
// Places over all passes of models whose passes move operators past each other.
#include "tests/views/fixtures.h"
#include "views/presenters/inspector_presenter.h"
#include "views/scene/stage.h"

#include <QTest>

#include <algorithm>

using namespace tenon;
using namespace tenon::views;

class StoryboardTest : public QObject
{
    Q_OBJECT

private:
    static core::NodeId add(core::Module& module, core::NodeKind kind, const char* op,
                            core::NodeId operand)
    {
        core::NodeRecord node;
        node.id = module.ids().nextNode();
        node.kind = kind;
        node.op = node.name = op;
        if (operand.isValid()) node.operands = {{operand, 0}};
        module.setNode(node);
        return node.id;
    }

    /// image -> relu -> transpose -> scores; a pass has the transpose first.
    static std::shared_ptr<Document> swapped()
    {
        auto document = std::make_shared<Document>();
        core::Module module;
        core::GraphFunction main;
        main.id = module.ids().nextFunction();
        module.setMain(main.id);
        const core::NodeId image = add(module, core::NodeKind::Parameter, "", {});
        const core::NodeId relu = add(module, core::NodeKind::Op, "nn.relu", image);
        const core::NodeId transpose = add(module, core::NodeKind::Op, "transpose", relu);
        main.params = {image};
        main.order = {relu, transpose};
        main.results = {{transpose, 0}};
        main.resultNames = {"scores"};
        module.setFunction(main);
        document->imported = module;
        core::NodeRecord early = module.node(transpose), late = module.node(relu);
        early.operands = {{image, 0}};
        late.operands = {{transpose, 0}};
        module.setNode(early);
        module.setNode(late);
        main.order = {transpose, relu};
        main.results = {{relu, 0}};
        module.setFunction(main);
        document->passes.push_back({QStringLiteral("Swap"), {}, false, true, 0, {}, module});
        return document;
    }

private slots:
    void keepsTheOutputBelowWhatMovedPastEachOther()
    {
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(swapped()));
        QVERIFY(stage.arrange());
        for (const size_t version : {size_t{0}, size_t{1}}) {
            double output = 0, others = 0;
            for (const SceneItem& item : stage.scene(version, DiffMode::After).items) {
                double& lowest = item.title == QStringLiteral("scores") ? output : others;
                lowest = std::max(lowest, item.rect.top());
            }
            QVERIFY(output > others);
        }
    }

    void marksTheNodesThatErrorsAreAbout()
    {
        const std::shared_ptr<Document> document = swapped();
        document->issues = {core::makeError(core::DiagnosticCode::BadModel, "not supported",
                                            {.node = "transpose"})};
        Stage stage = Stage::forPasses(std::make_shared<const Storyboard>(document));
        QVERIFY(stage.arrange());
        for (const SceneItem& item : stage.scene(0, DiffMode::After).items) {
            QCOMPARE(item.isFaulty, item.title == QStringLiteral("transpose"));
            QCOMPARE(item.spoken.contains(QStringLiteral("error")), item.isFaulty);
        }
    }

    void saysWhatIsWrongWithTheSelectedNode()
    {
        const std::shared_ptr<Document> document = swapped();
        document->issues = {core::makeError(core::DiagnosticCode::BadModel, "not supported",
                                            {.node = "transpose"})};
        const Engine engine = tests::fakeEngine();
        JobPresenter jobs(1);
        Selection selection;
        InspectorPresenter inspector(engine, jobs, selection);
        inspector.setDocument(document);
        selection.select(document->imported.main().order.back());
        QCOMPARE(inspector.state().facts.front().value, QStringLiteral("not supported"));
        selection.select(document->imported.main().order.front());
        QVERIFY(inspector.state().facts.front().value != QStringLiteral("not supported"));
    }
};

QTEST_GUILESS_MAIN(StoryboardTest)
#include "storyboard_test.moc"
