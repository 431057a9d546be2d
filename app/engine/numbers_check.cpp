// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the passes once more; when one goes too far, again without a limit, so that what the others
// do to the numbers is known, too.
#include "app/engine/numbers_check.h"

#include "app/engine/backing.h"

#include <limits>

namespace tenon::app {

using core::Result;

namespace {

Result<compiler::CompileResultPtr> passesChecked(const std::shared_ptr<const Backing>& backing,
                                                 compiler::CompileOptions options, double tolerance,
                                                 core::JobContext& job)
{
    options.stopBeforeCodegen = true;
    options.passes.verifyNumerics = true;
    options.passes.numericTolerance = tolerance;
    return compiler::compile(backing->loaded, options, job);
}

/// The pass that the error is about: the first of that name.
int passIn(const std::string& message, const views::Document& document)
{
    for (size_t i = 0; i < document.passes.size(); ++i)
        if (message.find("pass `" + document.passes[i].name.toStdString() + "`") !=
            std::string::npos)
            return static_cast<int>(i);
    return -1;
}

} // namespace

Result<views::DocumentPtr> checkNumbers(const EngineOptions& engine,
                                        const views::DocumentPtr& document,
                                        const views::BuildOptions& build, core::JobContext& job)
{
    const auto backing = backingOf(document);
    compiler::CompileOptions options = compileOptions(engine, build);
    options.passes.stepped = steppedPass(document->stepped);
    auto made = std::make_shared<views::Document>(*document);
    made->numbersProblem.clear();
    made->brokenPass = -1;
    auto checked =
        passesChecked(backing, options, compiler::RunPassesOptions().numericTolerance, job);
    if (!checked && checked.error().code == core::DiagnosticCode::NumericMismatch) {
        made->numbersProblem = QString::fromStdString(checked.error().message);
        made->brokenPass = passIn(checked.error().message, *made);
        checked = passesChecked(backing, options, std::numeric_limits<double>::infinity(), job);
    }
    if (!checked) return checked.error();
    const auto& records = (*checked)->passes.records;
    if (records.size() != made->passes.size())
        return core::makeError(
            core::DiagnosticCode::BadArgument,
            "other passes are shown than these options run; open the model again");
    for (size_t i = 0; i < records.size(); ++i)
        made->passes[i].maxAbsError = records[i].maxAbsError;
    made->areNumbersChecked = true;
    ++made->revision;
    return views::DocumentPtr(made);
}

} // namespace tenon::app
