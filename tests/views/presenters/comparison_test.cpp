// SPDX-License-Identifier: GPL-3.0-or-later
// What a pass is compared with: the one before, or one that is pinned, also after the model was
// compiled for another target.
#include "tests/views/fixtures.h"
#include "views/presenters/passes_presenter.h"
#include "views/presenters/workspace_presenter.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class ComparisonTest : public QObject
{
    Q_OBJECT

private:
    struct Bench
    {
        explicit Bench(Engine engine = tests::fakeEngine())
            : workspace(std::move(engine), 1)
            , passes(workspace.jobs(), workspace.selection())
        {
            QObject::connect(
                &workspace, &WorkspacePresenter::documentChanged, &passes,
                [this](bool isSame) { passes.setDocument(workspace.document(), isSame); });
            workspace.open(QStringLiteral("small.onnx"));
            isReady = wait();
        }
        bool wait()
        {
            return QTest::qWaitFor(
                [this] { return passes.state().isReady && !workspace.state().isBusy; }, 10000);
        }
        WorkspacePresenter workspace;
        PassesPresenter passes;
        bool isReady = false;
    };

private slots:
    void pinsAndUnpins()
    {
        Bench bench;
        QVERIFY(bench.isReady);
        bench.passes.showVersion(0);
        bench.passes.togglePin();
        QCOMPARE(bench.passes.state().pinText, QStringLiteral("Imported"));
        bench.passes.showVersion(3);
        QCOMPARE(bench.passes.state().comparison, QStringLiteral("Imported → FuseOps"));
        QCOMPARE(bench.passes.state().title, QStringLiteral("FuseOps"));
        bench.passes.unpin(); // also far from the pinned pass
        QCOMPARE(bench.passes.state().pinText, QString());
        QCOMPARE(bench.passes.state().comparison, QStringLiteral("FuseOps"));
    }

    /// Picture, table and command line tell the same.
    void addsUpWhatThePassesBetweenChanged()
    {
        Bench bench;
        QVERIFY(bench.isReady);
        bench.passes.showVersion(3);
        QCOMPARE(bench.passes.deltas().rows().size(), size_t{2}); // two fusions
        QCOMPARE(bench.passes.deltas().rows()[0].rule, QStringLiteral("fuse"));
        bench.passes.showVersion(0);
        bench.passes.togglePin();
        bench.passes.showVersion(3);
        const auto& rows = bench.passes.deltas().rows();
        QCOMPARE(rows.size(), size_t{2});
        QCOMPARE(rows[0].rule, QStringLiteral("expand-batch-norm, fuse"));
        QCOMPARE(rows[0].from, 3);
        QCOMPARE(rows[0].to, 1);
        for (const DiffMode mode : {DiffMode::Union, DiffMode::Split}) {
            bench.passes.setMode(mode);
            QCOMPARE(bench.passes.scene()->columns.size(),
                     mode == DiffMode::Split ? size_t{2} : size_t{0});
            const auto& items = bench.passes.scene()->items;
            QVERIFY(std::any_of(items.begin(), items.end(), [](const SceneItem& item) {
                return item.state == DiffState::Added || item.state == DiffState::Changed;
            }));
        }
        bench.passes.showVersion(0); // the pinned one itself: nothing to compare
        QVERIFY(bench.passes.deltas().rows().empty());
    }

    void keepsItsPassForAnotherTarget()
    {
        Engine engine = tests::fakeEngine();
        engine.compile = [](DocumentPtr document, const BuildOptions& options,
                            core::JobContext&) -> core::Result<DocumentPtr> {
            auto compiled = std::make_shared<Document>(*document);
            compiled->target = options.target;
            if (options.target.contains(QLatin1String("other"))) // a pass more, in front
                compiled->passes.insert(compiled->passes.begin(), compiled->passes.front());
            return DocumentPtr(compiled);
        };
        Bench bench(engine);
        QVERIFY(bench.isReady);
        bench.passes.showVersion(2);
        bench.passes.togglePin();
        bench.passes.showVersion(3);
        bench.workspace.setTarget(QStringLiteral("llvm -mcpu=other"));
        bench.workspace.compile();
        QVERIFY(bench.wait());
        QCOMPARE(bench.passes.state().versionCount, 5);
        QCOMPARE(bench.passes.state().title, QStringLiteral("FuseOps"));
        QCOMPARE(bench.passes.state().version, 4);
        QCOMPARE(bench.passes.state().pinText, QStringLiteral("SimplifyInference"));
        bench.passes.showVersion(0); // also the model as it was read
        bench.workspace.setTarget(QStringLiteral("llvm"));
        bench.workspace.compile();
        QVERIFY(bench.wait());
        QCOMPARE(bench.passes.state().version, 0);
    }
};

QTEST_GUILESS_MAIN(ComparisonTest)
#include <algorithm>

#include "comparison_test.moc"
