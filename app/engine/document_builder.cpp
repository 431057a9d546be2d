// SPDX-License-Identifier: GPL-3.0-or-later
// Copies what the window shows out of the compiler's results.
#include "app/engine/document_builder.h"

#include "app/engine/memory_builder.h"
#include "app/engine/qt_text.h"
#include "app/engine/shown_names.h"
#include "compiler/frontend/model_counts.h"
#include "compiler/ops/source_macs.h"
#include "compiler/package/package.h"
#include "compiler/passes/error/expected_error.h"
#include "core/base/printable.h"
#include "remote/roofline/call_bound.h"
#include "views/models/format.h"

#include <QDateTime>

#include <algorithm>

namespace tenon::app {

using views::Document;

namespace {

QString nameText(const std::string& name) { return text(shownName(name)); }

/// All versions, and what names nodes by their names.
void showNamesOf(Document& document)
{
    std::vector<core::Module*> versions{&document.imported};
    for (views::PassStep& step : document.passes) versions.push_back(&step.after);
    showNames(versions);
    for (core::Diagnostic& issue : document.issues) {
        issue.message = core::elidedWords(core::printable(issue.message));
        issue.location.node = shownName(issue.location.node);
        issue.location.op = shownName(issue.location.op);
    }
}

/// Of the nodes that no version before had.
void addMacs(compiler::SourceMacs& source, const core::Module& module, Document& document)
{
    for (const auto& [node, macs] : source.in(module)) document.macs.emplace(node, macs);
}

void addPasses(const compiler::PassTrace& trace, Document& document)
{
    document.imported = trace.imported;
    document.passes.clear();
    document.areNumbersChecked = false;
    document.numbersProblem.clear();
    document.brokenPass = -1;
    document.stepped.reset();
    compiler::SourceMacs macs(trace.imported);
    int position = -1;
    for (const compiler::PassRecord& record : trace.records) {
        views::PassStep step{text(record.name), text(record.phase), record.skipped, record.changed,
                             record.ms,         record.changes,     record.after};
        position += record.firstRewrite <= 1;
        step.position = position;
        step.firstRewrite = static_cast<int>(record.firstRewrite);
        step.lastRewrite = static_cast<int>(record.lastRewrite);
        step.rewrites = static_cast<int>(record.rewrites);
        if (record.changed) addMacs(macs, record.after, document);
        document.passes.push_back(std::move(step));
    }
}

void addKernels(const compiler::CompileResult& result, Document& document)
{
    document.kernels.clear();
    document.calls.clear();
    for (const compiler::CompiledKernel& kernel : result.kernels) {
        views::KernelListing listing;
        listing.symbol = text(kernel.function.empty() ? kernel.name : kernel.function);
        listing.rule = text(kernel.scheduleRule);
        listing.schedule = text(kernel.scheduleTrace).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
        listing.tir = text(kernel.loweredText);
        listing.isFromCache = kernel.fromCache;
        listing.codeBytes = kernel.object ? static_cast<qint64>(kernel.object->size()) : 0;
        document.kernels.emplace(text(kernel.symbol), std::move(listing));
    }
    for (const compiler::KernelCall& call : result.program.calls) {
        views::KernelCall shown;
        shown.node = call.node;
        shown.name = nameText(call.title.text());
        if (shown.name.isEmpty()) shown.name = nameText(call.name);
        if (call.kernel >= 0)
            shown.kernel = text(result.program.kernels[static_cast<size_t>(call.kernel)].symbol);
        shown.sources = call.sources;
        shown.method = call.method;
        shown.refusal = text(call.refusal);
        const core::ManifestCall described = compiler::describedCall(result.program, call);
        const remote::CallWork work = remote::workOf(described);
        shown.flops = described.flops;
        shown.leastFlops = work.flops;
        shown.movedBytes = work.movedBytes;
        shown.writtenBytes = work.writtenBytes;
        shown.weightBytes = work.weightBytes;
        shown.macs = call.macs;
        document.calls.push_back(std::move(shown));
    }
}

void addErrors(const compiler::PassTrace& trace, Document& document)
{
    const compiler::ExpectedError error = compiler::expectedError(trace);
    document.expectedError = error.total;
    for (views::KernelCall& call : document.calls) {
        const auto own = compiler::errorOfCall(error, trace.last(), call.node);
        if (!own) continue;
        call.sumError = own->own;
        call.errorShare = own->share;
        call.refusedForm = text(own->refused);
    }
}

QString hygieneText(const remote::Hygiene& state)
{
    QStringList parts;
    const auto isTold = [&](const char* word) {
        return std::any_of(state.warnings.begin(), state.warnings.end(),
                           [&](const std::string& w) { return w.find(word) != std::string::npos; });
    };
    if (!state.governor.empty()) parts << QStringLiteral("governor ") + text(state.governor);
    if (state.clockMhz > 0) parts << QStringLiteral("%1 MHz").arg(qRound(state.clockMhz));
    if (state.temperatureC >= 0) parts << QStringLiteral("%1 °C").arg(qRound(state.temperatureC));
    if (state.loadAverage >= 0 && !isTold("(load "))
        parts << QStringLiteral("load %1").arg(state.loadAverage, 0, 'f', 2);
    parts << (state.isPinned ? QStringLiteral("threads pinned")
                             : QStringLiteral("threads not pinned"));
    if (state.involuntarySwitches >= 0 && !isTold("interrupted"))
        parts << views::countOf(state.involuntarySwitches, QStringLiteral("preemption"));
    for (const std::string& warning : state.warnings) parts << text(warning);
    return parts.join(QStringLiteral(" · "));
}

std::vector<views::CallTime> callTimes(const remote::Timing& timing, const Document& document)
{
    constexpr double kUs = 1000;
    std::vector<views::CallTime> times;
    for (const double ms : timing.callMs) times.push_back({ms * kUs});
    if (!timing.peak) return times;
    std::vector<remote::CallWork> works;
    for (size_t i = 0; i < document.calls.size(); ++i) {
        const views::KernelCall& call = document.calls[i];
        works.push_back({call.leastFlops, call.movedBytes, call.writtenBytes, call.weightBytes,
                         core::methodRun(call.method, call.refusal.toStdString())});
    }
    const double runBytes = remote::runBytes(
        document.memory ? static_cast<double>(document.memory->arenaBytes) : 0, works);
    for (size_t i = 0; i < std::min(times.size(), works.size()); ++i) {
        const remote::CallBound bound = remote::boundOf(works[i], *timing.peak, runBytes);
        times[i].boundUs = remote::shareOfBound(bound, timing.callMs[i]) * times[i].medianUs;
        times[i].isMemoryBound = bound.isMemory;
    }
    return times;
}

QString peakText(const remote::MachinePeak& peak)
{
    QString out = QStringLiteral("peak of a core %1 GFLOP/s (%2)")
                      .arg(qRound(peak.fp32Gflops))
                      .arg(text(peak.isa));
    if (peak.int8Gops > 0) out += QStringLiteral(", %1 Gop/s in int8").arg(qRound(peak.int8Gops));
    if (!peak.bandwidth.empty())
        out += QStringLiteral(" · memory is read at %1 and copied at %2 GB/s")
                   .arg(qRound(peak.bandwidth.back().readGbps))
                   .arg(qRound(peak.bandwidth.back().copyGbps));
    return out;
}

/// Who wrote the file, in which version, and what it says of itself: a line each.
QString producerText(const compiler::ModelFacts& facts)
{
    constexpr size_t kMostRows = 24;
    QStringList producer;
    if (!facts.producer.empty())
        producer << (nameText(facts.producer) + QLatin1Char(' ') + nameText(facts.producerVersion))
                        .trimmed();
    // ONNX calls its version that of its IR.
    const QString format = QString::fromStdString(facts.format);
    if (facts.irVersion > 0)
        producer << (format == QStringLiteral("onnx") ? QStringLiteral("IR %1")
                                                      : format + QStringLiteral(" schema %1"))
                        .arg(facts.irVersion);
    QStringList opsets;
    for (const auto& [domain, version] : facts.opsets) {
        opsets << (domain.empty() ? QStringLiteral("ai.onnx") : nameText(domain)) +
                      QLatin1Char(' ') + QString::number(version);
    }
    if (!opsets.isEmpty()) producer << opsets.join(QStringLiteral(", "));
    QStringList lines{producer.join(QStringLiteral(" · "))};
    for (size_t i = 0; i < std::min(kMostRows, facts.metadata.size()); ++i) {
        const auto& [key, value] = facts.metadata[i];
        if (!value.empty()) lines << nameText(key) + QStringLiteral("  ") + nameText(value);
    }
    lines.removeAll(QString());
    return lines.join(QLatin1Char('\n'));
}

} // namespace

std::shared_ptr<Document> documentOf(const compiler::Loaded& loaded, const QString& path)
{
    auto document = std::make_shared<Document>();
    document->path = path;
    document->name = views::modelName(path);
    for (const auto& [domain, version] : loaded.facts.opsets)
        if (domain.empty() || domain == "ai.onnx") document->opset = QString::number(version);
    document->producer = producerText(loaded.facts);
    for (const compiler::ValueFacts& input : loaded.facts.inputs)
        for (const core::Dim& dim : input.shape)
            for (const std::string& symbol : dim.symbols())
                if (!document->openDims.contains(text(symbol))) document->openDims << text(symbol);
    // Inputs whose values decide what is computed are bound in the same line.
    for (const std::string& name : loaded.neededValues)
        if (!document->openDims.contains(text(name))) document->openDims << text(name);
    document->counts = compiler::countsOf(loaded);
    document->imported = loaded.module;
    compiler::SourceMacs macs(loaded.module);
    addMacs(macs, loaded.module, *document);
    document->issues = loaded.diagnostics;
    showNamesOf(*document);
    return document;
}

void addResult(const compiler::CompileResultPtr& result, Document& document)
{
    document.target = text(result->options.target);
    document.issues = result->loaded->diagnostics;
    document.issues.insert(document.issues.end(), result->remarks.begin(), result->remarks.end());
    addPasses(result->passes, document);
    addKernels(*result, document);
    addErrors(result->passes, document);
    if (!document.calls.empty()) document.memory = memoryPlanOf(result->program, result->memory);
    const compiler::CompilePhases& p = result->phases;
    document.phases = {{QStringLiteral("passes"), p.passesMs},
                       {QStringLiteral("code generation"), p.codegenMs},
                       {QStringLiteral("memory plan"), p.planMs}};
    document.measurement.reset();
    showNamesOf(document);
}

views::Measurement measurementOf(const remote::Timing& timing, const Document& document,
                                 const QString& place, bool isEmulated)
{
    views::Measurement m;
    m.board = place;
    m.isEmulated = isEmulated;
    m.date = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd HH:mm"));
    m.method = QStringLiteral("time_evaluator on the board's own clock, in a process of its own; "
                              "calls from instrumented runs");
    if (!timing.summaryMs.areInstructions)
        m.hygiene = hygieneText(timing.hygiene); // what else runs changes no number of instructions
    if (timing.summaryMs.areInstructions) {
        m.unit = views::CostUnit::Instructions;
        m.method = QStringLiteral("instructions that the emulator counts, to the one and the same "
                                  "in every run; silicon takes a cycle or more of each");
    }
    m.runs = static_cast<int>(timing.runsMs.size());
    m.threads = static_cast<int>(timing.threads);
    constexpr double kUs = 1000;
    m.medianUs = timing.summaryMs.median * kUs;
    m.madUs = timing.summaryMs.mad * kUs;
    m.p95Us = timing.summaryMs.p95 * kUs;
    m.lowUs = timing.summaryMs.ci95Low * kUs;
    m.highUs = timing.summaryMs.ci95High * kUs;
    for (const double ms : timing.runsMs) m.runUs.push_back(ms * kUs);
    m.calls = callTimes(timing, document);
    if (timing.peak) m.peak = peakText(*timing.peak);
    if (timing.peer)
        m.peer = {QStringLiteral("%1 %2").arg(text(timing.peer->name), text(timing.peer->version)),
                  timing.peer->summaryMs.median * kUs, timing.peer->summaryMs.ci95Low * kUs,
                  timing.peer->summaryMs.ci95High * kUs, text(timing.peer->difference)};
    return m;
}

} // namespace tenon::app
