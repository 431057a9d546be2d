// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles what is not compiled yet, links, hands over to the deployer, and brings the result back
// as a document.
#include "app/engine/deploy_model.h"

#include "app/engine/backing.h"
#include "app/engine/board_builder.h"
#include "app/engine/document_builder.h"
#include "app/engine/measure_here.h"
#include "compiler/driver/board_image.h"
#include "compiler/driver/target_features.h"
#include "remote/board/board_store.h"
#include "remote/deploy/deploy_record.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/peer/output_difference.h"
#include "remote/peer/peer.h"

#include <QTemporaryDir>

namespace tenon::app {

using core::JobContext;
using core::Result;
using views::BuildOptions;
using views::DocumentPtr;

namespace {

Result<remote::BuiltModel> built(const DocumentPtr& document, const std::string& boardProject)
{
    const auto folder = std::make_shared<QTemporaryDir>();
    if (!folder->isValid())
        return core::makeError(
            core::DiagnosticCode::IoFailure,
            "no temporary folder could be made; check the free space of the temporary file system");
    const auto backing = backingOf(document);
    remote::BuiltModel model;
    const std::string_view suffix =
        compiler::suffixOf(backing->result->machine.backEnd->runnable());
    model.path = folder->filePath(QStringLiteral("model")).toStdString() + std::string(suffix);
    auto artifact = compiler::writeForBoard(*backing->result, model.path, boardProject);
    if (!artifact) return artifact.error();
    model.manifest = std::move(artifact->manifest);
    if (auto features = compiler::targetFeatures(backing->result->machine))
        model.features = std::move(*features);
    model.lifetime = folder;
    return model;
}

/// Where TENON_ONNXRUNTIME names its library, ONNX Runtime is measured in turns with the model;
/// returns why not, which is no failure of the deployment.
std::string addPeer(const DeployWork& work, unsigned threads, const remote::NamedTensors& inputs,
                    remote::TimingRequest& timing, const JobContext& job)
{
    const std::string model = work.question.document->path.toStdString();
    const std::string library = remote::libraryOfPeer();
    if (library.empty() || work.board.kind != remote::BoardKind::ThisComputer ||
        !model.ends_with(".onnx"))
        return {};
    auto peer = remote::Peer::start(
        {.library = library, .model = model, .inputs = inputs, .threads = threads}, job);
    if (!peer) return peer.error().message;
    timing.peer = std::move(*peer);
    return {};
}

/// "this computer", "pi (Raspberry Pi 4 Model B)".
QString placeOf(const remote::DeployReport& report)
{
    if (report.board.kind == remote::BoardKind::ThisComputer)
        return QStringLiteral("this computer");
    const QString name = QString::fromStdString(report.board.name);
    if (report.facts.model.empty()) return name;
    return name + QStringLiteral(" (%1)").arg(QString::fromStdString(report.facts.model));
}

/// Measured on the board, for the window and for later comparison.
void addMeasurement(const DeployWork& work, const remote::DeployReport& report,
                    views::DeployOutcome& outcome)
{
    if (!report.timing || report.error || !outcome.document) return;
    auto timed = std::make_shared<views::Document>(*outcome.document);
    ++timed->revision;
    remote::Timing timing = *report.timing;
    if (report.board.kind == remote::BoardKind::ThisComputer)
        timing.peak = work.peaks.of(timing.threads);
    timed->measurement = measurementOf(timing, *timed, placeOf(report), report.board.isEmulated());
    timed->measurement->sha256 = outcome.report.sha256;
    outcome.document = timed;
    const remote::BoardStore store(work.engine.configFolder.toStdString());
    const std::optional<core::Diagnostic> warning = remote::keepInHistory(
        store.historyPath(), report, work.question.options.optLevel, TENON_VERSION);
    if (warning)
        outcome.report.log << QStringLiteral("keeping the measurement: ") +
                                  QString::fromStdString(warning->message);
}

} // namespace

remote::TimingRequest timingFor(const DeployWork& work, bool isEmulated)
{
    const remote::SamplingLimits usual = remote::kUsualSampling;
    remote::TimingRequest timing{.perCall = true};
    timing.minRepeatMs = isEmulated ? 0 : 20;
    timing.repeat = work.engine.repeats > 0 ? work.engine.repeats : usual.samples;
    if (work.engine.repeats > 0) return timing;
    timing.budgetS = work.question.budgetS;
    timing.precision = usual.precision;
    return timing;
}

views::DeployOutcome deployModel(const DeployWork& work, remote::Deployer& deployer,
                                 JobContext& job)
{
    if (work.board.kind == remote::BoardKind::ThisComputer &&
        isForeign(work.question.options.target.toStdString()))
        return measureHere(work, job);
    views::DeployOutcome outcome;
    remote::DeployRequest request;
    request.build = [&](const std::string& target,
                        JobContext& buildJob) -> Result<remote::BuiltModel> {
        BuildOptions build = work.question.options;
        build.target = QString::fromStdString(target);
        auto compiled = compiledFor(work.engine, work.question.document, build, buildJob);
        if (!compiled) return compiled.error();
        outcome.document = *compiled; // shown even when nothing else works
        return built(*compiled, work.board.project);
    };
    std::string noPeer;
    request.inputs = [&](const core::Manifest& manifest) {
        auto inputs = remote::madeUpInputs(manifest);
        if (inputs) noPeer = addPeer(work, manifest.threads, *inputs, *request.timing, job);
        request.timing->peerShare = remote::outputShareOf(manifest);
        return inputs;
    };
    request.target = work.question.options.target.toStdString();
    request.timing = timingFor(work, work.board.isEmulated());
    request.threads = static_cast<unsigned>(work.question.options.threads);
    request.staysConnected = work.board.kind != remote::BoardKind::ThisComputer;
    const remote::DeployReportPtr report = deployer.deploy(
        request, job, [&](const remote::DeployReportPtr& now) { work.watch(deploymentOf(*now)); });
    outcome.report = deploymentOf(*report);
    outcome.error = report->error;
    if (!noPeer.empty())
        outcome.report.log << QStringLiteral("no comparison: ") + QString::fromStdString(noPeer);
    addMeasurement(work, *report, outcome);
    return outcome;
}

} // namespace tenon::app
