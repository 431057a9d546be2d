// SPDX-License-Identifier: GPL-3.0-or-later
// The draft, its problems, and the job.
#include "views/presenters/quantize_presenter.h"

#include <QFileInfo>

#include <memory>

namespace tenon::views {
namespace {

/// QFileInfo takes any two files that do not exist for the same one.
bool isSameFile(const QFileInfo& one, const QFileInfo& other)
{
    return one.exists() ? one == other : one.absoluteFilePath() == other.absoluteFilePath();
}

} // namespace

QuantizePresenter::QuantizePresenter(WorkspacePresenter& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_tensors(makeQuantizeModel(this))
{
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &QuantizePresenter::refresh);
    refresh();
}

void QuantizePresenter::start()
{
    const QString model = m_workspace.state().path;
    if (m_state.draft.model != model) {
        const QFileInfo file(model);
        m_state.draft.model = model;
        m_state.draft.output =
            file.path() + QLatin1Char('/') + file.completeBaseName() + QStringLiteral("-int8.onnx");
    }
    refresh();
}

void QuantizePresenter::setData(QString path)
{
    m_state.draft.data = path.trimmed();
    refresh();
}

void QuantizePresenter::setEvaluation(QString path)
{
    m_state.draft.evaluation = path.trimmed();
    refresh();
}

void QuantizePresenter::setOutput(QString path)
{
    m_state.draft.output = path.trimmed();
    refresh();
}

void QuantizePresenter::setMethod(QString method)
{
    m_state.draft.method = method;
    refresh();
}

void QuantizePresenter::setActivations(QString type)
{
    m_state.draft.activations = type;
    refresh();
}

void QuantizePresenter::setPerChannel(bool isPerChannel)
{
    m_state.draft.isPerChannel = isPerChannel;
    refresh();
}

void QuantizePresenter::setEqualizes(bool equalizes)
{
    m_state.draft.equalizes = equalizes;
    refresh();
}

void QuantizePresenter::setLargestLoss(QString percent)
{
    constexpr double kPercent = 100;
    const QString word = percent.trimmed();
    m_isLossValid = true;
    const double value = word.isEmpty() ? 0 : word.toDouble(&m_isLossValid);
    m_isLossValid = m_isLossValid && value >= 0 && value <= kPercent;
    if (m_isLossValid) m_state.draft.largestLoss = value / kPercent;
    refresh();
}

void QuantizePresenter::quantize()
{
    if (!m_state.canStart) return;
    const QuantizeQuestion asked = m_state.draft;
    const auto work = m_workspace.engine().quantize;
    const auto outcome = std::make_shared<QuantizeOutcome>();
    m_tensors->setRows({});
    m_state.summary.clear();
    m_state.floats.clear();
    m_state.warnings.clear();
    m_state.written.clear();
    m_state.isRunning = true;
    m_workspace.jobs().start(
        QStringLiteral("model"), tr("Quantize"),
        [=](core::JobContext& job) -> core::Status {
            auto made = work(asked, job);
            if (!made) return made.error();
            *outcome = *std::move(made);
            return core::kDone;
        },
        [this, asked, outcome](const core::Status& status) { finish(asked, *outcome, status); });
    refresh();
}

void QuantizePresenter::finish(const QuantizeQuestion& asked, const QuantizeOutcome& outcome,
                               const core::Status& status)
{
    m_state.isRunning = false;
    if (status) {
        m_tensors->setRows(outcome.rows);
        m_state.summary = outcome.summary;
        m_state.floats = outcome.floats;
        m_state.warnings = outcome.warnings;
        m_state.written = asked.output;
    } else if (status.error().code != core::DiagnosticCode::Cancelled) {
        m_state.summary = QString::fromStdString(status.error().text());
        m_workspace.report(tr("The model could not be quantized"), status.error());
    }
    refresh();
}

void QuantizePresenter::openResult()
{
    if (!m_state.written.isEmpty()) m_workspace.open(m_state.written);
}

void QuantizePresenter::refresh()
{
    const QuantizeQuestion& draft = m_state.draft;
    m_state.problem = !m_isLossValid         ? tr("the largest loss is a number of percent")
                      : draft.data.isEmpty() ? tr("choose examples to calibrate with")
                      : !QFileInfo::exists(draft.data)
                          ? tr("there is no file or folder %1").arg(draft.data)
                      : !draft.evaluation.isEmpty() && !QFileInfo::exists(draft.evaluation)
                          ? tr("there is no file or folder %1").arg(draft.evaluation)
                      : draft.output.isEmpty() ? tr("name the file to write")
                      : isSameFile(QFileInfo(draft.output), QFileInfo(draft.model))
                          ? tr("the file to write is the model itself; name another")
                          : QString();
    m_state.commandLine = commandLineOf(draft);
    m_state.canStart = m_state.problem.isEmpty() && !m_state.isRunning &&
                       m_workspace.engine().quantize && m_workspace.state().hasDocument &&
                       !m_workspace.state().isBusy;
    emit stateChanged();
}

} // namespace tenon::views
