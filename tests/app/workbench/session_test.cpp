// SPDX-License-Identifier: GPL-3.0-or-later
// Settings files, good, damaged and impossible to write; and a session that comes back.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "views/pages/deploy/deploy_page.h"
#include "views/pages/passes/passes_page.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class SessionTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }
    void write(const QString& file, const QByteArray& bytes) const
    {
        QFile out(file);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(bytes);
    }
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 240000);
    }
    WindowOptions options(const QString& settings) const
    {
        return {false, false, QStringLiteral(TENON_SAMPLE_MODEL), 1, settings};
    }

private slots:
    void keepsEverythingItWasGiven()
    {
        Settings settings;
        settings.theme = ThemeChoice::Dark;
        settings.target = QStringLiteral("llvm -mcpu=znver4");
        settings.geometry = QByteArray("\0\1\xff", 3);
        settings.isMotionReduced = true;
        for (int i = 0; i < 20; ++i) settings.addRecent(QStringLiteral("/m/%1.onnx").arg(i));
        settings.session = {QStringLiteral("/m/19.onnx"),
                            QStringLiteral("batch=1..8"),
                            true,
                            QStringLiteral("memory"),
                            QStringLiteral("FuseOps"),
                            QStringLiteral("conv 1"),
                            QStringLiteral("linear_scan"),
                            QStringLiteral("rpi4"),
                            QStringLiteral("2.5 s"),
                            {{QStringLiteral("inspect"), {0.5, {12.5, -3}}},
                             {QStringLiteral("passes"), {2, {0, 1e6}}}}};
        const QString file = path("deep/below/settings.json");
        QVERIFY(saveSettings(settings, file));
        const Settings loaded = loadSettings(file);
        QVERIFY(loaded.problem.isEmpty());
        QVERIFY(loaded.theme == settings.theme);
        QCOMPARE(loaded.target, settings.target);
        QCOMPARE(loaded.geometry, settings.geometry);
        QCOMPARE(loaded.isMotionReduced, true);
        QCOMPARE(loaded.recents, settings.recents);
        QCOMPARE(loaded.recents.size(), Settings::kRecents);
        QVERIFY(loaded.session == settings.session);
    }

    void startsWithTheDefaultsWhenThereIsNoFile()
    {
        const Settings settings = loadSettings(path("none.json"));
        QVERIFY(settings.problem.isEmpty());
        QCOMPARE(settings.target, Settings().target);
    }

    void startsAndKeepsADamagedFileAside()
    {
        for (const QByteArray& bytes :
             {QByteArray("{\"theme\": \"da"), QByteArray(), QByteArray("[1, 2]"),
              QByteArray("\xff\xfe\x00garbage", 10)}) {
            const QString file = path("damaged.json");
            write(file, bytes);
            const Settings settings = loadSettings(file);
            QVERIFY(settings.problem.contains(file));
            QCOMPARE(settings.target, Settings().target);
            QVERIFY(!QFile::exists(file));
            QVERIFY(QFile::exists(file + QStringLiteral(".damaged")));
        }
    }

    void leavesValuesOfTheWrongKindAtTheirDefaults()
    {
        const QString file = path("odd.json");
        write(file, R"({"theme": 7, "recents": {"a": 1}, "target": [], "geometry": 3,
                        "reduceMotion": "yes", "session": {"model": 4, "pass": null,
                        "inspectCamera": {"zoom": -1}, "passesCamera": {"zoom": 1e300}}})");
        const Settings settings = loadSettings(file);
        QVERIFY(settings.problem.isEmpty());
        QCOMPARE(settings.target, Settings().target);
        QVERIFY(settings.recents.isEmpty());
        QVERIFY(settings.session == Session());
    }

    void saysWhereItCouldNotSave()
    {
        write(path("file"), "x");
        const core::Status saved = saveSettings({}, path("file/settings.json"));
        QVERIFY(!saved);
        QVERIFY(saved.error().code == core::DiagnosticCode::IoFailure);
    }

    void bringsASessionBack()
    {
        const QString file = path("session.json");
        Session before;
        {
            MainWindow window(makeEngine({}), {}, options(file));
            window.resize(1280, 800);
            window.show();
            window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
            QVERIFY(settle(window));
            window.memory().choosePlanner(QStringLiteral("linear_scan")); // not compiled: no effect
            window.workspace().setPlanner(QStringLiteral("linear_scan"));
            window.workspace().compile();
            QVERIFY(settle(window));
            QVERIFY(window.showPerspective(QStringLiteral("passes")));
            QVERIFY(window.showPass(QStringLiteral("FuseOps")));
            QVERIFY(window.selectNode(QStringLiteral("conv2d")));
            QVERIFY(settle(window));
            window.part<views::PassesPage>().canvas().setCamera({{321, 1234}, 0.75});
            window.showPerspective(QStringLiteral("memory"));
            before = window.session();
            window.close();
        }
        const Settings settings = loadSettings(file);
        QVERIFY(settings.session == before);
        QCOMPARE(settings.recents.size(), 1);
        MainWindow window(makeEngine({}), settings, options(file));
        window.resize(1280, 800);
        window.show();
        window.restoreSession();
        QVERIFY(settle(window));
        QTest::qWait(0); // the cameras are set after the pages
        const Session after = window.session();
        QCOMPARE(after.model, before.model);
        QCOMPARE(after.perspective, QStringLiteral("memory"));
        QCOMPARE(after.pass, QStringLiteral("FuseOps"));
        QCOMPARE(after.node, before.node);
        QVERIFY(!after.node.isEmpty());
        QVERIFY(after.cameras == before.cameras);
        QVERIFY(after.isCompiled);
        QCOMPARE(window.memory().plan().algorithm, QStringLiteral("linear_scan"));
    }

    void showsNoOtherPageMeanwhile()
    {
        Settings settings;
        settings.session.model = QStringLiteral(TENON_SAMPLE_MODEL);
        settings.session.perspective = QStringLiteral("memory");
        settings.session.isCompiled = true;
        MainWindow window(makeEngine({}), settings, options(path("pages.json")));
        window.show();
        QStringList pages;
        connect(&window.workspace(), &views::WorkspacePresenter::stateChanged, &window,
                [&] { pages << window.session().perspective; });
        window.restoreSession();
        QVERIFY(settle(window));
        pages.removeAll(QString()); // the first page, before the model is read
        pages.removeDuplicates();
        QCOMPARE(pages, QStringList{QStringLiteral("memory")});
    }

    void keepsTheTimeBudget()
    {
        const QString file = path("budget.json");
        {
            MainWindow window(makeEngine({}), {}, options(file));
            window.part<views::DeployPage>().budget().setText(QStringLiteral("2.5 s"));
            window.part<views::DeployPage>().budget().setText(QStringLiteral("nonsense"));
            window.close();
        }
        MainWindow window(makeEngine({}), loadSettings(file), options(file));
        window.restoreSession();
        QCOMPARE(window.part<views::DeployPage>().budget().text(), QStringLiteral("2.5 s"));
        QCOMPARE(window.session().budget, QStringLiteral("2.5 s"));
    }

    /// The target of the last window is kept; so must be the board that it was chosen for.
    void keepsTheBoardForAModelThatIsNamed()
    {
        QTemporaryDir folder;
        EngineOptions engine;
        engine.configFolder = folder.filePath(QStringLiteral("config"));
        QDir().mkpath(engine.configFolder);
        write(engine.configFolder + QStringLiteral("/boards.json"),
              R"({"version": 1, "boards": [{"name": "m4", "kind": "micro",
                  "target": "c -mcpu=cortex-m4", "profile": "mps2-an386", "host": "mps2-an386"}]})");
        Settings settings;
        settings.target = QStringLiteral("c -mcpu=cortex-m4");
        settings.session.model = QStringLiteral("/gone.onnx");
        settings.session.board = QStringLiteral("m4");
        settings.session.budget = QStringLiteral("3 s");
        MainWindow window(makeEngine(engine), settings, options(path("named.json")));
        window.restoreChoices();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QCOMPARE(window.boards().board().name, QStringLiteral("m4"));
        QCOMPARE(window.workspace().state().target, settings.target);
        QCOMPARE(window.deploy().state().budget, QStringLiteral("3 s"));
    }

    void keepsTheSessionOfAWindowThatIsKilled()
    {
        const QString file = path("kept.json");
        MainWindow window(makeEngine({}), {}, options(file));
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(window.showPerspective(QStringLiteral("memory")));
        QVERIFY(QTest::qWaitFor(
            [&] { return loadSettings(file).session.perspective == QLatin1String("memory"); },
            120000));
        QCOMPARE(loadSettings(file).session.model, window.session().model);
    }

    void startsEmptyWhenTheModelIsGone()
    {
        Settings settings;
        settings.session.model = path("deleted.onnx");
        MainWindow window(makeEngine({}), settings, options(path("gone.json")));
        window.show();
        window.restoreSession();
        QVERIFY(settle(window));
        QVERIFY(!window.workspace().state().hasDocument);
        write(path("bad.onnx"), "\x08\x07\x3a\xff garbage");
        settings.session.model = path("bad.onnx");
        MainWindow other(makeEngine({}), settings, options(path("gone.json")));
        other.show();
        other.restoreSession();
        QVERIFY(settle(other)); // the banner says what is wrong, nothing waits
        QVERIFY(!other.workspace().state().bannerTitle.isEmpty());
    }
};

QTEST_MAIN(SessionTest)
#include "session_test.moc"
