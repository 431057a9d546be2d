// SPDX-License-Identifier: GPL-3.0-or-later
// What `tenon project` does, for the window.
#include "app/engine/project_builder.h"

#include "app/engine/backing.h"
#include "app/engine/qt_text.h"
#include "app/runs/project_run.h"
#include "compiler/codegen/back_end.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"

#include <algorithm>

namespace tenon::app {

using core::JobContext;
using core::Result;
using core::Status;
using views::DocumentPtr;

namespace {

std::vector<views::ProjectKind> projectKinds()
{
    std::vector<views::ProjectKind> out;
    for (const compiler::ProjectTemplate* each : compiler::allProjectTemplates())
        out.push_back({text(each->name), text(each->title), text(each->target)});
    return out;
}

bool isOfC(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    const compiler::BackEnd* backEnd = parsed ? compiler::findBackEnd(*parsed) : nullptr;
    return backEnd && backEnd->sources;
}

Status createProject(const EngineOptions& engine, const DocumentPtr& document,
                     const views::ProjectQuestion& question, JobContext& job)
{
    const auto project = compiler::projectTemplate(question.kind.toStdString());
    if (!project) return project.error();
    views::BuildOptions build = question.options;
    if (build.executor == QLatin1String("vm")) build.executor = QStringLiteral("aot");
    const auto compiled = compiledFor(engine, document, build, job);
    if (!compiled) return compiled.error();
    return compiler::writeProject(*backingOf(*compiled)->result, **project,
                                  question.folder.toStdString());
}

/// "output probabilities float32(1, 10): 0.01, 0.92, ..." of each output.
QString outputsText(const core::Manifest& manifest, const std::vector<core::Tensor>& outputs)
{
    constexpr int64_t kShown = 10;
    QString out;
    for (size_t i = 0; i < outputs.size(); ++i) {
        QStringList values;
        for (int64_t at = 0; at < std::min(kShown, core::elementCount(outputs[i].shape())); ++at)
            values << QString::number(outputs[i].number(at), 'g', 5);
        if (core::elementCount(outputs[i].shape()) > kShown) values << QStringLiteral("…");
        out += QStringLiteral("%1 %2: %3\n")
                   .arg(text(manifest.outputs[i].name), text(outputs[i].typeText()),
                        values.join(QStringLiteral(", ")));
    }
    return out;
}

Result<QString> makeProject(const QString& folder, const QString& step)
{
    const auto project = runs::openProject(folder.toStdString());
    if (!project) return project.error();
    if (step != QLatin1String("run") || !project->project->feedsFiles) {
        const auto said = runs::makeProject(*project, step.toStdString());
        if (!said) return said.error();
        return text(*said);
    }
    const auto inputs = remote::madeUpInputs(project->facts.manifest);
    if (!inputs) return inputs.error();
    const auto outputs = runs::runProject(*project, *inputs);
    if (!outputs) return outputs.error();
    return QStringLiteral("one inference of made-up inputs\n") +
           outputsText(project->facts.manifest, *outputs);
}

} // namespace

views::ProjectEngine projectEngine(const EngineOptions& options)
{
    views::ProjectEngine engine;
    engine.kinds = projectKinds;
    engine.isOfC = isOfC;
    engine.create = [options](const DocumentPtr& document, const views::ProjectQuestion& question,
                              JobContext& job) {
        return createProject(options, document, question, job);
    };
    engine.make = [](const QString& folder, const QString& step, JobContext&) {
        return makeProject(folder, step);
    };
    return engine;
}

} // namespace tenon::app
