// SPDX-License-Identifier: GPL-3.0-or-later
// One model of each architecture, narrow and small, and the command line's answers.
#include "tests/app/workbench/twin_models.h"

#include <QDir>
#include <QFile>
#include <QProcess>

#include <cstdio>

namespace tenon::test {

const std::vector<TwinModel>& twinModels()
{
    static const std::vector<TwinModel> kModels{
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

QString writeModel(const TwinModel& model, const QString& folder)
{
    const QString path = QDir(folder).filePath(QLatin1String(model.name) +
                                               QStringLiteral("%1.onnx").arg(model.options.seed));
    const std::string bytes = makeZooModel(model.name, model.options);
    QFile out(path);
    if (!out.open(QIODevice::WriteOnly)) return {};
    out.write(bytes.data(), static_cast<qint64>(bytes.size()));
    return path;
}

nlohmann::json said(QStringList arguments)
{
    constexpr int kPatienceMs = 300000;
    arguments << QStringLiteral("--json");
    QProcess program;
    program.start(QStringLiteral(TENON_PROGRAM), arguments);
    const bool isDone = program.waitForFinished(kPatienceMs);
    nlohmann::json answer =
        nlohmann::json::parse(program.readAllStandardOutput().toStdString(), nullptr, false);
    if (!isDone || !answer.is_object())
        std::fprintf(stderr, "%s: %s\n", qPrintable(arguments.join(QLatin1Char(' '))),
                     program.readAllStandardError().constData());
    return answer;
}

} // namespace tenon::test
