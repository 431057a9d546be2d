// SPDX-License-Identifier: GPL-3.0-or-later
// Compile options: a draft that is checked, its command line, and the levels side by side.
#include "tests/views/fixtures.h"
#include "views/presenters/options_presenter.h"

#include <QTest>

using namespace tenon;
using namespace tenon::views;

class OptionsTest : public QObject
{
    Q_OBJECT

private:
    static Engine engine(BuildOptions* compiled)
    {
        Engine engine = tests::fakeEngine();
        engine.passes = [] {
            return std::vector<PassChoice>{{QStringLiteral("InferType"), {}, {}, 0},
                                           {QStringLiteral("FuseOps"), {}, {}, 1}};
        };
        engine.checkOptions = [](const BuildOptions& options) -> core::Status {
            if (options.passConfig.contains(QStringLiteral("bad")))
                return core::makeError(core::DiagnosticCode::BadArgument, "bad is no key");
            return core::kDone;
        };
        engine.compile = [compiled, compile = engine.compile](DocumentPtr document,
                                                              const BuildOptions& options,
                                                              core::JobContext& job) {
            *compiled = options;
            return compile(document, options, job);
        };
        engine.measureLevels = [](DocumentPtr, const BuildOptions&, const Engine::LevelWatch& watch,
                                  core::JobContext&) -> core::Result<std::vector<LevelRow>> {
            std::vector<LevelRow> rows;
            for (int level = 0; level < 4; ++level) {
                LevelRow row;
                row.level = level;
                row.medianUs = 80.0 / (level + 1);
                row.calls = 10 - level;
                rows.push_back(row);
                watch(sharedOut(rows));
            }
            return rows;
        };
        return engine;
    }
    static bool open(WorkspacePresenter& workspace)
    {
        workspace.open(QStringLiteral("small.onnx"));
        return QTest::qWaitFor([&] { return workspace.state().canBuild; }, 60000);
    }

private slots:
    void compilesWithTheDraft()
    {
        BuildOptions compiled;
        WorkspacePresenter workspace(engine(&compiled), 1);
        OptionsPresenter options(workspace);
        QVERIFY(open(workspace));
        workspace.setTarget(QStringLiteral("llvm -mcpu=skylake"));
        options.start();
        QVERIFY(!options.state().isChanged);
        options.setOptLevel(1);
        options.setExecutor(QStringLiteral("graph"));
        options.setThreads(QStringLiteral("2"));
        options.setPassConfig(QStringLiteral("fuse_rows=0  tir.disable_vectorize=1"));
        options.setWorkspacePools(QStringLiteral(" DTCM=64KiB, SRAM@.sram "));
        options.setConstantPools(QStringLiteral("FLASH"));
        options.passes().setData(options.passes().index(1), Qt::Unchecked, Qt::CheckStateRole);
        QCOMPARE(options.state().commandLine,
                 QStringLiteral("--opt-level 1 --executor graph --threads 2 "
                                "--workspace-pools DTCM=64KiB,SRAM@.sram --constant-pools FLASH "
                                "--disable-pass FuseOps "
                                "--pass-config fuse_rows=0 --pass-config tir.disable_vectorize=1"));
        QVERIFY(options.state().isChanged);
        QVERIFY(options.apply());
        QVERIFY(QTest::qWaitFor([&] { return workspace.document()->isCompiled(); }, 60000));
        QCOMPARE(compiled.optLevel, 1);
        QCOMPARE(compiled.executor, QStringLiteral("graph"));
        QCOMPARE(compiled.threads, 2);
        QCOMPARE(compiled.workspacePools, QStringLiteral("DTCM=64KiB,SRAM@.sram"));
        QCOMPARE(compiled.constantPools, QStringLiteral("FLASH"));
        QCOMPARE(compiled.disabledPasses, QStringList{QStringLiteral("FuseOps")});
        QCOMPARE(compiled.target, QStringLiteral("llvm -mcpu=skylake"));
        options.reset();
        QCOMPARE(options.state().commandLine, QString());
    }

    void refusesADraftThatMakesNoSense()
    {
        BuildOptions compiled;
        WorkspacePresenter workspace(engine(&compiled), 1);
        OptionsPresenter options(workspace);
        QVERIFY(open(workspace));
        options.start();
        options.setThreads(QStringLiteral("many"));
        QCOMPARE(options.state().problem, QStringLiteral("threads are a number from 0 to 1024"));
        QVERIFY(!options.apply());
        options.setThreads({});
        options.setPassConfig(QStringLiteral("bad"));
        QCOMPARE(options.state().problem, QStringLiteral("bad is no key"));
        QVERIFY(!options.state().canCompile && !options.apply());
        QVERIFY(!workspace.document()->isCompiled());
    }

    void leavesPassesOfHigherLevelsAlone()
    {
        BuildOptions compiled;
        WorkspacePresenter workspace(engine(&compiled), 1);
        OptionsPresenter options(workspace);
        options.start();
        QVERIFY(options.passes().flags(options.passes().index(1)) & Qt::ItemIsEnabled);
        options.setOptLevel(0);
        QVERIFY(!(options.passes().flags(options.passes().index(1)) & Qt::ItemIsEnabled));
    }

    void comparesLevels()
    {
        BuildOptions compiled;
        WorkspacePresenter workspace(engine(&compiled), 1);
        OptionsPresenter options(workspace);
        QVERIFY(open(workspace));
        options.start();
        options.compareLevels();
        QVERIFY(QTest::qWaitFor([&] { return !options.state().isComparing; }, 60000));
        QCOMPARE(options.levels().rowCount(), 4);
        QCOMPARE(options.levels().rows()[0].share, 1.0);
        QCOMPARE(options.levels().rows()[3].share, 0.25);
        QVERIFY(options.state().levelsCaption.startsWith(QStringLiteral("small")));
    }
};

QTEST_GUILESS_MAIN(OptionsTest)
#include "options_test.moc"
