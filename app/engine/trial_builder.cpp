// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles what is not compiled yet, makes tensors of the file, runs, and ranks what came out.
#include "app/engine/trial_builder.h"

#include "app/engine/backing.h"
#include "app/engine/qt_text.h"
#include "app/runs/samples/ranking.h"
#include "app/runs/samples/sample_tensors.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tenon::app {

using core::Result;

namespace {

constexpr int64_t kTop = 5;

/// What the model sees of the picture: bytes before scale, mean and deviation.
views::Thumbnail seenOf(const std::vector<core::ManifestTensor>& inputs,
                        const views::TrialQuestion& question)
{
    const auto said = runs::parsePreprocessing(question.preprocessing.toStdString());
    const auto picture = runs::readPicture(question.file.toStdString());
    if (!said || !picture) return {};
    for (const core::ManifestTensor& input : inputs) {
        auto plan = runs::planPicture(input, *said);
        if (!plan) continue;
        plan->layout = runs::PictureLayout::ChannelsLast;
        plan->isBlueFirst = false;
        plan->scale = 1;
        std::fill(plan->mean.begin(), plan->mean.end(), 0);
        std::fill(plan->deviation.begin(), plan->deviation.end(), 1);
        const std::vector<double> values = runs::pictureValues(*picture, *plan);
        views::Thumbnail seen{static_cast<int>(plan->width.value_or(picture->width)),
                              static_cast<int>(plan->height.value_or(picture->height)),
                              {}};
        const size_t channels = static_cast<size_t>(plan->channels);
        for (size_t i = 0; i < values.size() / channels; ++i)
            for (size_t c = 0; c < 3; ++c)
                seen.rgb.append(static_cast<char>(static_cast<uint8_t>(
                    std::clamp(std::lround(values[i * channels + c % channels]), 0L, 255L))));
        return seen;
    }
    return {};
}

views::TrialRow rowOf(const runs::RankedClass& ranked)
{
    const QString number = QString::number(static_cast<qint64>(ranked.index));
    return {.title = ranked.label.empty()
                         ? QCoreApplication::translate("Trial", "class %1").arg(number)
                         : text(ranked.label),
            .detail = number,
            .value = QString::number(ranked.value, 'g', 6),
            .share = ranked.probability};
}

views::TrialRow rowOf(const core::ManifestTensor& spec, const core::Tensor& output)
{
    const std::vector<double> values = output.numbers();
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    views::TrialRow row{.title = text(spec.name), .detail = text(output.typeText())};
    row.isClass = false;
    if (!values.empty())
        row.value = QCoreApplication::translate("Trial", "%1 to %2")
                        .arg(*least, 0, 'g', 6)
                        .arg(*most, 0, 'g', 6);
    return row;
}

void takeOutputs(const std::vector<core::ManifestTensor>& specs,
                 const std::vector<core::Tensor>& outputs, const std::vector<std::string>& labels,
                 views::TrialOutcome& out)
{
    for (size_t i = 0; i < outputs.size() && i < specs.size(); ++i) {
        const auto rankings = runs::rankingsOf(outputs[i], labels, kTop);
        if (rankings.empty()) out.rows.push_back(rowOf(specs[i], outputs[i]));
        for (const runs::Ranking& ranking : rankings) {
            for (const runs::RankedClass& ranked : ranking.classes)
                out.rows.push_back(rowOf(ranked));
            if (ranking.isSoftmax)
                out.note = QCoreApplication::translate(
                    "Trial", "probabilities are the softmax of the model's scores");
        }
    }
}

} // namespace

Result<views::TrialOutcome> tryDocument(const EngineOptions& engine,
                                        const views::DocumentPtr& document,
                                        const views::BuildOptions& build,
                                        const views::TrialQuestion& question,
                                        const runs::RunPlace& place, core::JobContext& job)
{
    std::vector<std::string> labels;
    if (!question.labels.isEmpty()) {
        auto read = runs::readLabels(question.labels.toStdString());
        if (!read) return read.error();
        labels = *std::move(read);
    }
    const auto compiled = compiledFor(engine, document, build, job);
    if (!compiled) return compiled.error();
    const compiler::CompileResultPtr program = backingOf(*compiled)->result;
    runs::ProgramRuns run(place);
    const auto manifest = run.manifestOf(program);
    if (!manifest) return manifest.error();
    runs::SampleFiles files{{}, {}, question.preprocessing.toStdString()};
    (views::isSoundFile(question.file) ? files.sounds : files.pictures)
        .push_back(question.file.toStdString());
    auto samples = runs::sampleTensors(manifest->inputs, files);
    if (!samples) return samples.error();
    const auto outputs = run.run(program, samples->tensors, job);
    if (!outputs) return outputs.error();
    views::TrialOutcome out;
    out.preprocessing = text(samples->shown.front());
    out.made = text(samples->made.front());
    out.place = text(run.place());
    if (!files.pictures.empty()) out.seen = seenOf(manifest->inputs, question);
    takeOutputs(manifest->outputs, *outputs, labels, out);
    return out;
}

core::Status checkPreprocessing(const QString& line)
{
    const auto read = runs::parsePreprocessing(line.toStdString());
    return read ? core::Status(core::kDone) : core::Status(read.error());
}

QString preprocessingKeys() { return text(runs::preprocessingKeys()); }

} // namespace tenon::app
