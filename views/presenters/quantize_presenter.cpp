// SPDX-License-Identifier: GPL-3.0-or-later
// The draft, its problems, the job, and choosing on what was measured.
#include "views/presenters/quantize_presenter.h"

#include "views/models/format.h"
#include "views/presenters/board_prompt.h"
#include "views/presenters/quantize_problems.h"

#include <QFileInfo>
#include <QPointer>

#include <algorithm>
#include <memory>

namespace tenon::views {
namespace {

using core::Precision;

/// Without what may change while what was measured of the layers holds.
QuantizeQuestion basicsOf(QuantizeQuestion question)
{
    question.output.clear();
    question.largestLoss = 0;
    question.largestFlash = 0;
    question.largestTime = 0;
    question.floatLayers.clear();
    question.wideLayers.clear();
    question.measuresSensitivity = false;
    question.hasIntegerEnds = false;
    return question;
}

/// A number that is not negative; nothing for other words.
std::optional<double> limitOf(const QString& text)
{
    const QString word = text.trimmed();
    if (word.isEmpty()) return 0;
    bool isNumber = false;
    const double value = word.toDouble(&isNumber);
    return isNumber && value >= 0 ? std::optional(value) : std::nullopt;
}

} // namespace

QuantizePresenter::QuantizePresenter(WorkspacePresenter& workspace, BoardsPresenter& boards,
                                     BoardPrompt& prompt, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_boards(boards)
    , m_prompt(prompt)
    , m_tensors(makeQuantizeModel(this))
    , m_layers(makeLayerModel(this))
    , m_placed(makePlacedModel(this))
{
    m_state.draft.measuresSensitivity = true;
    connect(&workspace, &WorkspacePresenter::stateChanged, this, &QuantizePresenter::refresh);
    connect(&boards, &BoardsPresenter::stateChanged, this, &QuantizePresenter::refresh);
    refresh();
}

void QuantizePresenter::setDocument()
{
    const QString model = m_workspace.state().path;
    if (m_state.draft.model == model) return refresh();
    const QFileInfo file(model);
    m_state.draft.model = model;
    m_state.draft.output =
        file.path() + QLatin1Char('/') + file.completeBaseName() + QStringLiteral("-int8.onnx");
    m_tensors->setRows({});
    m_mix = {};
    m_outcome = {};
    m_state.hasResult = false;
    m_state.summary.clear();
    m_state.error.clear();
    m_state.floats.clear();
    m_state.warnings.clear();
    m_state.written.clear();
    m_state.tensor = {};
    refreshMix();
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

void QuantizePresenter::setWider(QString precision)
{
    m_state.draft.wider = precision;
    refresh();
}

void QuantizePresenter::setLargestLoss(QString percent)
{
    constexpr double kPercent = 100;
    const auto value = limitOf(percent);
    m_isLossValid = value && *value <= kPercent;
    if (m_isLossValid) m_state.draft.largestLoss = *value / kPercent;
    takeLimit();
}

void QuantizePresenter::setLargestFlash(QString kib)
{
    constexpr double kKib = 1024;
    const auto value = limitOf(kib);
    m_isFlashValid = value.has_value();
    if (value) m_state.draft.largestFlash = qRound64(*value * kKib);
    takeLimit();
}

void QuantizePresenter::setLargestTime(QString time)
{
    const auto value = limitOf(time);
    m_isTimeValid = value.has_value();
    if (value) m_state.draft.largestTime = *value;
    takeLimit();
}

/// A limit that was given last stands instead of a choice that was written.
void QuantizePresenter::takeLimit()
{
    m_mix.leaveToLimits();
    refreshMix();
    refresh();
}

void QuantizePresenter::setMeasuresSensitivity(bool measures)
{
    m_state.draft.measuresSensitivity = measures;
    refresh();
}

void QuantizePresenter::setIntegerEnds(bool isInteger)
{
    m_state.draft.hasIntegerEnds = isInteger;
    refresh();
}

void QuantizePresenter::setAxis(MixAxis axis)
{
    m_state.curve.axis = axis;
    refreshMix();
    refresh();
}

/// Layers that were chosen by hand stand instead of limits, and what is known of them stays.
QuantizeQuestion QuantizePresenter::question() const
{
    QuantizeQuestion out = m_state.draft;
    out.shapes = m_workspace.options().shapes;
    out.target = m_workspace.options().target;
    out.threads = m_workspace.options().threads;
    if (!m_boards.board().isHere()) out.board = m_boards.board().name;
    if (m_mix.isEmpty() || !m_mix.isByHand() || !(basicsOf(out) == basicsOf(m_answered)))
        return out;
    out.largestLoss = 0;
    out.largestFlash = 0;
    out.largestTime = 0;
    out.measuresSensitivity = false;
    out.floatLayers = m_mix.layersIn(Precision::Float);
    out.wideLayers = m_mix.layersIn(Precision::Int16);
    return out;
}

void QuantizePresenter::quantize()
{
    if (!m_state.canStart) return;
    const QuantizeQuestion asked = question();
    const auto outcome = std::make_shared<QuantizeOutcome>();
    m_workspace.forgetFailure();
    m_state.error.clear();
    m_state.isRunning = true;
    const auto finished = [self = QPointer<QuantizePresenter>(this), asked,
                           outcome](const core::Status& status) {
        if (self) self->finish(asked, *outcome, status);
    };
    m_workspace.jobs().start(
        QStringLiteral("model"), tr("Quantize"),
        [asked, outcome, work = m_workspace.engine().quantize,
         ask = m_prompt.asker()](core::JobContext& job) -> core::Status {
            auto made = work(asked, ask, job);
            if (!made) return made.error();
            *outcome = *std::move(made);
            return core::kDone;
        },
        finished);
    refresh();
}

void QuantizePresenter::cancel()
{
    if (m_state.isRunning) m_workspace.cancel();
}

void QuantizePresenter::finish(const QuantizeQuestion& asked, const QuantizeOutcome& outcome,
                               const core::Status& status)
{
    m_state.isRunning = false;
    if (status) {
        if (asked.model == m_workspace.state().path) takeOutcome(asked, outcome);
    } else if (status.error().code != core::DiagnosticCode::Cancelled) {
        m_workspace.report(tr("The model could not be quantized"), status.error());
        m_state.error = m_workspace.state().bannerText;
        m_boards.noteFailure(asked.board, status.error());
    }
    refresh();
}

/// Layers that were measured before keep what was measured, where nobody measured them again.
void QuantizePresenter::takeOutcome(const QuantizeQuestion& asked, const QuantizeOutcome& outcome)
{
    m_outcome = outcome;
    m_state.hasResult = true;
    m_state.summary = outcome.summary;
    m_state.floats = outcome.floats;
    m_state.warnings = outcome.warnings;
    m_state.written = asked.output;
    if (outcome.costs) {
        m_mix = PrecisionMix(*outcome.costs, outcome.curve, outcome.choice);
        m_answered = asked;
    } else if (basicsOf(asked) == basicsOf(m_answered) && !m_mix.isEmpty()) {
        m_mix.noteWritten({outcome.loss, outcome.after ? outcome.after->fileBytes : 0,
                           outcome.after ? outcome.after->cost : core::ModelCost()});
    } else {
        m_mix = {};
    }
    QuantizeOutcome shown = outcome;
    if (const DocumentPtr& document = m_workspace.document())
        for (QuantizeRow& row : shown.rows) row.nodeId = nodeNamed(*document, row.node);
    m_tensors->setRows(std::move(shown.rows));
    m_state.tensor = m_tensors->rows().empty() ? QuantizeRow() : m_tensors->rows().front();
    refreshMix();
    paintNodes();
}

/// The losses on the graph of the opened model.
void QuantizePresenter::paintNodes()
{
    if (!m_workspace.document()) return;
    auto made = std::make_shared<Document>(*m_workspace.document());
    made->quantization = std::make_shared<const QuantizationLosses>(
        lossesOf(*made, m_tensors->rows(), m_layers->rows()));
    ++made->revision;
    m_workspace.takeResult(made);
}

void QuantizePresenter::openResult()
{
    if (!m_state.written.isEmpty()) m_workspace.open(m_state.written);
}

void QuantizePresenter::pinLayer(int row, int precision)
{
    if (row < 0 || row >= static_cast<int>(m_layers->rows().size())) return;
    const size_t layer = m_layers->rows()[static_cast<size_t>(row)].layer;
    m_mix.pin(layer,
              precision < 0 ? std::nullopt : std::optional(static_cast<Precision>(precision)));
    refreshMix();
    refresh();
}

void QuantizePresenter::cycleLayer(int row)
{
    if (row < 0 || row >= static_cast<int>(m_layers->rows().size())) return;
    const LayerRow& layer = m_layers->rows()[static_cast<size_t>(row)];
    const bool has16Bits = layer.wideLoss > 0;
    const Precision next = layer.precision == Precision::Float                 ? Precision::Int8
                           : layer.precision == Precision::Int16 || !has16Bits ? Precision::Float
                                                                               : Precision::Int16;
    pinLayer(row, static_cast<int>(next));
}

void QuantizePresenter::chooseWider(int count)
{
    m_mix.setWider(static_cast<size_t>(std::max(count, 0)));
    refreshMix();
    refresh();
}

void QuantizePresenter::selectLayer(int row)
{
    if (row < 0 || row >= static_cast<int>(m_layers->rows().size())) return;
    const size_t layer = m_layers->rows()[static_cast<size_t>(row)].layer;
    const QString output = QString::fromStdString(m_mix.costs().layers[layer].output);
    for (const QuantizeRow& tensor : m_tensors->rows())
        if (tensor.tensor == output) m_state.tensor = tensor;
    emit stateChanged();
}

void QuantizePresenter::selectTensor(int row)
{
    if (row < 0 || row >= static_cast<int>(m_tensors->rows().size())) return;
    m_state.tensor = m_tensors->rows()[static_cast<size_t>(row)];
    emit stateChanged();
}

void QuantizePresenter::refreshMix()
{
    const MixAxis axis = m_state.curve.axis;
    std::vector<LayerRow> rows = m_mix.rows();
    const DocumentPtr& document = m_workspace.document();
    for (LayerRow& row : rows) {
        const QString output = QString::fromStdString(m_mix.costs().layers[row.layer].output);
        for (const QuantizeRow& tensor : m_tensors->rows())
            if (tensor.tensor == output) row.measuredDb = tensor.measuredDb;
        if (document) row.node = nodeNamed(*document, row.name);
    }
    m_layers->setRows(std::move(rows));
    m_state.curve = m_mix.isEmpty() ? MixCurve{.axis = axis} : m_mix.curve(axis);
    m_state.isByHand = !m_mix.isEmpty() && m_mix.isByHand();
    m_state.caption = m_mix.isEmpty() ? QString() : choiceText(m_mix, m_outcome.loss);
    m_placed->setRows(placedRows(m_outcome, m_mix));
}

QString QuantizePresenter::problem() const
{
    const QuantizeQuestion& draft = m_state.draft;
    const WorkspaceState& state = m_workspace.state();
    if (!state.hasDocument) return tr("open a model of floats first");
    if (isQuantized(*m_workspace.document()))
        return tr("the model is quantized already; open the float model that it was made from");
    if (!m_isLossValid) return tr("the largest loss is a percentage, from 0 to 100");
    if (!m_isFlashValid) return tr("the flash to keep within is a number of KiB, 0 or more");
    if (!m_isTimeValid)
        return tr("the time to keep within is a number of microseconds, or of instructions on an "
                  "emulated microcontroller, 0 or more");
    if (const QString files = dataProblem(draft); !files.isEmpty()) return files;
    if (const auto layers = static_cast<qsizetype>(m_mix.costs().layers.size());
        layers > 0 && question().floatLayers.size() == layers)
        return tr("every layer stays in float: choose one for 8 bits");
    return outputProblem(draft);
}

void QuantizePresenter::refresh()
{
    m_state.problem = problem();
    m_state.countsInstructions = m_boards.board().countsInstructions;
    m_state.place =
        m_boards.board().titleInText() + QStringLiteral(" · ") + m_workspace.options().target;
    const bool hasLimits = m_isLossValid && m_isFlashValid && m_isTimeValid;
    m_state.commandLine = hasLimits ? commandLineOf(question()) : QString();
    const QString& output = m_state.draft.output;
    m_state.replaces =
        m_state.problem.isEmpty() && output != m_state.written && QFileInfo::exists(output);
    m_state.canStart = m_state.problem.isEmpty() && !m_state.isRunning &&
                       m_workspace.engine().quantize && !m_workspace.state().isBusy &&
                       !m_boards.isWorking();
    emit stateChanged();
}

} // namespace tenon::views
