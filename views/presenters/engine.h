// SPDX-License-Identifier: GPL-3.0-or-later
// Engine: what the window asks of compiler and boards, as plain functions run inside jobs; the
// program wires the real ones.
#pragma once

#include "core/jobs/job.h"
#include "views/models/document.h"
#include "views/models/fit_rows.h"
#include "views/models/footprint.h"
#include "views/models/level_rows.h"
#include "views/models/quantize_rows.h"
#include "views/models/target_figures.h"
#include "views/models/target_parts.h"
#include "views/presenters/board_engine.h"
#include "views/presenters/compare_engine.h"
#include "views/presenters/project_engine.h"
#include "views/presenters/trial_engine.h"

#include <functional>

namespace tenon::views {

/// What a target string means, or why it means nothing.
struct TargetVerdict
{
    bool isValid = false;
    QString canonical;
    QString message; ///< the error, with the candidates
    QStringList explanation;
};

struct Engine
{
    /// Reads a model and runs its passes; problems are in Document::issues. `read` gets the model
    /// as soon as it is read, before the passes, on the job's thread.
    using Read = std::function<void(DocumentPtr)>;
    std::function<core::Result<DocumentPtr>(const QString& path, const BuildOptions&, const Read&,
                                            core::JobContext&)>
        open;
    /// Kernels, program and memory plan for the opened model.
    std::function<core::Result<DocumentPtr>(DocumentPtr, const BuildOptions&, core::JobContext&)>
        compile;
    /// Writes what was compiled for these options, compiled first if it was not; the suffix is the
    /// format. Answers with the compiled document.
    std::function<core::Result<DocumentPtr>(DocumentPtr, const BuildOptions&, const QString& path,
                                            core::JobContext&)>
        save;
    /// What `save` can write for a target, the usual first: "Shared library (*.so)".
    std::function<QStringList(const QString& target)> saveFormats;
    /// LLVM IR and assembly of one kernel, produced on demand.
    std::function<core::Result<KernelListing>(DocumentPtr, const QString& kernel,
                                              core::JobContext&)>
        listing;
    /// Another memory plan of the compiled program; the program stays as it is.
    std::function<core::Result<MemoryPlan>(DocumentPtr, const MemoryQuestion&, core::JobContext&)>
        plan;
    /// The opened model with the program and plan that compiling would give it, without code.
    std::function<core::Result<DocumentPtr>(DocumentPtr, core::JobContext&)> planOpened;
    /// Flash and RAM of the executors, from what the compile has: a lower limit.
    std::function<core::Result<Footprint>(DocumentPtr, core::JobContext&)> estimateFootprint;
    /// The same from linked images; empty where nothing can link them.
    std::function<core::Result<Footprint>(DocumentPtr, core::JobContext&)> measureFootprint;
    /// Why the compiled model fits a board or does not; with a linked image or as planned.
    std::function<core::Result<FitAccount>(DocumentPtr, const MemoryBudget&, bool isLinked,
                                           core::JobContext&)>
        explainFit;
    /// Flash and RAM of the boards that are known.
    std::function<std::vector<MemoryBudget>()> budgets;
    std::function<TargetVerdict(const QString& text)> checkTarget;
    std::function<QStringList()> targetSuggestions;
    std::function<QStringList()> targetKinds;
    std::function<TargetNames(const QString& triple)> targetNames;
    /// What the processor of the board's target has and the other does not use.
    std::function<QStringList(const QString& target, const QString& boardTarget)> unusedFeatures;
    /// What cost models take the target's processor for; empty for a target that is not valid.
    std::function<TargetFigures(const QString& target)> targetFigures;
    /// Whether a line of bindings can be read; whether they fit a model is seen when it is opened.
    std::function<core::Status(const QString& text)> checkShapes;
    /// Whether the model can be compiled with these; says what is wrong with them.
    std::function<core::Status(const BuildOptions&)> checkOptions;
    std::function<std::vector<PassChoice>()> passes;
    std::function<std::vector<PassKey>()> passKeys;
    std::function<QStringList()> planners;
    /// The model at every optimization level, measured on this computer; `watch` gets what is there
    /// so far, on the job's thread.
    using LevelWatch = std::function<void(const std::vector<LevelRow>&)>;
    std::function<core::Result<std::vector<LevelRow>>(DocumentPtr, const BuildOptions&,
                                                      const LevelWatch&, core::JobContext&)>
        measureLevels;
    /// The document with what every pass does to the numbers: see PassStep::maxAbsError.
    std::function<core::Result<DocumentPtr>(DocumentPtr, const BuildOptions&, core::JobContext&)>
        checkNumbers;
    /// The document with that pass rewrite by rewrite; without one, with whole passes again.
    std::function<core::Result<DocumentPtr>(DocumentPtr, const BuildOptions&,
                                            const std::optional<SteppedPass>&, core::JobContext&)>
        stepPass;
    /// A float model file as a file that computes with integers, calibrated on this computer.
    /// What it and the float model take is measured on the question's board.
    std::function<core::Result<QuantizeOutcome>(const QuantizeQuestion&, const BoardAsk&,
                                                core::JobContext&)>
        quantize;
    BoardEngine boards;
    CompareEngine comparing;
    TrialEngine trying;
    ProjectEngine projects;
};

} // namespace tenon::views
