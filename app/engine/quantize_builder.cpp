// SPDX-License-Identifier: GPL-3.0-or-later
// Rows out of what `tenon quantize` prints, too.
#include "app/engine/quantize_builder.h"

#include "app/engine/backing.h"
#include "app/runs/model_cost.h"
#include "compiler/frontend/shape_option.h"
#include "compiler/quantize/calibration_files.h"
#include "compiler/quantize/other_file.h"
#include "compiler/quantize/quantize.h"
#include "core/base/file.h"
#include "remote/session/compiled_runner.h"
#include "views/models/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace tenon::app {

namespace {

constexpr size_t kMostExamples = 100;

views::QuantizeRow rowOf(const compiler::TensorAccount& tensor)
{
    return {.tensor = QString::fromStdString(tensor.name),
            .madeBy = QString::fromStdString(tensor.op),
            .type = QString::fromStdString(tensor.range.dtype.text()),
            .least = tensor.least,
            .greatest = tensor.greatest,
            .scale = static_cast<double>(tensor.range.scale),
            .zero = tensor.range.zero,
            .expectedDb = tensor.expectedSqnrDb,
            .measuredDb = tensor.measuredSqnrDb,
            .node = QString::fromStdString(tensor.node),
            .from = tensor.range.least(),
            .to = tensor.range.greatest(),
            .clippedShare = tensor.clippedShare,
            .counts = {tensor.counts.begin(), tensor.counts.end()},
            .nodeId = {}};
}

/// What layers cost, and what the models take where they are to run.
void addMeasured(const compiler::QuantizeReport& report, views::QuantizeOutcome& out)
{
    if (report.precisions) {
        out.costs = std::make_shared<const core::PrecisionCosts>(report.precisions->costs);
        out.curve = report.precisions->curve;
        out.choice = report.precisions->choice;
    }
    if (!report.before || !report.after) return;
    out.before = {report.before->cost, static_cast<qint64>(report.floatBytes)};
    out.after = {report.after->cost, static_cast<qint64>(report.quantizedBytes)};
    out.place = QString::fromStdString(report.after->place);
    out.timeUnit = QString::fromStdString(report.after->timeUnit);
    out.isEmulated = report.after->isEmulated;
}

views::QuantizeOutcome outcomeOf(const compiler::QuantizeReport& report)
{
    views::QuantizeOutcome out;
    for (const compiler::TensorAccount& tensor : report.tensors)
        if (tensor.sameAs.empty()) out.rows.push_back(rowOf(tensor));
    out.rows = views::worstFirst(std::move(out.rows));
    double worst = HUGE_VAL;
    for (const compiler::OutputAccount& output : report.outputs)
        worst = std::min(worst, output.sqnrDb);
    constexpr double kKib = 1024;
    out.summary = QCoreApplication::translate("Quantize",
                                              "%1 operators compute with integers, %2 stay in "
                                              "float · outputs at %3 dB · %4 KiB, %5 KiB before · "
                                              "from %6")
                      .arg(report.quantizedNodes)
                      .arg(report.floats.size())
                      .arg(worst, 0, 'f', 1)
                      .arg(static_cast<double>(report.quantizedBytes) / kKib, 0, 'f', 1)
                      .arg(static_cast<double>(report.floatBytes) / kKib, 0, 'f', 1)
                      .arg(views::countOf(static_cast<qint64>(report.dataSets),
                                          QCoreApplication::translate("Quantize", "example")));
    for (const compiler::FloatNode& node : report.floats)
        out.floats << QStringLiteral("%1 (%2): %3")
                          .arg(QString::fromStdString(node.node), QString::fromStdString(node.op),
                               QString::fromStdString(node.reason));
    for (const core::Diagnostic& remark : report.remarks)
        out.warnings << QString::fromStdString(remark.message);
    out.loss = report.outputs.empty() ? 0 : std::pow(10.0, -worst / 20);
    addMeasured(report, out);
    return out;
}

compiler::QuantizeOptions optionsOf(const views::QuantizeQuestion& question)
{
    compiler::QuantizeOptions options;
    options.activations.method = *compiler::rangeMethodOf(question.method.toStdString());
    options.activations.dtype = *compiler::activationTypeOf(question.activations.toStdString());
    options.isPerChannel = question.isPerChannel;
    options.equalizes = question.equalizes;
    options.correctsBias = question.correctsBias;
    options.wider = *core::precisionOf(question.wider.toStdString());
    options.limits = {question.largestLoss, question.largestFlash, question.largestTime};
    for (const QString& layer : question.floatLayers)
        options.floatNodes.push_back(layer.toStdString());
    for (const QString& layer : question.wideLayers)
        options.wideNodes.push_back(layer.toStdString());
    options.measuresSensitivity = question.measuresSensitivity;
    options.hasIntegerEnds = question.hasIntegerEnds;
    return options;
}

} // namespace

core::Result<views::QuantizeOutcome> quantizeFile(const EngineOptions& engine,
                                                  const views::QuantizeQuestion& question,
                                                  const runs::RunPlace& place,
                                                  core::JobContext& job)
{
    if (!compiler::rangeMethodOf(question.method.toStdString()) ||
        !compiler::activationTypeOf(question.activations.toStdString()) ||
        !core::precisionOf(question.wider.toStdString()))
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "there is no such method, type of activations or precision");
    compiler::QuantizeOptions options = optionsOf(question);
    views::BuildOptions build;
    if (!question.target.isEmpty()) build.target = question.target;
    build.threads = question.threads;
    options.price = runs::pricedAt(compileOptions(engine, build), place);
    const std::string shapes = question.shapes.toStdString();
    if (core::Status read = compiler::readShapeOptions(shapes, options.sizes); !read)
        return read.error();
    const std::string model = question.model.toStdString();
    if (core::Status other = compiler::needOtherFile(model, question.output.toStdString()); !other)
        return other.error();
    const auto data =
        compiler::readCalibration(model, question.data.toStdString(), kMostExamples, options.sizes);
    if (!data) return data.error();
    if (!question.evaluation.isEmpty()) {
        auto other = compiler::readCalibration(model, question.evaluation.toStdString(),
                                               options.measuredSets, options.sizes);
        if (!other) return other.error();
        options.evaluation = *std::move(other);
    }
    // Errors are measured here whatever the window compiles for.
    const auto made = compiler::quantizeModel(
        model, *data, options, remote::compiledRunner(compileOptions(engine, {})), job);
    if (!made) return made.error();
    const core::Status written =
        core::writeFileAtomically(question.output.toStdString(), made->bytes);
    if (!written) return written.error();
    return outcomeOf(made->report);
}

} // namespace tenon::app
