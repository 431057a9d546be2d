// SPDX-License-Identifier: GPL-3.0-or-later
// One number everywhere: the window, the command line and the report give the same figures of a
// model, in full digits, for twenty models and those of the outside data.
#include "app/engine/backing.h"
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"
#include "views/models/exact_facts.h"
#include "views/models/film.h"
#include "views/models/format.h"
#include "views/models/report.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::app;
using Json = nlohmann::json;

namespace {

const QStringList kTarget{QStringLiteral("--target"), QStringLiteral("llvm -mcpu=native")};
constexpr qint64 kLargestFile =
    6 << 20; ///< of the outside data: the test is of numbers, not of size

struct ZooCase
{
    const char* name;
    test::ZooOptions options;
};

/// Every architecture of the zoo, narrow and small, and in another size, batch or depth.
const std::vector<ZooCase>& zooCases()
{
    static const std::vector<ZooCase> kCases{
        {"dscnn", {.channelDivisor = 8}},
        {"dscnn", {.batch = 2, .channelDivisor = 16}},
        {"dscnn", {.batch = -1, .channelDivisor = 16}},
        {"mobilenet_v1", {.imageSize = 32, .channelDivisor = 16}},
        {"mobilenet_v1", {.batch = 2, .imageSize = 32, .channelDivisor = 16}},
        {"mobilenet_v2", {.imageSize = 32, .channelDivisor = 16}},
        {"mobilenet_v2", {.imageSize = 48, .channelDivisor = 16}},
        {"resnet18", {.imageSize = 32, .channelDivisor = 16}},
        {"resnet18", {.imageSize = 48, .channelDivisor = 8}},
        {"resnet18", {.batch = 2, .imageSize = 32, .channelDivisor = 16}},
        {"resnet50", {.imageSize = 32, .channelDivisor = 32}},
        {"resnet50", {.imageSize = 48, .channelDivisor = 32}},
        {"synthetic", {.channelDivisor = 8, .nodes = 20}},
        {"synthetic", {.channelDivisor = 8, .nodes = 50}},
        {"transformer", {.channelDivisor = 8}},
        {"transformer", {.batch = 2, .channelDivisor = 8}},
        {"unet", {.imageSize = 32, .channelDivisor = 16}},
        {"unet", {.imageSize = 48, .channelDivisor = 16}},
        {"unet", {.batch = 2, .imageSize = 32, .channelDivisor = 16}}};
    return kCases;
}

} // namespace

class FactsTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QStringList models()
    {
        QStringList paths{QStringLiteral(TENON_SAMPLE_MODEL)};
        for (size_t i = 0; i < zooCases().size(); ++i) {
            const QString path = m_folder.filePath(
                QStringLiteral("%1_%2.onnx").arg(QLatin1String(zooCases()[i].name)).arg(i));
            const std::string bytes = test::makeZooModel(zooCases()[i].name, zooCases()[i].options);
            QFile file(path);
            if (file.open(QIODevice::WriteOnly))
                file.write(bytes.data(), static_cast<qint64>(bytes.size()));
            paths << path;
        }
        const QDir outside(QString::fromStdString(test::dataPath("exported")));
        for (const QString& name : outside.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            if (const QFileInfo file(outside.filePath(name + QStringLiteral("/model.onnx")));
                file.exists() && file.size() <= kLargestFile && !test::dataPath("exported").empty())
                paths << file.filePath();
        return paths;
    }
    /// What the program prints with --json.
    Json said(const QStringList& arguments)
    {
        QProcess program;
        program.start(QStringLiteral(TENON_PROGRAM), arguments);
        const bool isDone = program.waitForFinished(300000);
        const Json answer =
            Json::parse(program.readAllStandardOutput().toStdString(), nullptr, false);
        if (!isDone || !answer.is_object())
            qWarning() << arguments << program.readAllStandardError();
        return answer;
    }
    /// A key at the top, or among those of memory.
    static qint64 numberIn(const Json& json, const char* key)
    {
        if (json.contains(key)) return json[key].get<qint64>();
        return json.contains("memory") ? json["memory"].value(key, qint64{-1}) : -1;
    }
    /// The document as the window has it, opened and compiled by its presenters.
    views::DocumentPtr opened(views::WorkspacePresenter& workspace, const QString& path)
    {
        workspace.setTarget(kTarget[1]);
        workspace.open(path);
        if (!QTest::qWaitFor([&] { return !workspace.state().isBusy; }, 300000)) return nullptr;
        if (workspace.document()->openDims.isEmpty()) workspace.compile();
        if (!QTest::qWaitFor([&] { return !workspace.state().isBusy; }, 300000)) return nullptr;
        return workspace.document();
    }
    /// Every figure stands in the report and in the tooltip, in full digits, with its label.
    static void verifyShown(const views::WorkspacePresenter& workspace,
                            const views::Document& document, const QString& path)
    {
        const QString report = views::reportHtml(document, {});
        for (const views::ExactFact& fact : views::exactFacts(document)) {
            const QString digits = views::countText(fact.value);
            const qsizetype label =
                report.indexOf(QLatin1Char('>') + fact.label + QLatin1Char('<'));
            QVERIFY2(label >= 0, qPrintable(path + fact.label));
            QVERIFY2(report.mid(label, 300).contains(digits), qPrintable(path + fact.label));
            if (fact.value > 0)
                QVERIFY2(workspace.state().exactFacts.contains(fact.label + QStringLiteral(": ") +
                                                               digits),
                         qPrintable(path + fact.label));
        }
    }
    static void verifyEqual(const views::Document& document, const Json& inspected,
                            const Json& compiled, const QString& path)
    {
        for (const views::ExactFact& fact : views::exactFacts(document)) {
            const qint64 ofModel = numberIn(inspected, fact.key);
            const qint64 there = ofModel >= 0 ? ofModel : numberIn(compiled, fact.key);
            QVERIFY2(fact.value == there,
                     qPrintable(QStringLiteral("%1: %2 is %3 in the window, %4 on the command line")
                                    .arg(path, QLatin1String(fact.key))
                                    .arg(fact.value)
                                    .arg(there)));
        }
    }
    /// The figure of the file is the one beside the name; those of nodes add up.
    static void verifySums(const views::Document& document, const QString& path)
    {
        const views::ExactFact nodes = views::exactFacts(document).front();
        QVERIFY2(views::factsText(document).startsWith(
                     views::countOf(nodes.value, QStringLiteral("node"))),
                 qPrintable(path));
        qint64 macs = 0;
        const core::Module& imported = document.imported;
        for (const core::NodeId id : imported.main().order)
            macs += document.macsOf(imported, imported.node(id));
        QCOMPARE(macs, static_cast<qint64>(document.counts.macs));
        const core::Module& last = document.version(document.versionCount() - 1);
        qint64 ofCalls = 0;
        for (const views::KernelCall& call : document.calls) {
            QCOMPARE(document.macsOf(last, last.node(call.node)), call.macs);
            ofCalls += call.macs;
        }
        if (document.isCompiled() && core::nestedNodes(imported) == 0)
            QVERIFY2(ofCalls == macs, qPrintable(QStringLiteral("%1: %2 MACs of calls, %3 of nodes")
                                                     .arg(path)
                                                     .arg(ofCalls)
                                                     .arg(macs)));
    }

private slots:
    void areTheSameInWindowCommandLineAndReport()
    {
        QVERIFY(qputenv("XDG_CACHE_HOME", m_folder.path().toLocal8Bit()));
        EngineOptions options;
        options.cacheFolder = QString::fromStdString(compiler::defaultCacheFolder());
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        const QStringList paths = models();
        QVERIFY(paths.size() >= 20);
        for (const QString& path : paths) {
            views::WorkspacePresenter workspace(makeEngine(options), 2);
            const views::DocumentPtr document = opened(workspace, path);
            QVERIFY2(document, qPrintable(path));
            QStringList inspect{QStringLiteral("inspect"), path, QStringLiteral("--json")};
            if (!document->openDims.isEmpty()) // which the window takes as 1
                inspect << QStringLiteral("--shape") << QStringLiteral("batch=1");
            const Json inspected = said(inspect);
            Json compiled = Json::object();
            if (document->isCompiled())
                compiled = said(QStringList{QStringLiteral("compile"), path, QStringLiteral("-o"),
                                            m_folder.filePath(QStringLiteral("model.so")),
                                            QStringLiteral("--json")} +
                                kTarget);
            QVERIFY2(inspected.is_object() && compiled.is_object(), qPrintable(path));
            verifyEqual(*document, inspected, compiled, path);
            verifyShown(workspace, *document, path);
            verifySums(*document, path);
        }
    }

    /// The graph of a Model Library Format archive, its memory and what it says of itself.
    void areThoseOfAnArchive()
    {
        EngineOptions options;
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        const QString path = m_folder.filePath(QStringLiteral("model.tar"));
        said({QStringLiteral("compile"),
              QString::fromStdString(test::sourcePath("resources/sample/digits/model.onnx")),
              QStringLiteral("--target"), QStringLiteral("c -mcpu=cortex-m4"),
              QStringLiteral("--executor"), QStringLiteral("graph"),
              QStringLiteral("--output-format"), QStringLiteral("mlf"), QStringLiteral("-o"), path,
              QStringLiteral("--json")});
        views::WorkspacePresenter workspace(makeEngine(options), 2);
        const views::DocumentPtr document = opened(workspace, path);
        QVERIFY(document);
        QCOMPARE(document->fileNodes(), 33);
        const Json rows =
            said({QStringLiteral("inspect"), path, QStringLiteral("--json")})["metadata"];
        QVERIFY(rows.size() > 5);
        const QStringList shown = workspace.state().modelText.split(QLatin1Char('\n'));
        for (const auto& [key, value] : rows.items())
            QVERIFY2(shown.contains(QString::fromStdString(key + "  " + value.get<std::string>())),
                     key.c_str());
    }

    /// Frame by frame what `tenon passes --follow` prints, of a node in the middle of each model.
    void followsNodesAsTheCommandLineDoes()
    {
        EngineOptions options;
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        const views::Engine engine = makeEngine(options);
        const QStringList paths = models();
        for (const QString& path : paths) {
            core::JobContext job;
            const auto document = engine.open(
                path, {}, [](const views::DocumentPtr&) {}, job);
            QVERIFY2(document, qPrintable(path));
            const auto& sources = (*document)->imported.sources();
            if ((*document)->passes.empty() || !(*document)->openDims.isEmpty()) continue;
            const core::SourceId source(static_cast<uint32_t>(sources.size() / 2));
            const Json there = said({QStringLiteral("passes"), path, QStringLiteral("--follow"),
                                     QString::fromStdString(sources[source.value].name),
                                     QStringLiteral("--json")});
            const auto film = views::filmOf(**document, source);
            QVERIFY2(there.contains("steps"), qPrintable(path));
            QVERIFY2(film.size() == there["steps"].size(), qPrintable(path));
            for (size_t i = 0; i < film.size(); ++i) {
                const Json& step = there["steps"][i];
                QCOMPARE(film[i].version, step["version"].get<int>());
                QCOMPARE(film[i].where.toStdString(), step["text"].get<std::string>());
                QVERIFY2(film[i].rules.isEmpty() == step["rules"].empty(), qPrintable(path));
            }
            QCOMPARE(film.back().where.toStdString(), there["answer"].get<std::string>());
        }
    }

    /// Flash and RAM as the window counts them at once, and as the command line measures them.
    void countsExecutorsAsTheCommandLineMeasuresThem()
    {
        EngineOptions options;
        options.cacheFolder = QString::fromStdString(compiler::defaultCacheFolder());
        const views::Engine engine = makeEngine(options);
        for (const QString& path : models().mid(0, 4)) {
            views::WorkspacePresenter workspace(engine, 2);
            const views::DocumentPtr document = opened(workspace, path);
            QVERIFY2(document, qPrintable(path));
            if (!document->isCompiled()) continue; // its sizes are open
            core::JobContext job;
            const auto counted = engine.estimateFootprint(document, job);
            QVERIFY2(counted, qPrintable(path));
            const Json measured = said(
                QStringList{QStringLiteral("footprint"), path, QStringLiteral("--json"),
                            QStringLiteral("--executors"), QStringLiteral("graph,aot-packed")} +
                kTarget);
            QVERIFY2(measured.contains("executors"), qPrintable(path));
            for (size_t i = 0; i < counted->executors.size(); ++i) {
                const views::ExecutorFootprint& here = counted->executors[i];
                const Json& there = measured["executors"][i];
                for (const char* part : {"kernels", "constants", "metadata"})
                    verifyPart(here.flash, part, there["flash"][part], path + here.name);
                verifyPart(here.ram, "workspace", there["ram"]["workspace"], path + here.name);
                verifyPart(here.ram, "inputs, outputs", there["ram"]["io"], path + here.name);
            }
        }
    }

private:
    static void verifyPart(const std::vector<views::FootprintPart>& parts, const char* name,
                           const Json& bytes, const QString& where)
    {
        for (const views::FootprintPart& part : parts)
            if (part.name == QLatin1String(name))
                QVERIFY2(part.bytes == bytes.get<qint64>(),
                         qPrintable(QStringLiteral("%1 %2: %3, %4")
                                        .arg(where, QLatin1String(name))
                                        .arg(part.bytes)
                                        .arg(bytes.get<qint64>())));
    }
};

QTEST_GUILESS_MAIN(FactsTest)
#include "facts_test.moc"
