// SPDX-License-Identifier: GPL-3.0-or-later
// Binding what a model leaves open, in the field of the Inspect page: wrong text, ranges and sizes,
// and what the other pages make of them.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "remote/measure/made_up_inputs.h"
#include "tests/zoo/zoo.h"
#include "views/pages/inspect/inspect_page.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace tenon;
using namespace tenon::app;

class ShapesTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString model() const { return m_folder.filePath(QStringLiteral("open.onnx")); }
    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 240000);
    }
    EngineOptions engine() const
    {
        EngineOptions options;
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        options.repeats = 3;
        return options;
    }
    WindowOptions options(const QString& settings = {}) const
    {
        return {settings.isEmpty(), false, QStringLiteral(TENON_SAMPLE_MODEL), 1, settings};
    }
    /// By keys, as a user does: the shortcut leads to the field.
    static void type(MainWindow& window, const QString& text)
    {
        QLineEdit& line = window.part<views::InspectPage>().shapes().line();
        window.actions().action(QStringLiteral("shapes"))->trigger();
        QVERIFY(line.isVisible());
        QTest::keyClick(&line, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(&line, Qt::Key_Delete);
        QTest::keyClicks(&line, text);
    }
    static void bind(MainWindow& window, const QString& text)
    {
        type(window, text);
        QTest::keyClick(&window.part<views::InspectPage>().shapes().line(), Qt::Key_Return);
        QVERIFY(settle(window));
    }
    static const views::WorkspaceState& state(MainWindow& window)
    {
        return window.workspace().state();
    }
    /// The text under the field.
    static QString shown(MainWindow& window)
    {
        return window.part<views::InspectPage>()
            .shapes()
            .findChildren<views::ThemedLabel*>()
            .last()
            ->text();
    }

private slots:
    void initTestCase()
    {
        QFile file(model());
        QVERIFY(file.open(QIODevice::WriteOnly));
        const std::string bytes = test::makeDscnn({.batch = -1, .channelDivisor = 16});
        QCOMPARE(file.write(bytes.data(), static_cast<qint64>(bytes.size())),
                 static_cast<qint64>(bytes.size()));
    }

    void isThereWhereSizesAreOpen()
    {
        MainWindow window(makeEngine(engine()), {}, options());
        window.resize(1280, 800);
        window.show();
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(!state(window).canBindShapes);
        QVERIFY(!window.part<views::InspectPage>().shapes().isVisible());
        // Asked for where there is none, it says so; until another model comes.
        window.actions().action(QStringLiteral("shapes"))->trigger();
        QVERIFY(window.part<views::InspectPage>().shapes().isVisible());
        QVERIFY(!window.part<views::InspectPage>().shapes().line().isEnabled());
        QVERIFY2(shown(window).contains(QStringLiteral("fixes every size")),
                 qPrintable(shown(window)));
        window.openModel(QStringLiteral(TENON_SAMPLE_MODEL));
        QVERIFY(settle(window));
        QVERIFY(!window.part<views::InspectPage>().shapes().isVisible());
        window.openModel(model());
        QVERIFY(settle(window));
        QVERIFY(window.part<views::InspectPage>().shapes().isVisible());
        QVERIFY(window.part<views::InspectPage>().shapes().line().isEnabled());
        QCOMPARE(window.part<views::InspectPage>().shapes().line().placeholderText(),
                 QStringLiteral("batch=1..8"));
        QCOMPARE(shown(window), QStringLiteral("batch is taken as 1"));
    }

    void saysWhatIsWrongAndChangesNothing()
    {
        MainWindow window(makeEngine(engine()), {}, options());
        window.show();
        window.openModel(model());
        QVERIFY(settle(window));
        const views::DocumentPtr before = window.workspace().document();
        type(window, QStringLiteral("batch=8..1"));
        QVERIFY(shown(window).contains(QStringLiteral("`batch=8..1` is no binding")));
        QVERIFY(!state(window).areShapesValid);
        QTest::keyClick(&window.part<views::InspectPage>().shapes().line(), Qt::Key_Return);
        QCOMPARE(window.workspace().document(), before);
        QTest::keyClick(&window.part<views::InspectPage>().shapes().line(), Qt::Key_Backspace);
        QTest::keyClick(&window.part<views::InspectPage>().shapes().line(), Qt::Key_9);
        QCOMPARE(shown(window), QStringLiteral("Return applies"));
        QTest::keyClick(&window.part<views::InspectPage>().shapes().line(), Qt::Key_Escape);
        QVERIFY(window.part<views::InspectPage>().shapes().line().text().isEmpty());
        QCOMPARE(shown(window), QStringLiteral("batch is taken as 1"));
        // Well written, but of another model: as on the command line.
        bind(window, QStringLiteral("sequence=4"));
        QVERIFY(shown(window).contains(
            QStringLiteral("the model has no input or dimension `sequence`; its inputs are")));
        QVERIFY(state(window).errorCount > 0);
        QVERIFY(!state(window).canBuild);
        bind(window, QString());
        QVERIFY(state(window).canBuild);
    }

    void boundsAndSizesReachEveryPage()
    {
        MainWindow window(makeEngine(engine()), {}, options());
        window.resize(1400, 900);
        window.show();
        window.openModel(model());
        QVERIFY(settle(window));
        bind(window, QStringLiteral("batch=1..3"));
        QCOMPARE(shown(window), QStringLiteral("known at run time only: batch=1..3"));
        window.workspace().compile();
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().document()->isCompiled(), qPrintable(state(window).bannerText));
        const qint64 ranged = window.memory().plan().arenaBytes;
        QVERIFY(ranged > 0);
        for (const views::Page& page : window.pages()) {
            QVERIFY(window.showPerspective(page.name));
            QVERIFY(settle(window));
            QVERIFY(!window.grab().isNull());
        }
        window.deploy().deploy(); // with made-up data of the largest size
        QVERIFY(settle(window));
        QVERIFY2(window.workspace().document()->measurement.has_value(),
                 qPrintable(state(window).bannerText));
        // What was compiled is compiled again for what is bound now.
        bind(window, QStringLiteral("batch=1"));
        QCOMPARE(shown(window), QStringLiteral("every size is known"));
        QVERIFY(window.workspace().document()->isCompiled());
        QVERIFY(window.memory().plan().arenaBytes < ranged);
        QVERIFY(state(window).modelText.contains(QStringLiteral("[1, 1, 49, 10]")));
        QVERIFY(!window.workspace().document()->measurement);
        window.workspace().reload();
        QVERIFY(settle(window));
        QCOMPARE(state(window).shapes, QStringLiteral("batch=1"));
        window.openModel(model()); // another look at the file is not bound
        QVERIFY(settle(window));
        QVERIFY(state(window).shapes.isEmpty());
    }

    void saysWhereTheSizesOfARunAreWritten()
    {
        core::Manifest manifest;
        manifest.inputs.resize(1);
        core::ManifestTensor& input = manifest.inputs.front();
        input.name = "input";
        input.dtype = "float32";
        input.shape = {1, -1};
        input.dims = {"1", "sequence"};
        const auto open = remote::madeUpInputs(manifest);
        QVERIFY(!open);
        QCOMPARE(open.error().code, core::DiagnosticCode::DynamicShape);
        QCOMPARE(open.error().message,
                 std::string("nothing says how large `sequence` is in a run; give sizes, such as "
                             "`sequence=16` (`sizes` on the Inspect page, --shape), or the "
                             "inputs themselves"));
        manifest.bounds["sequence"] = {1, 4};
        const auto bounded = remote::madeUpInputs(manifest);
        QVERIFY(bounded);
        QCOMPARE(bounded->front().second.shape(), (std::vector<int64_t>{1, 4}));
    }

    void comesBackWithTheSession()
    {
        const QString file = m_folder.filePath(QStringLiteral("settings.json"));
        {
            MainWindow window(makeEngine(engine()), {}, options(file));
            window.show();
            window.openModel(model(), QStringLiteral("batch=2"));
            QVERIFY(settle(window));
            window.close();
        }
        Settings settings = loadSettings(file);
        QCOMPARE(settings.session.shapes, QStringLiteral("batch=2"));
        MainWindow window(makeEngine(engine()), settings, options(file));
        window.show();
        window.restoreSession();
        QVERIFY(settle(window));
        QCOMPARE(window.part<views::InspectPage>().shapes().line().text(),
                 QStringLiteral("batch=2"));
        QCOMPARE(shown(window), QStringLiteral("every size is known"));
        // A file that somebody edited: the model opens, the field says what is wrong.
        settings.session.shapes = QStringLiteral("batch=two");
        MainWindow other(makeEngine(engine()), settings, options());
        other.show();
        other.restoreSession();
        QVERIFY(settle(other));
        QVERIFY(shown(other).contains(QStringLiteral("`batch=two` is no binding")));
        QVERIFY(state(other).hasDocument);
    }
};

QTEST_MAIN(ShapesTest)
#include "shapes_test.moc"
