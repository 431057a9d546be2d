// SPDX-License-Identifier: GPL-3.0-or-later
// What the window takes on large graphs, each figure beside what it may take: layout, opening,
// stepping, diffs, panning and zooming, hovering, searching. Offscreen, software raster, 1080p.
//
//   canvas_bench [--json FILE] [--quick] [--only TEXT]    exit status 1 where a figure misses its
//   target; --only: graphs whose name holds TEXT, "ladder, 10000"
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/views/graph_families.h"
#include "tests/zoo/zoo.h"
#include "views/models/film.h"
#include "views/pages/inspect/inspect_page.h"
#include "views/pages/passes/passes_page.h"
#include "views/scene/stage.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMouseEvent>
#include <QTemporaryDir>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

using namespace tenon;

namespace {

constexpr QSize kScreen(1920, 1080);

template <class Body>
double millisecondsOf(Body&& body)
{
    QElapsedTimer clock;
    clock.start();
    body();
    return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

double median(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
}

double percentile95(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times[static_cast<size_t>(std::floor(0.95 * static_cast<double>(times.size())))];
}

/// What was measured, and what it may be.
class Figures
{
public:
    /// A target of 0: told, not judged.
    void add(const QString& what, const QString& graph, double ms, double target)
    {
        const bool isMet = target <= 0 || ms <= target;
        m_isMet = m_isMet && isMet;
        std::printf("%-34s %-34s %9.2f ms %9s   %s\n", qPrintable(what), qPrintable(graph), ms,
                    target > 0 ? qPrintable(QStringLiteral("<= %1").arg(target)) : "",
                    target <= 0 ? "" : (isMet ? "met" : "MISSED"));
        std::fflush(stdout);
        QJsonObject row{{QStringLiteral("what"), what},
                        {QStringLiteral("graph"), graph},
                        {QStringLiteral("ms"), ms}};
        if (target > 0) {
            row[QStringLiteral("target_ms")] = target;
            row[QStringLiteral("met")] = isMet;
        }
        m_rows.append(row);
    }
    bool areMet() const { return m_isMet; }
    bool write(const QString& path) const
    {
        QFile file(path);
        const QByteArray bytes =
            QJsonDocument(QJsonObject{{QStringLiteral("figures"), m_rows}}).toJson();
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
    }

private:
    QJsonArray m_rows;
    bool m_isMet = true;
};

/// Of one size: 0 where there is no target.
struct Targets
{
    int count;
    double layout;
    double step;
    double frame;
};
constexpr Targets kTargets[] = {{1000, 0, 33, 16}, {10000, 60, 33, 16}, {100000, 800, 0, 33}};

/// The window of an engine that gives a document for every path.
std::unique_ptr<app::MainWindow> windowOf(const views::DocumentPtr& document)
{
    views::Engine engine = app::makeEngine({});
    engine.open = [document](const QString&, const views::BuildOptions&,
                             const views::Engine::Read& read,
                             core::JobContext&) -> core::Result<views::DocumentPtr> {
        read(document);
        return document;
    };
    app::WindowOptions options;
    options.isIsolated = true;
    auto window = std::make_unique<app::MainWindow>(engine, app::Settings(), options);
    window->resize(kScreen);
    window->show();
    return window;
}

void settle(app::MainWindow& window)
{
    do QApplication::processEvents(QEventLoop::AllEvents, 20);
    while (!window.isSettled());
    QApplication::processEvents();
}

/// The shortest time for which somebody looks at a step before the next key.
constexpr double kGlance = 500;

void lookFor(double milliseconds)
{
    QElapsedTimer clock;
    clock.start();
    while (static_cast<double>(clock.elapsed()) < milliseconds)
        QApplication::processEvents(QEventLoop::AllEvents, 10);
}

/// One frame of the whole window, as the screen would get it.
void paint(app::MainWindow& window, QPixmap& frame)
{
    QApplication::sendPostedEvents();
    window.render(&frame);
}

void measureSteps(app::MainWindow& window, const QString& graph, const Targets& targets,
                  Figures& figures)
{
    QPixmap frame(kScreen);
    for (auto* canvas : window.findChildren<views::GraphCanvas*>()) canvas->setReducedMotion(true);
    window.showPerspective(QStringLiteral("passes"));
    settle(window);
    paint(window, frame);
    const auto shown = [&](const std::function<void()>& key) {
        return millisecondsOf([&] {
            key();
            paint(window, frame);
        });
    };
    std::vector<double> steps, modes, held;
    window.passes().showVersion(0);
    const int last = window.passes().state().versionCount - 1;
    for (int version = 1; version <= std::min(10, last); ++version) {
        lookFor(kGlance);
        steps.push_back(shown([&] { window.passes().step(1); }));
        if (version > 3) continue;
        for (int mode = 0; mode < 3; ++mode) {
            lookFor(kGlance);
            modes.push_back(shown([&] { window.passes().cycleMode(); }));
        }
    }
    for (int version = last; version > std::max(0, last - 10); --version)
        held.push_back(shown([&] { window.passes().showVersion(version); }));
    figures.add(QStringLiteral("step to a neighbouring pass"), graph, median(steps), targets.step);
    figures.add(QStringLiteral("D, the next kind of diff"), graph, median(modes), targets.step);
    figures.add(QStringLiteral("steps of a key that is held down"), graph, median(held), 0);
}

/// While panning and zooming at one zoom.
std::vector<double> framesAt(views::GraphCanvas& canvas, double zoom)
{
    std::vector<double> times;
    QPixmap target(canvas.size());
    for (int i = 0; i < 40; ++i) {
        views::Camera camera;
        camera.zoom = zoom * (1 + 0.01 * (i % 7));
        camera.centre = canvas.scene().bounds.center() + QPointF(3 * i, 17 * i) / zoom;
        canvas.setCamera(camera);
        times.push_back(millisecondsOf([&] { canvas.render(&target); }));
    }
    return times;
}

void measureCanvas(app::MainWindow& window, const QString& graph, const Targets& targets,
                   Figures& figures)
{
    while (window.passes().state().mode != views::DiffMode::Union) window.passes().cycleMode();
    views::GraphCanvas& canvas = window.part<views::PassesPage>().canvas();
    const double all = static_cast<double>(canvas.height()) / canvas.scene().bounds.height();
    const std::pair<const char*, double> zooms[] = {
        {"pan and zoom at 100 %, p95", 1}, {"at 30 %, p95", 0.3}, {"all visible, p95", all}};
    for (const auto& [name, zoom] : zooms)
        figures.add(QLatin1String(name), graph, percentile95(framesAt(canvas, zoom)),
                    targets.frame);
    std::vector<double> hovers;
    for (int i = 0; i < 200; ++i) {
        const QPointF at(37.0 * i / 7, 11.0 * i / 5);
        QMouseEvent move(QEvent::MouseMove, at, canvas.mapToGlobal(at), Qt::NoButton, Qt::NoButton,
                         Qt::NoModifier);
        hovers.push_back(millisecondsOf([&] { QApplication::sendEvent(&canvas, &move); }));
    }
    figures.add(QStringLiteral("hover, p95"), graph, percentile95(hovers), 1);
}

void measureSearch(const views::Document& document, const QString& graph, Figures& figures)
{
    const auto entries = [&] {
        std::vector<views::PaletteEntry> out;
        for (const views::FoundSource& found : views::foundSources(document.imported))
            out.push_back({found.name, found.op, {}});
        return out;
    };
    views::PaletteModel palette;
    palette.setSources({{QLatin1Char('@'), entries}});
    figures.add(QStringLiteral("search: the names are collected"), graph,
                millisecondsOf([&] { palette.load(); }), 0);
    std::vector<double> times;
    for (const char* query : {"@conv", "@add_9", "@relu_77", "@nothing", "@batch", "@matmul_5"})
        times.push_back(millisecondsOf([&] { palette.setQuery(QLatin1String(query)); }));
    figures.add(QStringLiteral("search"), graph, median(times), 30);
}

void measureFamily(tests::GraphFamily family, const Targets& targets, const QString& only,
                   Figures& figures)
{
    const QString graph = QStringLiteral("%1, %2 nodes")
                              .arg(QLatin1String(tests::familyName(family)))
                              .arg(targets.count);
    if (!graph.contains(only)) return;
    const views::DocumentPtr document = tests::familyDocument(family, targets.count);
    const auto board = std::make_shared<const views::Storyboard>(document);
    views::Stage stage = views::Stage::forPasses(board);
    figures.add(QStringLiteral("layout, one thread"), graph,
                millisecondsOf([&] { stage.arrange(); }), targets.layout);
    const auto window = windowOf(document);
    window->openModel(document->path);
    settle(*window);
    measureSteps(*window, graph, targets, figures);
    measureCanvas(*window, graph, targets, figures);
    measureSearch(*document, graph, figures);
}

/// A file from the disk to the first frame with its graph, and to its passes; the longest time that
/// the window did not listen meanwhile.
void measureOpening(int count, double target, Figures& figures)
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("model.onnx"));
    const std::string bytes = test::makeZooModel("synthetic", {.nodes = count});
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return;
    file.write(bytes.data(), static_cast<qint64>(bytes.size()));
    file.close();
    app::WindowOptions options;
    options.isIsolated = true;
    app::MainWindow window(app::makeEngine({}), app::Settings(), options);
    window.resize(kScreen);
    window.show();
    settle(window);
    QPixmap frame(kScreen);
    paint(window, frame);
    const QString graph = QStringLiteral("synthetic file, %1 nodes").arg(count);
    double first = -1, longest = 0;
    QElapsedTimer clock;
    clock.start();
    window.openModel(path);
    do {
        longest = std::max(
            longest, millisecondsOf([] { QApplication::processEvents(QEventLoop::AllEvents, 5); }));
        if (first < 0 && !window.part<views::InspectPage>().canvas().scene().items.empty()) {
            paint(window, frame);
            first = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        }
    } while (!window.isSettled() || first < 0);
    const double whole = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    figures.add(QStringLiteral("open, to the first frame"), graph, first, target);
    figures.add(QStringLiteral("open, to the passes"), graph, whole, 0);
    figures.add(QStringLiteral("longest time without listening"), graph, longest, 100);
}

void measureStart(Figures& figures)
{
    QPixmap frame(kScreen);
    figures.add(QStringLiteral("an empty window, made and painted"), QStringLiteral("none"),
                millisecondsOf([&] {
                    app::WindowOptions options;
                    options.isIsolated = true;
                    app::MainWindow window(app::makeEngine({}), app::Settings(), options);
                    window.resize(kScreen);
                    window.show();
                    paint(window, frame);
                }),
                500);
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication::setStyle(QStringLiteral("fusion"));
    const QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    const bool isQuick = arguments.contains(QStringLiteral("--quick"));
    Figures figures;
    const qsizetype only = arguments.indexOf(QStringLiteral("--only"));
    const QString wanted = only > 0 ? arguments.value(only + 1) : QString();
    if (wanted.isEmpty()) {
        measureStart(figures);
        measureOpening(1000, 150, figures);
        measureOpening(10000, 700, figures);
    }
    for (const Targets& targets : kTargets)
        for (const tests::GraphFamily family : tests::allFamilies())
            if (!isQuick || targets.count <= 10000) measureFamily(family, targets, wanted, figures);
    const qsizetype json = arguments.indexOf(QStringLiteral("--json"));
    if (json > 0 && !figures.write(arguments.value(json + 1))) return 2;
    return figures.areMet() ? 0 : 1;
}
