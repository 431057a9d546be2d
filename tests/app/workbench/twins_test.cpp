// SPDX-License-Identifier: GPL-3.0-or-later
// What the pages show is what the command line prints with --json, over twenty models that are made
// here: operators, passes with their changes and single rewrites, what passes make together, where
// a node went, kernel calls and their figures, memory with its planners; of one also the levels and
// the trace of a run.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "compiler/driver/compile.h"
#include "tests/app/workbench/twin_models.h"
#include "views/models/film.h"
#include "views/models/tables.h"
#include "views/models/traced_run.h"
#include "views/scene/node_figures.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

using namespace tenon;
using Json = nlohmann::json;

class TwinsTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    QString file(const test::TwinModel& model) { return test::writeModel(model, m_folder.path()); }
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
    /// The window's way into a pass, and the command line's.
    static void verifyRewrites(const views::Engine& engine, const views::DocumentPtr& document,
                               const views::BuildOptions& build, int position, const Json& passes)
    {
        core::JobContext job(2);
        const auto made =
            engine.stepPass(document, build, views::SteppedPass{.position = position}, job);
        QVERIFY2(made, made ? "" : made.error().message.c_str());
        const auto& steps = (*made)->passes;
        QCOMPARE(steps.size(), passes.size());
        int singles = 0;
        for (size_t i = 0; i < steps.size(); ++i) {
            QCOMPARE(steps[i].changes.size(), passes[i]["changes"].size());
            QCOMPARE(steps[i].rewrites > 0, passes[i].contains("rewrites"));
            if (steps[i].rewrites == 0) continue;
            ++singles;
            QCOMPARE(steps[i].firstRewrite, passes[i]["rewrites"]["first"].get<int>());
            QCOMPARE(steps[i].rewrites, passes[i]["rewrites"]["of"].get<int>());
            QCOMPARE(steps[i].changes.front().reason,
                     passes[i]["changes"][0]["reason"].get<std::string>());
        }
        QVERIFY(singles > 1);
    }
    /// What all passes made together, from the model as it was read.
    static void verifyComposed(const views::Document& document, const Json& composed)
    {
        const auto rows = views::deltaRows(document, 0, document.passes.size());
        const Json& changes = composed["changes"];
        QVERIFY2(rows.size() == changes.size(), qPrintable(document.name));
        for (size_t i = 0; i < rows.size(); ++i) {
            std::vector<std::string> rules;
            for (const QString& rule : rows[i].rule.split(QStringLiteral(", ")))
                rules.push_back(rule.toStdString());
            QVERIFY2(rules == changes[i]["rules"].get<std::vector<std::string>>(),
                     qPrintable(document.name + rows[i].rule));
        }
    }
    static void verifyFilm(const views::Document& document, core::SourceId source,
                           const Json& followed)
    {
        const auto film = views::filmOf(document, source);
        const Json& steps = followed["steps"];
        QVERIFY2(film.size() == steps.size(), qPrintable(document.name));
        for (size_t i = 0; i < film.size(); ++i) {
            QCOMPARE(film[i].version, steps[i]["version"].get<int>());
            QCOMPARE(film[i].where.toStdString(), steps[i]["text"].get<std::string>());
        }
        QCOMPARE(film.back().where.toStdString(), followed["answer"].get<std::string>());
    }
    /// Colours of the graph as it runs: each card that is a call has the call's figure.
    static void verifyFigures(const views::Document& document, const Json& calls)
    {
        const core::Module& module = document.version(document.passes.size());
        std::vector<const core::NodeRecord*> standing;
        for (const core::NodeId id : module.main().order) standing.push_back(&module.node(id));
        const views::NodeFigures macs(document, module, views::CardFigure::Macs, standing);
        for (size_t i = 0; i < calls.size(); ++i) {
            const views::NodeFigure* figure = macs.of(document.calls[i].node);
            QCOMPARE(figure ? figure->value : 0.0, calls[i]["macs"].get<double>());
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

    /// A model that is compiled in the window.
    views::DocumentPtr compiled(views::WorkspacePresenter& workspace, const QString& path)
    {
        const auto isIdle = [&] { return !workspace.state().isBusy; };
        workspace.open(path);
        if (!QTest::qWaitFor(isIdle, 300000) || !workspace.document()) return nullptr;
        workspace.compile();
        return QTest::qWaitFor(isIdle, 300000) ? workspace.document() : nullptr;
    }
    app::EngineOptions engineOptions() const
    {
        app::EngineOptions options;
        options.cacheFolder = QString::fromStdString(compiler::defaultCacheFolder());
        options.configFolder = m_folder.filePath(QStringLiteral("config"));
        options.repeats = 3;
        return options;
    }

private slots:
    void initTestCase()
    {
        QVERIFY(qputenv("XDG_CACHE_HOME", m_folder.path().toLocal8Bit()));
        QVERIFY(test::twinModels().size() >= 20);
    }
    void areTheSame_data()
    {
        QTest::addColumn<int>("model");
        for (size_t i = 0; i < test::twinModels().size(); ++i)
            QTest::newRow(test::twinModels()[i].name) << static_cast<int>(i);
    }
    void areTheSame()
    {
        QFETCH(int, model);
        const QString path = file(test::twinModels()[static_cast<size_t>(model)]);
        views::WorkspacePresenter workspace(app::makeEngine(engineOptions()), 2);
        const views::DocumentPtr document = compiled(workspace, path);
        QVERIFY2(document && document->isCompiled(), qPrintable(workspace.state().bannerText));
        verifyOperators(*document, test::said({QStringLiteral("inspect"), path}));
        verifyPasses(*document, test::said({QStringLiteral("passes"), path})["passes"]);
        const Json calls = test::said({QStringLiteral("compile"), path, QStringLiteral("-o"),
                                       m_folder.filePath(QStringLiteral("model.so"))})["calls"];
        verifyCalls(*document, calls);
        verifyFigures(*document, calls);
        verifyComposed(*document,
                       test::said({QStringLiteral("passes"), path, QStringLiteral("--from"),
                                   QStringLiteral("imported")}));
        if (model % 5 == 0) {
            const auto fuse = std::find_if(
                document->passes.begin(), document->passes.end(),
                [](const auto& step) { return step.name == QStringLiteral("FuseOps"); });
            const auto position = static_cast<int>(fuse - document->passes.begin());
            verifyRewrites(workspace.engine(), document, workspace.options(), position,
                           test::said({QStringLiteral("passes"), path, QStringLiteral("--rewrites"),
                                       QString::number(position)})["passes"]);
        }
        const size_t middle = document->imported.sources().size() / 2;
        verifyFilm(*document, core::SourceId(static_cast<uint32_t>(middle)),
                   test::said({QStringLiteral("passes"), path, QStringLiteral("--follow"),
                               QString::fromStdString(document->imported.sources()[middle].name)}));
        verifyMemory(*document, test::said({QStringLiteral("plan"), path})["instances"][0]);
    }
    /// Times differ from run to run; calls and bytes do not.
    void levelsAreTheSame()
    {
        const QString path = file(test::twinModels().front());
        const views::Engine engine = app::makeEngine(engineOptions());
        views::WorkspacePresenter workspace(engine, 2);
        const views::DocumentPtr document = compiled(workspace, path);
        QVERIFY(document);
        core::JobContext job(2);
        const auto rows = engine.measureLevels(
            document, workspace.options(), [](const auto&) {}, job);
        QVERIFY2(rows, rows ? "" : rows.error().message.c_str());
        const Json levels = test::said({QStringLiteral("bench"), path, QStringLiteral("--levels"),
                                        QStringLiteral("--repeat"), QStringLiteral("3")})["levels"];
        QCOMPARE(rows->size(), levels.size());
        for (size_t i = 0; i < levels.size(); ++i) {
            const views::LevelRow& row = (*rows)[i];
            QCOMPARE(row.level, levels[i]["level"].get<int>());
            QCOMPARE(row.calls, levels[i]["call_count"].get<int>());
            QCOMPARE(row.kernels, levels[i]["kernel_count"].get<int>());
            QCOMPARE(row.workspaceBytes, levels[i]["workspace_bytes"].get<qint64>());
            QCOMPARE(row.constantBytes, levels[i]["constant_bytes"].get<qint64>());
            QCOMPARE(row.fileBytes, levels[i]["file_bytes"].get<qint64>());
            QVERIFY(row.medianUs > 0 && levels[i]["median_ms"].get<double>() > 0);
        }
    }
    /// What the window writes of the command line's times is what the command line writes.
    void tracesAreTheSame()
    {
        const QString path = file(test::twinModels().front());
        const QString written = m_folder.filePath(QStringLiteral("trace.json"));
        const Json measured = test::said({QStringLiteral("bench"), path,
                                          QStringLiteral("--per-layer"), QStringLiteral("--repeat"),
                                          QStringLiteral("3"), QStringLiteral("--trace"), written});
        QFile trace(written);
        QVERIFY(trace.open(QIODevice::ReadOnly));
        const Json there = Json::parse(trace.readAll().toStdString());
        views::WorkspacePresenter workspace(app::makeEngine(engineOptions()), 2);
        views::Document document = *compiled(workspace, path);
        views::Measurement& times = document.measurement.emplace();
        for (const Json& layer : measured["layers"])
            times.calls.push_back(
                {layer["ms"].get<double>() * 1000, layer.value("bound_ms", 0.0) * 1000});
        const Json here = Json::parse(core::traceEvents(views::tracedRun(document)));
        const Json &ours = here["traceEvents"], &theirs = there["traceEvents"];
        QCOMPARE(ours.size(), theirs.size());
        int calls = 0;
        for (size_t i = 0; i < ours.size(); ++i) {
            if (ours[i].value("cat", "") != "kernel") continue;
            ++calls;
            QVERIFY2(ours[i] == theirs[i], (ours[i].dump() + "\n" + theirs[i].dump()).c_str());
        }
        QCOMPARE(static_cast<size_t>(calls), document.calls.size());
    }
};

QTEST_GUILESS_MAIN(TwinsTest)
#include "twins_test.moc"
