// SPDX-License-Identifier: GPL-3.0-or-later
// The Deploy page with the real engine: deployments to this computer and to a real sshd, with the
// questions of a first contact, a changed key, a passphrase, and what is left behind.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "core/base/file.h"
#include "tests/support/need_qt.h"
#include "tests/support/sshd.h"
#include "views/pages/deploy/deploy_page.h"

#include <QDirIterator>
#include <QMenu>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>

using namespace tenon;
using namespace tenon::app;

class DeployTest : public QObject
{
    Q_OBJECT

private:
    static constexpr int kPatienceMs = 240000;

    template <class Condition>
    static bool waitFor(Condition condition)
    {
        return QTest::qWaitFor(condition, kPatienceMs);
    }
    static bool settle(MainWindow& window)
    {
        return waitFor([&] { return window.isSettled(); });
    }
    /// A window of its own configuration folder, with the sample open.
    struct Bench
    {
        explicit Bench(const QString& config)
            : window(makeEngine(options(config)), {},
                     {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1})
        {
            window.resize(1280, 800);
            window.show();
            window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        }
        static EngineOptions options(const QString& config)
        {
            EngineOptions engine;
            engine.configFolder = config;
            engine.repeats = 5;
            return engine;
        }
        MainWindow window;
    };

    /// The real engine; while `isEndless`, what it measures takes days.
    static views::Engine engineWith(const QString& config,
                                    const std::shared_ptr<std::atomic<bool>>& isEndless)
    {
        EngineOptions options = Bench::options(config);
        views::Engine engine = makeEngine(options);
        options.repeats = 10000000;
        engine.boards.deploy =
            [quick = engine.boards.deploy, slow = makeEngine(options).boards.deploy, isEndless](
                const auto& question, const auto& ask, const auto& watch, core::JobContext& job) {
                return (*isEndless ? slow : quick)(question, ask, watch, job);
            };
        return engine;
    }
    static bool isMeasuring(MainWindow& window)
    {
        const auto& steps = window.deploy().report().steps;
        return steps.size() == 10 && steps[7].state == views::StepState::Running;
    }
    static void verifyDeployed(MainWindow& window)
    {
        const views::DeployState& state = window.deploy().state();
        QVERIFY2(state.error.isEmpty(), qPrintable(state.error));
        for (const views::StepRow& step : window.deploy().report().steps)
            QVERIFY2(step.state == views::StepState::Done || step.name == QLatin1String("clean up"),
                     qPrintable(step.name));
        QVERIFY(window.workspace().document()->measurement);
    }
    static views::BoardRequest requestFor(const test::Sshd& sshd)
    {
        views::BoardRequest request;
        request.name = QStringLiteral("pi");
        request.host = QStringLiteral("127.0.0.1");
        request.port = sshd.port();
        request.identityFile = QString::fromStdString(sshd.identity());
        return request;
    }
    static bool hasQuestion(MainWindow& window, views::BoardQuestion::Kind kind)
    {
        return waitFor([&] {
            const auto& question = window.boardPrompt().question();
            return question && question->kind == kind;
        });
    }
    static void addBoard(MainWindow& window, const test::Sshd& sshd)
    {
        window.boards().add(requestFor(sshd));
        QVERIFY(hasQuestion(window, views::BoardQuestion::Kind::HostKey));
        QCOMPARE(window.boardPrompt().question()->fingerprint.toStdString(), sshd.fingerprint());
        window.boardPrompt().accept({});
        QVERIFY(settle(window));
        QCOMPARE(window.boards().board().name, QStringLiteral("pi"));
    }
    static bool isEmptyFolder(const QString& path)
    {
        return QDir(path)
            .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot)
            .isEmpty();
    }

private slots:
    void deploysToThisComputerAndShowsTheSameNumbersEverywhere()
    {
        const QTemporaryDir config;
        Bench bench(config.path());
        MainWindow& window = bench.window;
        QVERIFY(settle(window));
        QVERIFY(window.showPerspective(QStringLiteral("deploy")));
        QVERIFY(settle(window));
        views::DeployPage& page = window.part<views::DeployPage>();
        QVERIFY(page.checks().model()->rowCount() >= 5);
        QVERIFY(!window.boards().state().proposedTarget.isEmpty());
        for (int run = 1; run <= 2; ++run) {
            QVERIFY(window.deploy().state().canDeploy);
            window.deploy().deploy();
            QVERIFY(settle(window));
            verifyDeployed(window);
            QCOMPARE(page.history().model()->rowCount(), run);
        }
        const views::Document& document = *window.workspace().document();
        const views::Measurement& measured = *document.measurement;
        QCOMPARE(measured.calls.size(), document.calls.size());
        QVERIFY(!measured.isEmulated);
        QVERIFY(!measured.hygiene.isEmpty());
        // The table has every call, the steps every phase, the history the newest first.
        const auto& rows = window.workspace().calls().rows();
        QCOMPARE(page.calls().model()->rowCount(), static_cast<int>(document.calls.size()));
        for (size_t i = 0; i < rows.size(); ++i) {
            QCOMPARE(rows[i].medianUs, measured.calls[i].medianUs);
            QVERIFY(!rows[i].symbol.isEmpty());
        }
        QCOMPARE(page.steps().model()->rowCount(), 10);
        QCOMPARE(window.deploy().history().rows().front().medianUs, measured.medianUs);
        QVERIFY(!page.log().toPlainText().isEmpty());
        QVERIFY(page.preflight().model()->rowCount() > 0);
        QVERIFY(!window.deploy().state().isConnected);
        QVERIFY(!page.grab().isNull());
    }

    void showsTimesOnTheGraphAlsoOnMembersOfKernels()
    {
        const QTemporaryDir config;
        Bench bench(config.path());
        MainWindow& window = bench.window;
        QVERIFY(settle(window));
        window.deploy().deploy();
        QVERIFY(settle(window));
        verifyDeployed(window);
        QVERIFY(window.showPass(QStringLiteral("FuseOps")));
        QVERIFY(settle(window));
        int timed = 0;
        for (const views::SceneItem& item : window.passes().scene()->items)
            timed += !item.figure.isEmpty() && !item.isEstimated;
        // Every call that computes nodes of the model is shown once whole, on what stands for it.
        QVERIFY(timed > 0);
        QVERIFY(timed <= static_cast<int>(window.workspace().document()->calls.size()));
        // Before the fusion the same calls stand at members of what became the kernels.
        QVERIFY(window.showPass(window.workspace().document()->passes.front().name));
        QVERIFY(settle(window));
        int members = 0;
        for (const views::SceneItem& item : window.passes().scene()->items)
            members += !item.figure.isEmpty();
        QVERIFY(members > 0);
    }

    void cancelsBeforeAnythingIsMeasuredAndGoesOn()
    {
        const QTemporaryDir config;
        const auto isEndless = std::make_shared<std::atomic<bool>>(true);
        MainWindow window(engineWith(config.path(), isEndless), {},
                          {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        window.deploy().deploy();
        QVERIFY(waitFor([&] { return isMeasuring(window); }));
        QVERIFY(!window.deploy().state().canDeploy);
        window.cancelJobs();
        QVERIFY(settle(window));
        QVERIFY(window.deploy().report().isCancelled);
        QVERIFY(window.deploy().state().caption.contains(QStringLiteral("cancelled")));
        QVERIFY(window.workspace().state().bannerTitle.isEmpty());
        QVERIFY(window.workspace().document()->isCompiled());
        QVERIFY(!window.workspace().document()->measurement);
        QCOMPARE(window.deploy().history().rowCount(), 0);
        QVERIFY(window.deploy().state().canDeploy);
    }

    void addsABoardAfterItsKeyWasAcceptedAndLeavesNothingThere()
    {
        NEED_TOOL("sshd");
        NEED_TOOL("ssh-keygen");
        const QTemporaryDir config, home;
        const test::Sshd sshd("SetEnv HOME=" + home.path().toStdString() + "\n");
        {
            Bench bench(config.path());
            MainWindow& window = bench.window;
            QVERIFY(settle(window));
            // No is the default answer: Enter on the sheet refuses.
            window.boards().add(requestFor(sshd));
            QVERIFY(hasQuestion(window, views::BoardQuestion::Kind::HostKey));
            auto* sheet = window.findChild<views::QuestionSheet*>();
            QVERIFY(sheet->isVisible());
            QCOMPARE(window.focusWidget(), &sheet->no());
            QTest::keyClick(&sheet->no(), Qt::Key_Return);
            QVERIFY(settle(window));
            QVERIFY(window.workspace().state().bannerText.contains(QStringLiteral("vouched")));
            QCOMPARE(window.boards().boards().size(), size_t{1});

            addBoard(window, sshd);
            QCOMPARE(window.boards().state().state, views::BoardState::Ready);
            window.deploy().deploy();
            QVERIFY(settle(window));
            verifyDeployed(window);
            QVERIFY(window.deploy().state().isConnected);
            QVERIFY(
                window.workspace().document()->measurement->board.startsWith(QStringLiteral("pi")));
            QCOMPARE(window.deploy().history().rowCount(), 1);
            // The second one finds everything there.
            window.deploy().deploy();
            QVERIFY(settle(window));
            verifyDeployed(window);
            QCOMPARE(window.deploy().report().sentBytes, 0);
            QVERIFY(!isEmptyFolder(home.path()));
            window.deploy().disconnectBoard();
            QVERIFY(waitFor([&] { return isEmptyFolder(home.path()); }));
        }
        // Another window knows the board and its key.
        Bench again(config.path());
        QVERIFY(settle(again.window));
        QCOMPARE(again.window.boards().boards().size(), size_t{2});
        QVERIFY(again.window.chooseBoard(QStringLiteral("pi")));
        QVERIFY(settle(again.window));
        QCOMPARE(again.window.boards().state().state, views::BoardState::Ready);
        QCOMPARE(again.window.deploy().history().rowCount(), 2);
    }

    void refusesAChangedKeyWithBothFingerprints()
    {
        NEED_TOOL("sshd");
        NEED_TOOL("ssh-keygen");
        const QTemporaryDir config, home;
        const test::Sshd sshd("SetEnv HOME=" + home.path().toStdString() + "\n");
        Bench bench(config.path());
        MainWindow& window = bench.window;
        QVERIFY(settle(window));
        addBoard(window, sshd);
        const std::string before = sshd.fingerprint();
        sshd.changeHostKey();
        window.deploy().deploy();
        QVERIFY(settle(window));
        const QString text = window.workspace().state().bannerText;
        QVERIFY2(text.contains(QString::fromStdString(before)), qPrintable(text));
        QVERIFY2(text.contains(QString::fromStdString(sshd.fingerprint())), qPrintable(text));
        QVERIFY(!window.boardPrompt().question()); // nothing to accept with one click
        QCOMPARE(window.boards().state().state, views::BoardState::Offline);
        QCOMPARE(window.deploy().report().steps[1].state, views::StepState::Failed);
    }

    void asksForAPassphraseAndWritesItNowhere()
    {
        NEED_TOOL("sshd");
        NEED_TOOL("ssh-keygen");
        const QTemporaryDir config, home;
        const test::Sshd sshd("SetEnv HOME=" + home.path().toStdString() + "\n");
        QCOMPARE(
            QProcess::execute(QStringLiteral("ssh-keygen"),
                              {QStringLiteral("-q"), QStringLiteral("-p"), QStringLiteral("-P"),
                               QString(), QStringLiteral("-N"), QStringLiteral("canary-word"),
                               QStringLiteral("-f"), QString::fromStdString(sshd.identity())}),
            0);
        Bench bench(config.path());
        MainWindow& window = bench.window;
        QVERIFY(settle(window));
        window.boards().add(requestFor(sshd));
        QVERIFY(hasQuestion(window, views::BoardQuestion::Kind::HostKey));
        window.boardPrompt().accept({});
        QVERIFY(hasQuestion(window, views::BoardQuestion::Kind::Secret));
        auto* sheet = window.findChild<views::QuestionSheet*>();
        QCOMPARE(sheet->answer().echoMode(), QLineEdit::Password);
        QTest::keyClicks(&sheet->answer(), QStringLiteral("canary-word"));
        QTest::keyClick(&sheet->answer(), Qt::Key_Return);
        QVERIFY(settle(window));
        QCOMPARE(window.boards().board().name, QStringLiteral("pi"));
        QVERIFY(sheet->answer().text().isEmpty());
        const QString log = window.workspace().jobs().log().join(QLatin1Char('\n'));
        QVERIFY(!log.contains(QStringLiteral("canary")));
        QDirIterator files(config.path(), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const auto content = core::readFile(files.next().toStdString());
            QVERIFY(content);
            QVERIFY2(content->find("canary") == std::string::npos, qPrintable(files.filePath()));
        }
    }

    void saysWhenABoardIsForAnotherMachineAndForgetsBoards()
    {
        const QTemporaryDir config;
        QFile file(config.filePath(QStringLiteral("boards.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"version": 1, "boards": [{"name": "arm", "kind": "ssh", "host": "127.0.0.1",
                       "port": 9, "profile": "rpi4",
                       "target": "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"}]})");
        file.close();
        Bench bench(config.path());
        MainWindow& window = bench.window;
        QVERIFY(settle(window));
        QVERIFY(window.boards().select(QStringLiteral("arm"))); // as a session that comes back
        QCOMPARE(window.boards().state().state, views::BoardState::Mismatch);
        QVERIFY(window.executors().budgets().front().ramBytes > 0);
        QCOMPARE(window.executors().budgets().front().title, QStringLiteral("arm"));
        QVERIFY(window.chooseBoard(QStringLiteral("arm"))); // nobody listens there
        QVERIFY(settle(window));
        QVERIFY(window.workspace().state().target.contains(QStringLiteral("aarch64")));
        QCOMPARE(window.boards().state().state, views::BoardState::Offline);
        QVERIFY(!window.workspace().state().bannerText.isEmpty());
        window.boards().forget();
        QVERIFY(settle(window));
        QCOMPARE(window.boards().boards().size(), size_t{1});
        QVERIFY(window.workspace().state().target.contains(QStringLiteral("native")));
    }

    void setsADamagedListAsideAndSaysSo()
    {
        const QTemporaryDir config;
        QFile file(config.filePath(QStringLiteral("boards.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"version\": 1, \"boards\": [");
        file.close();
        Bench bench(config.path());
        QVERIFY(settle(bench.window));
        const QString aside = config.filePath(QStringLiteral("boards.json.damaged"));
        QVERIFY2(bench.window.boards().state().problem.contains(aside),
                 qPrintable(bench.window.boards().state().problem));
        QVERIFY(QFile::exists(aside));
        bench.window.boards().reload();
        QVERIFY(bench.window.boards().state().problem.isEmpty());
        QCOMPARE(bench.window.boards().boards().size(), size_t{1});
    }

    void makesAVirtualRaspberryPiCancelsThereAndDeploysAgain()
    {
        for (const char* tool : {"apt-get", "dpkg-deb", "sshd", "qemu-aarch64"}) NEED_TOOL(tool);
        NEED(test::missingEmulatedSystem().empty(), "emulated-system",
             test::missingEmulatedSystem());
        const QTemporaryDir config;
        const auto isEndless = std::make_shared<std::atomic<bool>>(true);
        MainWindow window(engineWith(config.path(), isEndless), {},
                          {true, false, QStringLiteral(TENON_SAMPLE_MODEL), 1});
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(window.showPerspective(QStringLiteral("deploy")));
        QTest::mouseClick(&window.part<views::DeployPage>().virtualButton(), Qt::LeftButton);
        for (QAction* kind : window.findChild<QMenu*>()->actions())
            if (kind->text().contains(QStringLiteral("Raspberry Pi 4"))) kind->trigger();
        QVERIFY(settle(window));
        NEED(!window.workspace().state().bannerText.contains(QStringLiteral("install proot")),
             "namespaces", "this system gives users no namespaces, and there is no proot");
        QVERIFY2(window.boards().board().isEmulated(),
                 qPrintable(window.workspace().state().bannerText));
        QVERIFY(window.workspace().state().target.contains(QStringLiteral("cortex-a72")));
        window.deploy().deploy();
        QVERIFY(waitFor([&] { return isMeasuring(window); }));
        window.cancelJobs();
        QVERIFY(settle(window));
        QVERIFY(window.deploy().report().isCancelled);
        *isEndless = false;
        window.deploy().deploy();
        QVERIFY(settle(window));
        verifyDeployed(window);
        QVERIFY(window.workspace().document()->measurement->isEmulated);
        QVERIFY(window.deploy().state().isEmulated);
        QVERIFY(window.workspace().state().measurementText.contains(QStringLiteral("emulated")));
        window.boards().forget();
        QVERIFY(settle(window));
        QCOMPARE(window.boards().boards().size(), size_t{1});
    }
};

QTEST_MAIN(DeployTest)
#include "deploy_test.moc"
