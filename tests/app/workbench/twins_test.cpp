// SPDX-License-Identifier: GPL-3.0-or-later
// What the pages show is what the command line prints with --json, over twenty models that are made
// here: operators, passes with their changes, kernel calls, memory with its planners.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "compiler/driver/compile.h"
#include "tests/zoo/zoo.h"
#include "views/models/tables.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <map>

using namespace tenon;
using Json = nlohmann::json;

namespace {

struct Made
{
    const char* name;
    test::ZooOptions options;
};

/// One of each architecture, narrow and small.
const std::vector<Made>& models()
{
    static const std::vector<Made> kModels{
        {"dscnn", {.channelDivisor = 8}},
        {"mobilenet_v1", {.imageSize = 32, .channelDivisor = 16}},
        {"mobilenet_v2", {.imageSize = 32, .channelDivisor = 16}},
        {"mobilenet_v3_small", {.imageSize = 32, .channelDivisor = 16}},
        {"resnet18", {.imageSize = 32, .channelDivisor = 16}},
        {"resnet50", {.imageSize = 32, .channelDivisor = 32}},
        {"resnext50_32x4d", {.imageSize = 32, .channelDivisor = 16}},
        {"squeezenet1_1", {.imageSize = 48, .channelDivisor = 16}},
        {"shufflenet_v2_x1_0", {.imageSize = 32, .channelDivisor = 8}},
        {"densenet121", {.imageSize = 32, .channelDivisor = 16}},
        {"efficientnet_b0", {.imageSize = 32, .channelDivisor = 16}},
        {"ghostnet", {.imageSize = 32, .channelDivisor = 16}},
        {"mnasnet1_0", {.imageSize = 32, .channelDivisor = 16}},
        {"unet", {.imageSize = 32, .channelDivisor = 16}},
        {"transformer", {.channelDivisor = 8}},
        {"gru_stack", {.channelDivisor = 16}},
        {"lstm_stack", {.channelDivisor = 16}},
        {"vit_small_16", {.imageSize = 32, .channelDivisor = 16}},
        {"tcn", {.channelDivisor = 8}},
        {"synthetic", {.channelDivisor = 8, .nodes = 40}},
    };
    return kModels;
}

} // namespace

class TwinsTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString file(const Made& made)
    {
        const QString path = m_folder.filePath(QLatin1String(made.name) + QStringLiteral(".onnx"));
        const std::string bytes = test::makeZooModel(made.name, made.options);
        QFile out(path);
        if (!out.open(QIODevice::WriteOnly)) return {};
        out.write(bytes.data(), static_cast<qint64>(bytes.size()));
        return path;
    }
    Json said(QStringList arguments)
    {
        arguments << QStringLiteral("--json");
        QProcess program;
        program.start(QStringLiteral(TENON_PROGRAM), arguments);
        const bool isDone = program.waitForFinished(300000);
        const Json answer =
            Json::parse(program.readAllStandardOutput().toStdString(), nullptr, false);
        if (!isDone || !answer.is_object())
            qWarning() << arguments << program.readAllStandardError();
        return answer;
    }
    static void verifyOperators(const views::Document& document, const Json& inspected)
    {
        std::map<std::string, int> shown;
        for (const views::OperatorRow& row : views::operatorRows(document))
            shown[row.op.toStdString()] = row.count;
        std::map<std::string, int> there = inspected["operators"];
        QVERIFY2(shown == there, qPrintable(document.name));
    }
    static void verifyPasses(const views::Document& document, const Json& passes)
    {
        QCOMPARE(document.passes.size(), passes.size());
        for (size_t i = 0; i < passes.size(); ++i) {
            const views::PassStep& step = document.passes[i];
            QCOMPARE(step.name.toStdString(), passes[i]["name"].get<std::string>());
            QCOMPARE(step.isChanged, passes[i]["changed"].get<bool>());
            const auto rows = views::deltaRows(document, i + 1);
            const Json& changes = passes[i]["changes"];
            QVERIFY2(rows.size() == changes.size(), qPrintable(document.name + step.name));
            for (size_t k = 0; k < rows.size(); ++k) {
                QCOMPARE(rows[k].rule.toStdString(), changes[k]["rule"].get<std::string>());
                QCOMPARE(rows[k].reason.toStdString(), changes[k]["reason"].get<std::string>());
            }
        }
    }
    static void verifyCalls(const views::Document& document, const Json& calls)
    {
        QVERIFY2(document.calls.size() == calls.size(), qPrintable(document.name));
        for (size_t i = 0; i < calls.size(); ++i) {
            const views::KernelCall& call = document.calls[i];
            QCOMPARE(call.name.toStdString(), calls[i]["name"].get<std::string>());
            QCOMPARE(call.macs, calls[i]["macs"].get<qint64>());
            QCOMPARE(call.movedBytes, calls[i]["moved_bytes"].get<double>());
            if (!call.kernel.isEmpty())
                QCOMPARE(call.kernel.toStdString(), calls[i]["symbol"].get<std::string>());
            std::vector<std::string> nodes;
            for (const core::SourceId source : call.sources)
                nodes.push_back(document.imported.sources()[source.value].name);
            QVERIFY2(nodes == calls[i]["from_nodes"].get<std::vector<std::string>>(),
                     qPrintable(document.name + call.name));
        }
    }
    static void verifyMemory(const views::Document& document, const Json& instance)
    {
        const views::MemoryPlan& plan = *document.memory;
        QCOMPARE(plan.lowerBoundBytes, instance["lower_bound"].get<qint64>());
        const Json& list = instance["buffer_list"];
        QVERIFY2(plan.buffers.size() == list.size(), qPrintable(document.name));
        for (size_t i = 0; i < list.size(); ++i) {
            QCOMPARE(plan.buffers[i].bytes, list[i]["bytes"].get<qint64>());
            QCOMPARE(plan.buffers[i].firstCall, list[i]["first"].get<int>());
            QCOMPARE(plan.buffers[i].lastCall, list[i]["last"].get<int>());
        }
        const Json& live = instance["live_bytes"];
        for (size_t i = 0; i < live.size(); ++i) QCOMPARE(plan.liveBytes[i], live[i].get<qint64>());
        QCOMPARE(plan.planners.size(), instance["results"].size());
        for (size_t i = 0; i < plan.planners.size(); ++i) {
            const Json& result = instance["results"][i];
            QCOMPARE(plan.planners[i].algorithm.toStdString(),
                     result["algorithm"].get<std::string>());
            if (!result.contains("bytes")) continue;
            // The exact planner may go on for longer on the command line.
            if (result["algorithm"] != "exact")
                QCOMPARE(plan.planners[i].bytes, result["bytes"].get<qint64>());
            if (plan.planners[i].algorithm != plan.algorithm) continue;
            for (size_t b = 0; b < plan.buffers.size(); ++b)
                QCOMPARE(plan.buffers[b].offset, result["placements"][b]["offset"].get<qint64>());
        }
    }

private slots:
    void initTestCase()
    {
        QVERIFY(qputenv("XDG_CACHE_HOME", m_folder.path().toLocal8Bit()));
        QVERIFY(models().size() >= 20);
    }
    void areTheSame_data()
    {
        QTest::addColumn<int>("model");
        for (size_t i = 0; i < models().size(); ++i)
            QTest::newRow(models()[i].name) << static_cast<int>(i);
    }
    void areTheSame()
    {
        QFETCH(int, model);
        app::EngineOptions options;
        options.cacheFolder = QString::fromStdString(compiler::defaultCacheFolder());
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        const QString path = file(models()[static_cast<size_t>(model)]);
        views::WorkspacePresenter workspace(app::makeEngine(options), 2);
        const auto isIdle = [&] { return !workspace.state().isBusy; };
        workspace.open(path);
        QVERIFY(QTest::qWaitFor(isIdle, 300000));
        QVERIFY2(workspace.document(), qPrintable(workspace.state().bannerText));
        workspace.compile();
        QVERIFY(QTest::qWaitFor(isIdle, 300000));
        const views::DocumentPtr document = workspace.document();
        QVERIFY2(document->isCompiled(), qPrintable(workspace.state().bannerText));
        verifyOperators(*document, said({QStringLiteral("inspect"), path}));
        verifyPasses(*document, said({QStringLiteral("passes"), path})["passes"]);
        verifyCalls(*document, said({QStringLiteral("compile"), path, QStringLiteral("-o"),
                                     m_folder.filePath(QStringLiteral("model.so"))})["calls"]);
        verifyMemory(*document, said({QStringLiteral("plan"), path})["instances"][0]);
    }
};

QTEST_GUILESS_MAIN(TwinsTest)
#include "twins_test.moc"
