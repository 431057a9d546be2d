// SPDX-License-Identifier: Apache-2.0
// The rows of back_ends.def and the questions that are asked of all of them.
#include "compiler/codegen/back_end.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {

#define BACK_END(id) extern const BackEnd id##BackEnd;
#include "compiler/codegen/back_ends.def"
#undef BACK_END

namespace {

constexpr std::array kBackEnds = {
#define BACK_END(id) &id##BackEnd,
#include "compiler/codegen/back_ends.def"
#undef BACK_END
};

std::string kindsText()
{
    std::vector<std::string> kinds;
    for (const BackEnd* each : kBackEnds)
        if (!each->kind.empty()) kinds.emplace_back(each->kind);
    return join(kinds, ", ");
}

/// "end the output in .so, .o, .tar"
std::string formsText(const BackEnd& backEnd, ExecutorKind executor)
{
    std::vector<std::string> suffixes;
    bool takesFolders = false;
    for (const ArtifactForm& form : backEnd.forms) {
        if (!form.runs(executor)) continue;
        if (form.format == OutputFormat::Folder)
            takesFolders = true;
        else
            suffixes.emplace_back(suffixOf(form.format));
    }
    return "end the output in " + join(suffixes, ", ") + (takesFolders ? ", or name a folder" : "");
}

/// Who writes that form: "hexagon", "\"llvm -mtriple=wasm32-unknown-unknown\"".
std::string targetsText(OutputFormat format)
{
    std::vector<std::string> targets;
    for (const BackEnd* each : kBackEnds) {
        const bool writes = std::any_of(each->forms.begin(), each->forms.end(),
                                        [&](const ArtifactForm& f) { return f.format == format; });
        if (!writes) continue;
        targets.push_back(each->kind.empty()
                              ? "\"llvm -mtriple=" + std::string(each->architecture) +
                                    "-unknown-unknown\""
                              : std::string(each->kind));
    }
    return join(targets, " or ");
}

/// What stands alone has no runtime beside it that could be another executor.
Diagnostic aloneError(const ArtifactForm& form, ExecutorKind executor)
{
    const std::string what = "a " + std::string(formatName(form.format));
    if (executor == ExecutorKind::Vm)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         what + " runs by itself, without the vm executor that control flow "
                                "and sizes known at run time need; bind sizes with --shape");
    return makeError(DiagnosticCode::UnsupportedFeature,
                     what + " runs by itself, which the " + std::string(executorName(executor)) +
                         " executor cannot; use --executor aot");
}

/// Other tools know two executors.
Diagnostic libraryError(ExecutorKind executor)
{
    return makeError(DiagnosticCode::UnsupportedFeature,
                     "the Model Library Format has the graph and the aot executor, not the " +
                         std::string(executorName(executor)) +
                         " executor that control flow and sizes known at run time need; bind sizes "
                         "with --shape");
}

} // namespace

bool ArtifactForm::runs(ExecutorKind executor) const
{
    return std::find(executors.begin(), executors.end(), executor) != executors.end();
}

bool BackEnd::runs(ExecutorKind executor) const
{
    return std::any_of(forms.begin(), forms.end(),
                       [&](const ArtifactForm& form) { return form.runs(executor); });
}

std::span<const BackEnd* const> allBackEnds() { return kBackEnds; }

const BackEnd& backEndNamed(std::string_view name)
{
    const auto found = std::find_if(kBackEnds.begin(), kBackEnds.end(),
                                    [&](const BackEnd* each) { return each->name == name; });
    CHECK(found != kBackEnds.end()) << "no back end " << name;
    return **found;
}

const BackEnd* findBackEnd(const Target& target)
{
    const auto ofKind = std::find_if(kBackEnds.begin(), kBackEnds.end(), [&](const BackEnd* each) {
        return each->kind == target.kind;
    });
    if (ofKind == kBackEnds.end()) return nullptr;
    const std::string_view architecture = architectureOf(target.mtriple);
    if (!(*ofKind)->llvm || architecture.empty()) return *ofKind;
    for (const BackEnd* each : kBackEnds)
        if (each->architecture == architecture) return each;
    return *ofKind;
}

Result<MachineSpec> machineSpec(const Target& target)
{
    const BackEnd* backEnd = findBackEnd(target);
    if (!backEnd)
        return makeError(DiagnosticCode::UnsupportedTarget,
                         "no code is made for targets of kind " + quoted(target.kind) +
                             ", only for " + kindsText() + "; see `tenon targets`",
                         {.detail = "kind"});
    auto machine = backEnd->machine(*backEnd, target);
    if (machine) machine->backEnd = backEnd;
    return machine;
}

Result<TargetFacts> targetFacts(const MachineSpec& spec)
{
    CHECK(spec.backEnd) << "a machine of nobody: " << spec.text();
    return spec.backEnd->facts(spec);
}

MachineChoice machineFigures(const MachineSpec& spec)
{
    CHECK(spec.backEnd) << "a machine of nobody: " << spec.text();
    return spec.backEnd->figures(spec);
}

std::vector<const ProjectTemplate*> allProjectTemplates()
{
    std::vector<const ProjectTemplate*> out;
    for (const BackEnd* each : kBackEnds)
        if (each->sources && each->sources->projects)
            for (const ProjectTemplate* project : each->sources->projects()) out.push_back(project);
    return out;
}

Result<const ProjectTemplate*> projectTemplate(std::string_view name)
{
    std::vector<std::string> names;
    for (const ProjectTemplate* each : allProjectTemplates()) {
        if (each->name == name) return each;
        names.emplace_back(each->name);
    }
    return makeError(DiagnosticCode::UnknownName, "there is no template " +
                                                      quoted(std::string(name)) + "; there are " +
                                                      join(names, ", "));
}

Result<const ArtifactForm*> formFor(const MachineSpec& machine, ExecutorKind executor,
                                    OutputFormat format)
{
    const BackEnd& backEnd = *machine.backEnd;
    for (const ArtifactForm& form : backEnd.forms) {
        if (form.format != format) continue;
        if (form.runs(executor)) return &form;
        if (format == OutputFormat::ModelLibrary) return libraryError(executor);
        return aloneError(standsAlone(format) ? form : backEnd.forms.front(), executor);
    }
    const std::string needed = targetsText(format);
    return makeError(DiagnosticCode::BadArgument,
                     "code for " + quoted(machine.triple) + " is not written as a " +
                         std::string(formatName(format)) +
                         (needed.empty() ? "" : ", which needs --target " + needed) + "; " +
                         formsText(backEnd, executor));
}

} // namespace tenon::compiler
