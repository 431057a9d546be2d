// SPDX-License-Identifier: GPL-3.0-or-later
// Random events into the window with the real compiler and made-up boards: nothing may crash, and
// in the end nothing may hang. usage: monkey [--events N] [--seed S] [--trace]
#include "app/engine/engine.h"
#include "app/engine/footprint_builder.h"
#include "tests/app/workbench/fake_boards.h"
#include "tests/app/workbench/monkey.h"
#include "tests/zoo/zoo.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QFile>

#include <cstdio>

using namespace tenon;

namespace {

constexpr int kPatienceMs = 300000;

QString written(const QTemporaryDir& folder, const char* name, const std::string& bytes)
{
    const QString path = folder.filePath(QLatin1String(name));
    QFile file(path);
    const bool isDone = file.open(QIODevice::WriteOnly) &&
                        file.write(bytes.data(), static_cast<qint64>(bytes.size())) >= 0;
    if (!isDone) std::printf("%s could not be written\n", qPrintable(path));
    return path;
}

/// Small ones of every kind: with scopes, with open sizes, with errors, and no model at all.
QStringList models(const QTemporaryDir& folder)
{
    const QString sample = QStringLiteral(TENON_SAMPLE_MODEL);
    return {sample,
            sample,
            written(folder, "dscnn.onnx", test::makeDscnn({.channelDivisor = 8})),
            written(folder, "open.onnx", test::makeDscnn({.batch = -1, .channelDivisor = 8})),
            written(folder, "chain.onnx", test::makeSynthetic({.channelDivisor = 8, .nodes = 60})),
            written(folder, "broken.onnx", test::makeDscnn({.channelDivisor = 8}).substr(0, 2000)),
            folder.filePath(QStringLiteral("missing.onnx"))};
}

views::Engine makeEngine(const QTemporaryDir& folder)
{
    app::EngineOptions options;
    options.cacheFolder = folder.filePath(QStringLiteral("cache"));
    options.configFolder = folder.filePath(QStringLiteral("config"));
    views::Engine engine = app::makeEngine(options);
    engine.measureFootprint = engine.estimateFootprint; // no cross compilers
    tests::useFakeBoards(engine);
    return engine;
}

uint64_t seedOf(const QCommandLineParser& parser)
{
    const QString text = parser.value(QStringLiteral("seed"));
    return text.isEmpty() ? std::random_device()() : text.toULongLong();
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication::setStyle(QStringLiteral("fusion"));
    QApplication application(argc, argv);
    QApplication::setQuitOnLastWindowClosed(false);
    QCommandLineParser parser;
    parser.addOptions({{QStringLiteral("events"), {}, QStringLiteral("N"), QStringLiteral("2000")},
                       {QStringLiteral("seed"), {}, QStringLiteral("S")},
                       {QStringLiteral("trace"), QStringLiteral("print every event")}});
    parser.process(application);
    const int events = parser.value(QStringLiteral("events")).toInt();
    const uint64_t seed = seedOf(parser);
    std::printf("%d events; again: %s --events %d --seed %llu --trace\n", events, argv[0], events,
                static_cast<unsigned long long>(seed));
    std::fflush(stdout); // said before a crash
    const QTemporaryDir folder;
    tests::Monkey monkey(seed, models(folder), [&folder] { return makeEngine(folder); });
    const bool isTraced = parser.isSet(QStringLiteral("trace"));
    for (int i = 0; i < events; ++i) {
        const std::string what = monkey.act();
        if (!isTraced) continue;
        std::printf("%d %s\n", i, what.c_str());
        std::fflush(stdout);
    }
    if (monkey.settle(kPatienceMs)) return 0;
    std::printf("the window did not come to rest\n");
    return 1;
}
