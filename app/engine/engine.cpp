// SPDX-License-Identifier: GPL-3.0-or-later
// Opens, compiles and counts with the compiler driver.
#include "app/engine/engine.h"

#include "app/engine/backing.h"
#include "app/engine/board_desk.h"
#include "app/engine/build_choices.h"
#include "app/engine/compare_levels.h"
#include "app/engine/document_builder.h"
#include "app/engine/fit_builder.h"
#include "app/engine/footprint_builder.h"
#include "app/engine/memory_builder.h"
#include "app/engine/numbers_check.h"
#include "app/engine/pass_steps.h"
#include "app/engine/project_builder.h"
#include "app/engine/save_model.h"
#include "app/engine/target_choices.h"
#include "compiler/driver/kernel_text.h"
#include "compiler/driver/planning_problem.h"
#include "compiler/driver/target_cores.h"
#include "compiler/frontend/importer.h"
#include "compiler/frontend/open_sizes.h"
#include "compiler/frontend/shape_option.h"
#include "compiler/ops/op.h"
#include "core/base/processors.h"
#include "core/target/ignored_options.h"
#include "core/target/target_kind.h"
#include "core/target/target_tag.h"
#include "core/target/thread_choice.h"
#include "remote/board/profile.h"

#include <QCoreApplication>

#include <algorithm>

namespace tenon::app {

using core::JobContext;
using core::Result;
using views::BuildOptions;
using views::DocumentPtr;

namespace {

/// What the field of sizes takes so that the model can be imported.
void proposeBindings(const QString& path, const compiler::ImportOptions& bindings,
                     compiler::Loaded& loaded)
{
    if (!core::hasErrors(loaded.diagnostics) || loaded.neededValues.empty()) return;
    QString proposal =
        QString::fromStdString(compiler::proposedBindings(path.toStdString(), loaded, bindings));
    proposal.remove(QStringLiteral("--shape ")).remove(QStringLiteral("--value "));
    if (proposal.isEmpty()) return;
    loaded.diagnostics.push_back(
        {core::Severity::Note,
         core::DiagnosticCode::DynamicShape,
         "this binds all that the model leaves open, in the field of sizes "
         "of the Inspect page: " +
             proposal.toStdString(),
         {},
         {}});
}

Result<DocumentPtr> openModel(const EngineOptions& engine, const QString& path,
                              const BuildOptions& build, const views::Engine::Read& take,
                              JobContext& job)
{
    job.progress(0.1, "reading");
    compiler::ImportOptions bindings;
    const core::Status bound = compiler::readShapeOptions(build.shapes.toStdString(), bindings);
    auto read = compiler::loadForBuild(path.toStdString(), bindings);
    if (!read) return read.error();
    if (!bound) read->diagnostics.insert(read->diagnostics.begin(), bound.error());
    proposeBindings(path, bindings, *read);
    const auto loaded = std::make_shared<const compiler::Loaded>(*std::move(read));
    auto document = documentOf(*loaded, path);
    document->backing = std::make_shared<const Backing>(Backing{loaded, nullptr, {}});
    take(std::make_shared<const views::Document>(*document));
    job.progress(0.4, "passes");
    compiler::CompileOptions options = compileOptions(engine, build);
    options.stopBeforeCodegen = true;
    auto compiled = compiler::compile(loaded, options, job);
    if (compiled) {
        addResult(*compiled, *document);
        document->backing =
            std::make_shared<const Backing>(Backing{loaded, nullptr, {}, *compiled});
    } else if (compiled.error().code == core::DiagnosticCode::Cancelled) {
        return compiled.error();
    } else if (!core::hasErrors(document->issues)) {
        // The model opens anyway; what stands against compiling it becomes an issue.
        core::Diagnostic issue = compiled.error();
        std::vector<core::Diagnostic> notes = std::move(issue.notes);
        issue.notes.clear();
        document->issues.push_back(issue);
        document->issues.insert(document->issues.end(), notes.begin(), notes.end());
    }
    return DocumentPtr(document);
}

void takeLines(const std::vector<compiler::LinkedLine>& lines, QString& text,
               std::vector<int>& tirLines)
{
    QStringList shown;
    tirLines.clear();
    for (const compiler::LinkedLine& line : lines) {
        shown << QString::fromStdString(line.text).replace(QLatin1Char('\t'),
                                                           QStringLiteral("    "));
        tirLines.push_back(line.tirLine);
    }
    text = shown.join(QLatin1Char('\n'));
}

Result<views::KernelListing> makeListing(const DocumentPtr& document, const QString& kernel)
{
    const auto backing = backingOf(document);
    const auto known = document->kernels.find(kernel);
    if (!backing->result || known == document->kernels.end())
        return core::makeError(core::DiagnosticCode::UnknownName,
                               "the model has no compiled kernel `" + kernel.toStdString() +
                                   "`; compile it first");
    views::KernelListing listing = known->second;
    for (size_t i = 0; i < backing->result->kernels.size(); ++i) {
        if (QString::fromStdString(backing->result->kernels[i].symbol) != kernel) continue;
        auto llvm = compiler::linkedKernelText(*backing->result, i, compiler::KernelText::LlvmIr);
        if (!llvm) return llvm.error();
        auto assembly =
            compiler::linkedKernelText(*backing->result, i, compiler::KernelText::Assembly);
        if (!assembly) return assembly.error();
        takeLines(*llvm, listing.llvm, listing.llvmToTir);
        takeLines(*assembly, listing.assembly, listing.assemblyToTir);
    }
    return listing;
}

Result<views::MemoryPlan> planModel(const DocumentPtr& document,
                                    const views::MemoryQuestion& question)
{
    const auto backing = backingOf(document);
    if (!backing->result || !document->isCompiled())
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "there is no program to plan; compile the model first");
    return planAgain(backing->result->program, backing->result->memory, question);
}

/// The document with program and plan, but no code.
Result<DocumentPtr> planOpened(const DocumentPtr& document, JobContext& job)
{
    const auto backing = backingOf(document);
    if (!backing->passes)
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "there is no program to plan: the model's passes did not end");
    auto planned = compiler::planOnly(*backing->passes, job);
    if (!planned) return planned.error();
    auto made = std::make_shared<views::Document>(*document);
    addResult(*planned, *made);
    made->backing = std::make_shared<const Backing>(Backing{backing->loaded, *planned, {}});
    return DocumentPtr(made);
}

Result<views::Footprint> measureFootprints(const DocumentPtr& document, JobContext& job)
{
    const auto backing = backingOf(document);
    if (!backing->result)
        return core::makeError(core::DiagnosticCode::BadArgument,
                               "there is no program to measure; compile the model first");
    remote::FootprintRequest request;
    request.loaded = backing->loaded;
    request.options = backing->result->options;
    auto measured = remote::measureFootprint(request, job);
    if (!measured) return measured.error();
    return measuredFootprint(*measured, request.options.target);
}

std::vector<views::MemoryBudget> memoryBudgets()
{
    std::vector<views::MemoryBudget> budgets;
    const auto profiles = remote::boardProfiles();
    if (!profiles) return budgets; // without profiles there is nothing to compare with
    for (const remote::BoardProfile& profile : *profiles)
        budgets.push_back({QString::fromStdString(profile.name),
                           QString::fromStdString(profile.title), profile.flashBytes,
                           profile.ramBytes, QString::fromStdString(profile.target)});
    return budgets;
}

views::TargetVerdict checkTarget(const QString& text)
{
    const auto target = core::parseTarget(text.toStdString());
    if (!target) return {false, {}, QString::fromStdString(target.error().message), {}};
    views::TargetVerdict verdict{true, QString::fromStdString(target->text()), {}, {}};
    for (const std::string& line : target->explain())
        verdict.explanation << QString::fromStdString(line);
    std::optional<core::Diagnostic> problem;
    if (const core::Status generates = core::checkGenerates(*target); !generates)
        problem = generates.error();
    else if (const auto machine = compiler::machineSpec(*target); !machine)
        problem = machine.error();
    if (problem) {
        verdict.isValid = false;
        verdict.message = QString::fromStdString(problem->message);
        return verdict;
    }
    const core::ThreadChoice threads =
        core::chooseThreads(*target, {.thisComputer = core::usableProcessors(),
                                      .hasThreads = compiler::hasThreads(*target)});
    verdict.explanation << QString::fromStdString(threads.text());
    return verdict;
}

QStringList targetSuggestions()
{
    QStringList all{QStringLiteral("llvm -mcpu=native"),
                    QStringLiteral("llvm -mcpu=skylake-avx512"),
                    QStringLiteral("llvm -mcpu=znver4"),
                    QStringLiteral("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72")};
    for (const core::TargetKind& kind : core::allTargetKinds())
        if (kind.state == core::KindState::Generates && kind.name != "llvm")
            all << QString::fromUtf8(kind.name.data(), static_cast<qsizetype>(kind.name.size()));
    // Only what can be compiled for; the rest is explained when it is written.
    for (const std::string& tag : core::targetTagNames())
        if (const auto target = core::parseTarget(tag); target && core::checkGenerates(*target))
            all << QString::fromStdString(tag);
    return all;
}

views::OpFamily shownFamily(compiler::Family family)
{
    using compiler::Family;
    switch (family) {
    case Family::Convolution: return views::OpFamily::Convolution;
    case Family::Dense: return views::OpFamily::Dense;
    case Family::Elementwise: return views::OpFamily::Elementwise;
    case Family::Normalization: return views::OpFamily::Normalization;
    case Family::Pooling:
    case Family::Reduction: return views::OpFamily::Pooling;
    case Family::Layout:
    case Family::Movement:
    case Family::Control: break;
    }
    return views::OpFamily::Movement;
}

void addOptions(const EngineOptions& options, views::Engine& engine)
{
    engine.targetKinds = targetKinds;
    engine.targetNames = targetNames;
    engine.unusedFeatures = unusedFeatures;
    engine.targetFigures = targetFigures;
    engine.checkOptions = checkBuildOptions;
    engine.passes = passChoices;
    engine.passKeys = passKeys;
    engine.planners = plannerNames;
    engine.measureLevels = [options](DocumentPtr document, const BuildOptions& build,
                                     const views::Engine::LevelWatch& watch, JobContext& job) {
        return compareLevels(options, document, build, watch, job);
    };
    engine.explainFit = explainFit;
    engine.projects = projectEngine(options);
    engine.checkNumbers = [options](DocumentPtr document, const BuildOptions& build,
                                    JobContext& job) {
        return checkNumbers(options, document, build, job);
    };
    engine.stepPass = [options](DocumentPtr document, const BuildOptions& build,
                                const std::optional<views::SteppedPass>& stepped, JobContext& job) {
        return stepPass(options, document, build, stepped, job);
    };
}

} // namespace

views::OpFamilies opFamilies()
{
    views::OpFamilies families;
    for (const compiler::OpDef* op : compiler::allOps())
        families.emplace(op->name, shownFamily(op->family));
    return families;
}

QStringList modelFileFilters()
{
    QStringList filters, suffixes;
    // What is asked last takes most files, so it is read first.
    auto importers = compiler::allImporters();
    std::reverse(importers.begin(), importers.end());
    for (const compiler::Importer* importer : importers) {
        if (importer->suffix.empty()) continue;
        suffixes << QLatin1Char('*') + QString::fromStdString(std::string(importer->suffix));
        filters << QCoreApplication::translate("MainWindow", "%1 models (%2)")
                       .arg(QString::fromStdString(std::string(importer->title)), suffixes.last());
    }
    // The first one is chosen when the dialog opens.
    filters.prepend(QCoreApplication::translate("MainWindow", "Models (%1)")
                        .arg(suffixes.join(QLatin1Char(' '))));
    return filters;
}

views::Engine makeEngine(const EngineOptions& options)
{
    views::setOpFamilies(opFamilies());
    views::Engine engine;
    engine.open = [options](const QString& path, const BuildOptions& build,
                            const views::Engine::Read& read,
                            JobContext& job) { return openModel(options, path, build, read, job); };
    engine.compile = [options](DocumentPtr document, const BuildOptions& build, JobContext& job) {
        return compileModel(options, document, build, job);
    };
    engine.save = [options](DocumentPtr document, const BuildOptions& build, const QString& path,
                            JobContext& job) {
        return saveModel(options, document, build, path, job);
    };
    engine.saveFormats = saveFormats;
    engine.listing = [](DocumentPtr document, const QString& kernel, JobContext&) {
        return makeListing(document, kernel);
    };
    engine.plan = [](DocumentPtr document, const views::MemoryQuestion& question, JobContext&) {
        return planModel(document, question);
    };
    engine.planOpened = planOpened;
    engine.estimateFootprint = [](DocumentPtr document,
                                  JobContext& job) -> Result<views::Footprint> {
        const auto backing = backingOf(document);
        if (!backing->result)
            return core::makeError(core::DiagnosticCode::BadArgument,
                                   "there is no program to count; compile the model first");
        return estimateFootprint(backing->result, job);
    };
    engine.measureFootprint = measureFootprints;
    engine.budgets = memoryBudgets;
    engine.checkTarget = checkTarget;
    engine.targetSuggestions = targetSuggestions;
    engine.checkShapes = [](const QString& text) {
        compiler::ImportOptions bindings;
        return compiler::readShapeOptions(text.toStdString(), bindings);
    };
    addOptions(options, engine);
    addBoards(options, engine);
    return engine;
}

} // namespace tenon::app
