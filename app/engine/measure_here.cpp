// SPDX-License-Identifier: GPL-3.0-or-later
// The three steps of measuring foreign code without a board.
#include "app/engine/measure_here.h"

#include "app/engine/backing.h"
#include "app/engine/document_builder.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/session/emulation.h"
#include "remote/session/file_digest.h"
#include "views/models/deployment_rows.h"
#include "views/models/machine_text.h"

#include <QElapsedTimer>
#include <QTemporaryDir>

#include <functional>

namespace tenon::app {

using core::Status;
using views::StepState;

namespace {

class Steps
{
public:
    Steps(const DeployWork& work, views::DeployOutcome& outcome)
        : m_report(outcome.report)
        , m_outcome(outcome)
        , m_watch(work.watch)
    {
        m_report.board = work.question.board;
        m_report.target = work.question.options.target;
        for (const char* name : {"compile", "link", "benchmark"})
            m_report.steps.push_back({QLatin1String(name)});
        m_total.start();
    }
    /// Runs the step unless an earlier one failed.
    void run(size_t index, const std::function<Status(QString& detail)>& body)
    {
        views::StepRow& step = m_report.steps[index];
        if (m_outcome.error) {
            step.state = StepState::Skipped;
            return;
        }
        step.state = StepState::Running;
        m_watch(m_report);
        QElapsedTimer clock;
        clock.start();
        const Status done = body(step.detail);
        step.ms = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        step.state = done ? StepState::Done : StepState::Failed;
        if (!done) fail(done.error(), step);
        m_report.log << step.name + QStringLiteral(": ") + step.detail;
        views::shareOut(m_report.steps);
        m_report.totalMs = static_cast<double>(m_total.nsecsElapsed()) / 1e6;
        m_watch(m_report);
    }

private:
    void fail(const core::Diagnostic& error, views::StepRow& step)
    {
        m_outcome.error = error;
        m_report.error = step.detail = QString::fromStdString(error.message);
        m_report.isCancelled = error.code == core::DiagnosticCode::Cancelled;
    }

    views::Deployment& m_report;
    views::DeployOutcome& m_outcome;
    const views::DeployWatcher& m_watch;
    QElapsedTimer m_total;
};

Status link(const views::Document& document, remote::RunRequest& request, const QString& folder,
            QString& sha256)
{
    const auto backing = std::static_pointer_cast<const Backing>(document.backing);
    const compiler::CompileResult& result = *backing->result;
    request.threads = result.threads.count;
    request.mayExceedProcessors = result.threads.isAsked();
    request.artifactPath = folder.toStdString() + "/model" +
                           std::string(compiler::suffixOf(result.machine.backEnd->runnable()));
    if (Status found = remote::runHere(request, result.target); !found) return found;
    const auto artifact = compiler::writeArtifact(result, request.artifactPath);
    if (!artifact) return artifact.error();
    auto inputs = remote::madeUpInputs(artifact->manifest);
    if (!inputs) return inputs.error();
    request.inputs = std::move(*inputs);
    const auto digest = remote::fileSha256(request.artifactPath);
    if (!digest) return digest.error();
    sha256 = QString::fromStdString(*digest);
    return core::kDone;
}

Status measure(const DeployWork& work, const remote::RunRequest& request,
               views::DeployOutcome& outcome, QString& detail, core::JobContext& job)
{
    const auto backing = backingOf(outcome.document);
    const bool isEmulated = request.isEmulated;
    remote::TimingRequest timing = timingFor(work, isEmulated);
    timing.watch = [&](const remote::SamplingState& state) {
        detail = QString::fromStdString(remote::samplingText(state));
        work.watch(outcome.report);
    };
    const auto measured = remote::measureArtifact(request, timing, job);
    if (!measured) return measured.error();
    auto timed = std::make_shared<views::Document>(*outcome.document);
    ++timed->revision;
    const QString place =
        isEmulated ? QStringLiteral("%1 on this computer").arg(views::machineText(timed->target))
                   : QStringLiteral("this computer");
    timed->measurement = measurementOf(*measured, *timed, place, isEmulated);
    timed->measurement->sha256 = outcome.report.sha256;
    outcome.document = timed;
    outcome.report.isEmulated = isEmulated;
    detail = QString::fromStdString(remote::samplingText({.summaryMs = measured->summaryMs})) +
             QStringLiteral("; ") + QString::fromStdString(measured->ending);
    return core::kDone;
}

} // namespace

std::optional<views::GuestMachine> guestOf(const QString& target)
{
    const auto parsed = core::parseTarget(target.toStdString());
    remote::RunRequest request;
    if (!parsed || !isForeign(target.toStdString()) || !remote::runHere(request, *parsed))
        return std::nullopt;
    return views::GuestMachine{.isEmulated = request.isEmulated,
                               .countsInstructions = request.instructionNs > 0};
}

bool isForeign(const std::string& target)
{
    const auto parsed = core::parseTarget(target);
    if (!parsed) return false;
    const auto emulator = remote::emulatorFor(*parsed);
    return !emulator || !emulator->empty();
}

views::DeployOutcome measureHere(const DeployWork& work, core::JobContext& job)
{
    views::DeployOutcome outcome;
    const QTemporaryDir folder;
    remote::RunRequest request;
    Steps steps(work, outcome);
    steps.run(0, [&](QString& detail) -> Status {
        auto compiled =
            compiledFor(work.engine, work.question.document, work.question.options, job);
        if (!compiled) return compiled.error();
        outcome.document = *compiled;
        detail =
            QStringLiteral("for %1; %2")
                .arg(work.question.options.target,
                     QString::fromStdString(backingOf(outcome.document)->result->threads.text()));
        return core::kDone;
    });
    steps.run(1, [&](QString& detail) {
        const QString machine = views::machineText(outcome.document->target);
        const auto guest = guestOf(outcome.document->target);
        detail = guest && guest->isEmulated
                     ? QStringLiteral("for %1, which is emulated on this computer").arg(machine)
                     : QStringLiteral("for %1, to run on this computer").arg(machine);
        return link(*outcome.document, request, folder.path(), outcome.report.sha256);
    });
    steps.run(2, [&](QString& detail) { return measure(work, request, outcome, detail, job); });
    outcome.report.isFinished = true;
    return outcome;
}

} // namespace tenon::app
