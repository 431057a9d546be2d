// SPDX-License-Identifier: GPL-3.0-or-later
// Models that mean ill, and files and settings that change under the window: it says what is wrong,
// shows names as they are written, and stays usable.
#include "app/engine/engine.h"
#include "app/engine/shown_names.h"
#include "app/workbench/main_window.h"
#include "tests/compiler/frontend/model_text.h"
#include "views/pages/common/plain_tips.h"

#include <QFile>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace tenon;
using namespace tenon::app;

class HostileTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    static bool settle(MainWindow& window)
    {
        return QTest::qWaitFor([&] { return window.isSettled(); }, 120000);
    }
    QString file(const tenon_onnx::ModelProto& model,
                 const QString& name = QStringLiteral("m.onnx"))
    {
        const QString path = m_folder.filePath(name);
        QFile out(path);
        const std::string bytes = model.SerializeAsString();
        if (out.open(QIODevice::WriteOnly))
            out.write(bytes.data(), static_cast<qint64>(bytes.size()));
        return path;
    }
    static std::unique_ptr<MainWindow> open(const QString& path)
    {
        auto window = std::make_unique<MainWindow>(makeEngine({}), Settings(),
                                                   WindowOptions{true, false, {}, 1});
        window->resize(1366, 768);
        window->show();
        window->openModel(path);
        return window;
    }
    /// Every page is shown and painted; what stands in labels is no longer than people read.
    static void look(MainWindow& window)
    {
        for (const views::Page& page : window.pages()) {
            window.showPerspective(page.name);
            QVERIFY(settle(window));
            QVERIFY(!window.grab().isNull());
        }
        window.openOverlay(QStringLiteral("palette"));
        QVERIFY(!window.grab().isNull());
    }
    /// A model with a convolution's worth of names, each of them this.
    static tenon_onnx::ModelProto named(const std::string& name)
    {
        auto model = test::modelOf("input x float32 1,4\nnode Relu n x -> y\n"
                                   "node Sigmoid s y -> z\noutput z float32 1,4\n");
        auto* graph = model.mutable_graph();
        graph->set_name(name);
        for (auto& node : *graph->mutable_node()) node.set_name(name + node.op_type());
        graph->mutable_input(0)->set_name(name);
        graph->mutable_node(0)->set_input(0, name);
        return model;
    }

    /// No name of the document takes more than a KiB, and none steers what shows it.
    static void verifyShownNames(MainWindow& window)
    {
        const views::DocumentPtr document = window.workspace().document();
        QVERIFY(document);
        for (size_t v = 0; v < document->versionCount(); ++v) {
            const core::Module& module = document->version(v);
            for (const core::SourceNode& source : module.sources())
                QCOMPARE(shownName(source.name), source.name);
            for (const auto& [id, function] : module.functions())
                for (const core::NodeId node : function->order)
                    QCOMPARE(shownName(module.node(node).name), module.node(node).name);
        }
    }

private slots:
    void showsNamesAsTheyAreWritten_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("HTML") << QByteArray("<b>bold</b><img src='http://x/y.png'>&amp;<!--");
        QTest::newRow("terminal codes") << QByteArray("\x1b[31mred\x1b]0;title\x07\r\n\t\x7f");
        QTest::newRow("right to left") << QByteArray("\xe2\x80\xae"
                                                     "abc \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d "
                                                     "\xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7");
        QTest::newRow("no UTF-8") << QByteArray("\xff\xfe\xc3\x28\xa0\xa1");
        QTest::newRow("a megabyte") << QByteArray(1 << 20, 'n');
        QByteArray marks("e");
        while (marks.size() < 1 << 20) marks += "\xcc\x81\xcc\xa3\xcd\x82";
        QTest::newRow("a megabyte of combining marks") << marks;
        QByteArray letters;
        while (letters.size() < 1 << 20) letters += "\xd9\x85\xd8\xb1 <i>\xe2\x80\xae\x1b[1m";
        QTest::newRow("a megabyte of everything") << letters;
    }
    void showsNamesAsTheyAreWritten()
    {
        QFETCH(QByteArray, name);
        const auto window = open(file(named(name.toStdString())));
        QVERIFY(settle(*window));
        verifyShownNames(*window);
        QVERIFY2(window->workspace().document(),
                 qPrintable(window->workspace().state().bannerText));
        if (window->workspace().state().canBuild) {
            window->workspace().compile();
            QVERIFY(settle(*window));
        }
        window->showPerspective(QStringLiteral("inspect"));
        window->selectNode(QStringLiteral("sigmoid"));
        look(*window);
        for (const auto* label : window->findChildren<QLabel*>())
            if (label->textFormat() != Qt::RichText) QCOMPARE(label->textFormat(), Qt::PlainText);
    }
    void cutsWhatNobodyReads()
    {
        QCOMPARE(shownName("/features/0/Conv"), std::string("/features/0/Conv"));
        const std::string hebrew = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d";
        QCOMPARE(shownName(hebrew), hebrew);
        QCOMPARE(shownName("a\x1b[1m\n"), std::string("a\\x1b[1m\\x0a"));
        QCOMPARE(shownName("\xe2\x80\xae"
                           "abc"),
                 std::string("\\u202eabc"));
        std::string marks = "e", few = "e";
        for (int i = 0; i < 100; ++i) marks += "\xcc\x81";
        for (int i = 0; i < 4; ++i) few += "\xcc\x81";
        QCOMPARE(shownName(marks + "f"), few + "f");
        const std::string cut = shownName(std::string(5000, 'n'));
        QVERIFY(cut.size() <= 1024 && cut.find("(5000 bytes)") != std::string::npos);
        QCOMPARE(shownName(cut), cut);
    }
    /// What passes did not touch is the same record before and after, also with its name cut.
    void sharesRecordsOfCutNames()
    {
        const auto window = open(file(named(std::string(5000, 'n'))));
        QVERIFY(settle(*window));
        const views::DocumentPtr document = window->workspace().document();
        QVERIFY(document && !document->passes.empty());
        int shared = 0;
        for (size_t v = 1; v < document->versionCount(); ++v) {
            if (document->passes[v - 1].isChanged) continue;
            const core::Module &was = document->version(v - 1), &is = document->version(v);
            for (const core::NodeId id : is.main().order) {
                QCOMPARE(is.findNode(id).get(), was.findNode(id).get());
                ++shared;
            }
        }
        QVERIFY(shared > 0);
    }
    void escapesWhatLooksLikeHtmlInTips()
    {
        QCOMPARE(views::plainTip(QStringLiteral("plain")), QStringLiteral("plain"));
        const QString tip = views::plainTip(QStringLiteral("<b>bold</b>"));
        QVERIFY2(tip.contains(QStringLiteral("&lt;b&gt;")), qPrintable(tip));
        QVERIFY(views::plainTip(QString(1 << 20, QLatin1Char('n'))).size() < 3000);
    }
    void opensAModelWithoutNodes()
    {
        const auto window = open(file(test::modelOf("input x float32 4\noutput x float32 4\n")));
        QVERIFY(settle(*window));
        look(*window);
    }
    void opensAnEmptyFile()
    {
        QFile empty(m_folder.filePath(QStringLiteral("empty.onnx")));
        QVERIFY(empty.open(QIODevice::WriteOnly));
        empty.close();
        const auto window = open(empty.fileName());
        QVERIFY(settle(*window));
        QVERIFY(!window->workspace().state().bannerTitle.isEmpty() ||
                window->workspace().state().errorCount > 0);
    }
    void saysThatAGraphGoesInCircles()
    {
        const auto window = open(file(test::modelOf(
            "input x float32 4\nnode Add a x,c -> b\nnode Relu r b -> c\noutput c float32 4\n")));
        QVERIFY(settle(*window));
        QVERIFY(window->workspace().state().errorCount > 0);
        QVERIFY(!window->workspace().state().canBuild);
        look(*window);
    }
    void keepsWhatItReadWhenTheFileVanishes()
    {
        const QString path = file(named("n"), QStringLiteral("gone.onnx"));
        const auto window = open(path);
        QVERIFY(settle(*window));
        QVERIFY(QFile::remove(path));
        window->workspace().reload();
        QVERIFY(settle(*window));
        QVERIFY(!window->workspace().state().bannerText.isEmpty());
        QVERIFY(window->workspace().document());
        look(*window);
    }
    /// Each saves what it opened; neither forgets what the other opened.
    void keepsTheModelsOfTwoWindows()
    {
        WindowOptions options{false, false, {}, 1};
        options.settingsPath = m_folder.filePath(QStringLiteral("two.json"));
        const QString one = file(named("n"), QStringLiteral("one.onnx"));
        const QString two = file(named("n"), QStringLiteral("two.onnx"));
        MainWindow first(makeEngine({}), loadSettings(options.settingsPath), options);
        MainWindow second(makeEngine({}), loadSettings(options.settingsPath), options);
        first.openModel(one);
        QVERIFY(settle(first));
        second.openModel(two);
        QVERIFY(settle(second));
        first.close();
        const QStringList recents = loadSettings(options.settingsPath).recents;
        QVERIFY2(recents.contains(one) && recents.contains(two),
                 qPrintable(recents.join(QLatin1Char(' '))));
    }
    void keepsSettingsOfALaterVersion()
    {
        const QString path = m_folder.filePath(QStringLiteral("later.json"));
        QFile out(path);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(R"({"version": 99, "theme": "dark", "wonders": [1, 2]})");
        out.close();
        const Settings settings = loadSettings(path);
        QCOMPARE(settings.theme, ThemeChoice::Dark);
        QVERIFY2(settings.problem.contains(QStringLiteral("later version")),
                 qPrintable(settings.problem));
        QFile kept(path + QStringLiteral(".newer"));
        QVERIFY(kept.open(QIODevice::ReadOnly));
        QVERIFY(kept.readAll().contains("wonders"));
        MainWindow window(makeEngine({}), settings, {true, false, {}, 1});
        QVERIFY(window.workspace().state().bannerText.contains(QStringLiteral("later version")));
    }
};

QTEST_MAIN(HostileTest)
#include "hostile_test.moc"
