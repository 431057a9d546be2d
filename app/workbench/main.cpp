// SPDX-License-Identifier: GPL-3.0-or-later
// tenon-workbench: options, engine, window; renders a state to a picture with --screenshot.
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "app/workbench/window_request.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/kernel_service.h"
#include "core/base/temporary_folder.h"
#include "remote/peer/peer_program.h"
#include "views/canvas/canvas_accessible.h"
#include "views/pages/compare/compare_page.h"
#include "views/pages/quantize/quantize_page.h"

#include <QAccessible>
#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFileInfo>
#include <QSaveFile>
#include <QScreen>
#include <QThread>
#include <QTimer>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace {

using tenon::app::MainWindow;
using tenon::app::Request;

/// Turns the event loop until the window has nothing left to do; false after the time limit.
bool settle(MainWindow& window, int seconds)
{
    QElapsedTimer clock;
    clock.start();
    do {
        QEventLoop sleep; // what is waited for may need the processor
        QTimer::singleShot(20, &sleep, &QEventLoop::quit);
        sleep.exec();
        if (clock.elapsed() > seconds * 1000) return false;
    } while (!window.isSettled());
    QApplication::processEvents();
    return true;
}

int fail(const QString& message)
{
    std::fprintf(stderr, "error: %s\n", qPrintable(message));
    return 4;
}

/// Opens the requested model; 0 when it is open.
int openModel(MainWindow& window, const Request& request)
{
    window.openModel(request.model, request.shapes);
    if (!settle(window, request.timeoutSeconds))
        return fail(QStringLiteral("the model was not open in time"));
    if (window.workspace().document()) return 0;
    return fail(request.model + QStringLiteral(": ") + window.workspace().state().bannerText);
}

QStringList namesOf(const std::vector<tenon::views::Page>& pages)
{
    QStringList names;
    for (const auto& page : pages) names << page.name;
    return names;
}

/// Of both graphs; false when the document has no such figures.
bool showColours(MainWindow& window, const QString& name)
{
    const auto& document = window.workspace().document();
    if (!document) return false;
    const std::pair<const char*, tenon::views::CardLooks> known[] = {
        {"type", {}},
        {"time", {tenon::views::CardFigure::Time, true}},
        {"macs", {tenon::views::CardFigure::Macs, true}},
        {"bytes", {tenon::views::CardFigure::Bytes, true}},
        {"bound", {tenon::views::CardFigure::Bound, true}},
        {"error", {tenon::views::CardFigure::Error, true}},
        {"cumulative", {tenon::views::CardFigure::CumulativeError, true}},
        {"isolated", {tenon::views::CardFigure::IsolatedError, true}},
        {"quantized", {tenon::views::CardFigure::QuantizedError, true}},
        {"sensitivity", {tenon::views::CardFigure::Sensitivity, true}}};
    for (const auto& [word, looks] : known) {
        if (name.compare(QLatin1String(word), Qt::CaseInsensitive) != 0) continue;
        for (tenon::views::CardLooks there : tenon::views::colourings(*document)) {
            if (!(there == looks)) continue;
            there.hasLegend = true;
            window.inspect().setLooks(there);
            window.passes().setLooks(there);
            return true;
        }
    }
    return false;
}

/// With the reference that was asked for; 0 when there is a result.
int compare(MainWindow& window, const Request& request)
{
    auto& presenter = window.part<tenon::views::ComparePage>().presenter();
    if (!request.reference.isEmpty()) {
        presenter.setReferenceKind(QFileInfo(request.reference).isDir()
                                       ? tenon::views::ReferenceKind::Folder
                                       : tenon::views::ReferenceKind::Model);
        presenter.setReferencePath(request.reference);
    }
    if (!presenter.state().canStart) return fail(presenter.state().problem);
    presenter.compare();
    if (!settle(window, request.timeoutSeconds))
        return fail(QStringLiteral("the comparison did not end in time"));
    return 0; // what went wrong stands on the page
}

/// With the examples that were given; 0 when there is a result.
int quantize(MainWindow& window, const Request& request)
{
    auto& presenter = window.part<tenon::views::QuantizePage>().presenter();
    presenter.setData(request.examples);
    if (!request.quantized.isEmpty()) presenter.setOutput(request.quantized);
    if (!presenter.state().canStart) return fail(presenter.state().problem);
    presenter.quantize();
    if (!settle(window, request.timeoutSeconds))
        return fail(QStringLiteral("the model was not quantized in time"));
    return 0; // what went wrong stands on the page
}

/// The pass that is pinned and the one that is shown; 0 when there are such.
int showPasses(MainWindow& window, const Request& request)
{
    if (!request.pin.isEmpty()) {
        if (!window.showPass(request.pin))
            return fail(QStringLiteral("no pass `%1` in this pipeline").arg(request.pin));
        window.passes().togglePin();
    }
    if (!request.pass.isEmpty() && !window.showPass(request.pass))
        return fail(QStringLiteral("no pass `%1` in this pipeline").arg(request.pass));
    return 0;
}

/// The sheet with the file and its result; 0 when it was run.
int trySample(MainWindow& window, const Request& request)
{
    window.openOverlay(QStringLiteral("try"));
    auto& trial = window.trial();
    trial.setFile(request.sample);
    if (!request.preprocessing.isEmpty()) trial.setPreprocessing(request.preprocessing);
    if (!request.labels.isEmpty()) trial.setLabels(request.labels);
    if (!trial.state().canStart) return fail(trial.state().problem);
    trial.run();
    if (!settle(window, request.timeoutSeconds))
        return fail(QStringLiteral("the run did not end in time"));
    return 0; // what went wrong stands in the sheet
}

/// Diff, colours and columns of the graph; 0 when there are such.
int showGraph(MainWindow& window, const Request& request)
{
    if (!request.diff.isEmpty() && !window.showDiff(request.diff))
        return fail(
            QStringLiteral("no diff `%1`; there are union, split and after").arg(request.diff));
    if (!request.colour.isEmpty() && !showColours(window, request.colour))
        return fail(
            QStringLiteral("no colours by `%1`; there are type, time, macs, bytes, bound, "
                           "error, cumulative, isolated, quantized and sensitivity, as far as they "
                           "are measured")
                .arg(request.colour));
    if (request.isWrapped) window.actions().action(QStringLiteral("wrap"))->trigger();
    return 0;
}

/// Brings the window into the requested state; 0 when all of it exists.
int applyState(MainWindow& window, const Request& request)
{
    if (!request.model.isEmpty())
        if (const int code = openModel(window, request); code != 0) return code;
    if (!request.board.isEmpty() && !window.chooseBoard(request.board))
        return fail(
            QStringLiteral("no board `%1`; `tenon board list` shows them").arg(request.board));
    if (!settle(window, request.timeoutSeconds))
        return fail(QStringLiteral("the board did not answer in time"));
    if (request.shouldCompile || request.shouldBenchmark) {
        if (request.shouldBenchmark)
            window.deploy().deploy();
        else
            window.workspace().compile();
        if (!settle(window, request.timeoutSeconds))
            return fail(QStringLiteral("the job did not end in time"));
    }
    if (request.shouldCompare)
        if (const int code = compare(window, request); code != 0) return code;
    if (!request.examples.isEmpty())
        if (const int code = quantize(window, request); code != 0) return code;
    if (!request.perspective.isEmpty() && !window.showPerspective(request.perspective))
        return fail(
            QStringLiteral("no perspective `%1`; there are %2")
                .arg(request.perspective, namesOf(window.pages()).join(QStringLiteral(", "))));
    if (const int code = showPasses(window, request); code != 0) return code;
    if (const int code = showGraph(window, request); code != 0) return code;
    settle(window, request.timeoutSeconds);
    if (!request.tab.isEmpty()) window.showCodeTab(request.tab);
    if (!request.node.isEmpty() && !window.selectNode(request.node))
        return fail(QStringLiteral("no node `%1` after this pass").arg(request.node));
    settle(window, request.timeoutSeconds);
    if (!request.overlay.isEmpty()) window.openOverlay(request.overlay);
    return request.sample.isEmpty() ? 0 : trySample(window, request);
}

int takeScreenshot(MainWindow& window, const Request& request)
{
    window.resize(request.size);
    window.show();
    if (const int code = applyState(window, request); code != 0) return code;
    constexpr int kMotionMs = 400; // longer than any transition of the canvas
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < kMotionMs || !window.isSettled())
        QApplication::processEvents(QEventLoop::AllEvents, 20);
    if (!request.exported.isEmpty())
        if (const auto done = window.exportView(request.exported); !done)
            return fail(QString::fromStdString(done.error().message));
    if (request.screenshot.isEmpty()) return 0;
    QSaveFile file(request.screenshot);
    if (!file.open(QIODevice::WriteOnly) || !window.grab().save(&file, "PNG") || !file.commit())
        return fail(QStringLiteral("%1 could not be written: %2")
                        .arg(request.screenshot, file.errorString()));
    return 0;
}

bool wantsDark(const QString& theme, const tenon::app::Settings& settings)
{
    using tenon::app::ThemeChoice;
    if (theme == QLatin1String("dark")) return true;
    if (theme == QLatin1String("light")) return false;
    if (settings.theme != ThemeChoice::Automatic) return settings.theme == ThemeChoice::Dark;
    return QApplication::palette().color(QPalette::Window).lightness() < 128;
}

/// Pictures and texts are made offscreen, unless the user chose a platform; false when a window is
/// asked for and there is no display, which Qt answers with an abort.
bool choosePlatform(const std::vector<std::string_view>& arguments)
{
    if (qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) return true;
    const auto needsNoDisplay = [](std::string_view argument) {
        for (const std::string_view word : {"--help", "--version", "--screenshot", "--export"})
            if (argument.substr(0, word.size()) == word) return true;
        return argument == "-h" || argument == "-v";
    };
    if (std::any_of(arguments.begin(), arguments.end(), needsNoDisplay))
        return qputenv("QT_QPA_PLATFORM", "offscreen");
#if defined(Q_OS_LINUX)
    return !qEnvironmentVariableIsEmpty("DISPLAY") ||
           !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
#else
    return true;
#endif
}

/// With no model named, all of the last window. The target is that window's in any case, and so is
/// the board that it was chosen for.
void restore(MainWindow& window, const Request& request, bool isTargetGiven)
{
    if (request.model.isEmpty())
        window.restoreSession();
    else if (!isTargetGiven)
        window.restoreChoices();
}

/// What the window starts itself for.
std::optional<int> runAsWorker(int argc, char** argv)
{
    if (argc > 1 && std::strcmp(argv[1], "kernel-worker") == 0)
        return tenon::compiler::runKernelWorker(3);
    if (argc > 1 && std::strcmp(argv[1], tenon::remote::kPeerCommand) == 0)
        return tenon::remote::runPeerProgram({argv + 2, argv + argc}, 3, 3);
    return std::nullopt;
}

} // namespace

int main(int argc, char** argv)
{
    if (const std::optional<int> code = runAsWorker(argc, argv)) return *code;
    tenon::core::sweepTemporaryFolders(); // what programs that were killed left
    if (!choosePlatform({argv + 1, argv + argc}))
        return fail(QStringLiteral("there is no display here: set DISPLAY or WAYLAND_DISPLAY, or "
                                   "paint the window with --screenshot FILE"));
    QApplication::setApplicationName(QStringLiteral("tenon-workbench"));
    QApplication::setApplicationVersion(QStringLiteral(TENON_VERSION));
    QApplication::setStyle(QStringLiteral("fusion"));
    const QApplication application(argc, argv);
    QAccessible::installFactory(tenon::views::canvasAccessibleFactory);
    QCommandLineParser parser;
    tenon::app::addOptions(parser);
    parser.process(application);
    const Request request = tenon::app::readRequest(parser);
    const bool isPicture = !request.screenshot.isEmpty() || !request.exported.isEmpty();
    tenon::app::Settings settings;
    if (!isPicture) settings = tenon::app::loadSettings(tenon::app::settingsPath());
    if (parser.isSet(QStringLiteral("target")))
        settings.target = parser.value(QStringLiteral("target"));
    tenon::app::WindowOptions options;
    options.isIsolated = isPicture;
    options.isDark = wantsDark(request.theme, settings);
    options.samplePath = tenon::app::samplePath();
    options.threads = static_cast<unsigned>(std::max(1, QThread::idealThreadCount()));
    tenon::app::EngineOptions engine;
    // LLVM may abort: in a worker that is a message, here it would be the window.
    engine.kernels =
        tenon::compiler::workerKernelService(QApplication::applicationFilePath().toStdString());
    engine.cacheFolder = QString::fromStdString(tenon::compiler::defaultCacheFolder());
    MainWindow window(tenon::app::makeEngine(engine), settings, options);
    if (isPicture) return takeScreenshot(window, request);
    // A first window has room on the screen, its frame included.
    constexpr QSize kFrame(16, 48);
    const QSize room = window.screen()->availableGeometry().size() - kFrame;
    window.resize(parser.isSet(QStringLiteral("size")) ? request.size
                                                       : request.size.boundedTo(room));
    if (!settings.geometry.isEmpty() && !parser.isSet(QStringLiteral("size")))
        window.restoreGeometry(settings.geometry);
    window.show();
    QTimer::singleShot(0, &window, [&] {
        restore(window, request, parser.isSet(QStringLiteral("target")));
        applyState(window, request);
    });
    return QApplication::exec();
}
