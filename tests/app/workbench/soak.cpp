// SPDX-License-Identifier: GPL-3.0-or-later
// Opens and closes models, compiles and deploys again and again in one window, and says what memory
// and handles did: `./dev check soak`.
//
//   soak [--models N] [--compiles N] [--deploys N]     exit status 1 where they keep growing
#include "app/engine/engine.h"
#include "app/workbench/main_window.h"
#include "tests/zoo/zoo.h"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>

using namespace tenon;

namespace {

struct Usage
{
    double residentMb = 0;
    double heapMb = 0; ///< handed out by the allocator
    int handles = 0;
    int widgets = 0;
};

Usage usageNow(const app::MainWindow& window)
{
    malloc_trim(0);
    Usage out;
    long pages = 0, resident = 0;
    if (FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    constexpr double kMb = 1024 * 1024;
    out.residentMb =
        static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMb;
    out.heapMb = static_cast<double>(mallinfo2().uordblks) / kMb;
    out.handles = static_cast<int>(QDir(QStringLiteral("/proc/self/fd"))
                                       .entryList(QDir::NoDotAndDotDot | QDir::System | QDir::Files)
                                       .size());
    out.widgets = static_cast<int>(window.findChildren<QObject*>().size());
    return out;
}

void settle(app::MainWindow& window)
{
    do QApplication::processEvents(QEventLoop::AllEvents, 20);
    while (!window.isSettled());
    QApplication::processEvents();
    QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

/// `count` rounds of `act`; whether memory and handles of the last third are those of the second.
/// They are looked at behind whole cycles of what `act` does: a model of more passes takes more.
bool soak(app::MainWindow& window, const char* what, int count, int cycle,
          const std::function<void(int)>& act)
{
    if (count <= 0) return true;
    Usage at[3];
    for (int i = 0; i < count; ++i) {
        act(i);
        settle(window);
        for (int third = 0; third < 3; ++third)
            if (i + 1 == std::max(1, count * (third + 1) / 3 / cycle * cycle)) {
                at[third] = usageNow(window);
                std::printf(
                    "%-10s %5d  resident %7.1f MB  heap %7.1f MB  %4d handles  %6d objects\n", what,
                    i + 1, at[third].residentMb, at[third].heapMb, at[third].handles,
                    at[third].widgets);
                std::fflush(stdout);
            }
    }
    // Caches fill in the beginning; later rounds take nothing more.
    constexpr double kHeapSlackMb = 8;
    constexpr int kHandleSlack = 4, kObjectSlack = 200;
    const bool isStable = at[2].heapMb <= at[1].heapMb + kHeapSlackMb &&
                          at[2].handles <= at[1].handles + kHandleSlack &&
                          at[2].widgets <= at[1].widgets + kObjectSlack;
    std::printf("%-10s %s\n", what, isStable ? "stable" : "KEEPS GROWING");
    return isStable;
}

/// Models of some architectures, small.
QStringList writeModels(const QTemporaryDir& folder)
{
    const std::pair<const char*, test::ZooOptions> kinds[] = {
        {"dscnn", {.channelDivisor = 8}},
        {"mobilenet_v2", {.imageSize = 32, .channelDivisor = 16}},
        {"resnet18", {.imageSize = 32, .channelDivisor = 16}},
        {"transformer", {.channelDivisor = 8}},
        {"synthetic", {.channelDivisor = 8, .nodes = 300}}};
    QStringList paths;
    for (const auto& [name, options] : kinds) {
        const QString path = folder.filePath(QLatin1String(name) + QStringLiteral(".onnx"));
        const std::string bytes = test::makeZooModel(name, options);
        QFile file(path);
        if (file.open(QIODevice::WriteOnly) &&
            file.write(bytes.data(), static_cast<qint64>(bytes.size())) > 0)
            paths << path;
    }
    return paths;
}

constexpr int kModelsByPages = 40; ///< five models, eight pages
constexpr int kLevels = 4;

int numberAfter(const QStringList& arguments, const char* option, int usual)
{
    const qsizetype at = arguments.indexOf(QLatin1String(option));
    return at < 0 ? usual : arguments.value(at + 1).toInt();
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(argc, argv);
    const QStringList arguments = QApplication::arguments();
    const QTemporaryDir folder;
    qputenv("XDG_CACHE_HOME", folder.filePath(QStringLiteral("cache")).toLocal8Bit());
    const QStringList models = writeModels(folder);
    app::EngineOptions engine;
    engine.repeats = 3;
    engine.configFolder = folder.filePath(QStringLiteral("config"));
    engine.cacheFolder = folder.filePath(QStringLiteral("cache/tenon"));
    app::WindowOptions options;
    options.isIsolated = true;
    app::MainWindow window(app::makeEngine(engine), app::Settings(), options);
    window.resize(1366, 768);
    window.show();
    settle(window);
    bool isStable =
        soak(window, "opened", numberAfter(arguments, "--models", 200), kModelsByPages, [&](int i) {
            window.openModel(models[i % models.size()]);
            settle(window);
            window.showPerspective(
                window.pages()[static_cast<size_t>(i) % window.pages().size()].name);
        });
    window.openModel(models[1]);
    settle(window);
    isStable &=
        soak(window, "compiled", numberAfter(arguments, "--compiles", 500), kLevels, [&](int i) {
            views::BuildOptions build = window.workspace().options();
            build.optLevel = i % kLevels;
            build.planner =
                i % 2 == 0 ? QStringLiteral("hill_climb") : QStringLiteral("linear_scan");
            window.workspace().setOptions(build);
            window.workspace().compile();
        });
    isStable &= soak(window, "deployed", numberAfter(arguments, "--deploys", 50), 1,
                     [&](int) { window.deploy().deploy(); });
    return isStable ? 0 : 1;
}
