// SPDX-License-Identifier: Apache-2.0
// Qualcomm's Hexagon, by LLVM: libraries for a runtime, and programs that need none.
#include "compiler/codegen/back_end.h"

#include "compiler/codegen/hexagon/hexagon_builtins.h"
#include "compiler/codegen/hexagon/hexagon_glue.h"
#include "compiler/codegen/llvm/elf_link.h"
#include "compiler/codegen/llvm/elf_object.h"
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/llvm_code.h"
#include "compiler/codegen/llvm/llvm_traits.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr const char* kEntry = "_start";

/// Older versions cannot add 64-bit floats.
Status checkVersion(const MachineSpec& spec)
{
    constexpr std::string_view kOld[] = {"generic",    "hexagonv5",  "hexagonv55",
                                         "hexagonv60", "hexagonv62", "hexagonv65"};
    if (std::find(std::begin(kOld), std::end(kOld), spec.cpu) == std::end(kOld)) return kDone;
    return makeError(DiagnosticCode::UnsupportedTarget,
                     "Hexagon code is generated for v66 and later, not for " + quoted(spec.cpu),
                     {.detail = "mcpu"});
}

/// Floats are scalar up to v67; half of the 32 general registers hold sums.
void addFacts(const llvm::MCSubtargetInfo&, TargetFacts& facts)
{
    facts.vectorBytes = 4;
    facts.vectorRegisters = 16;
    facts.hasFma = true;
}

std::string glueText(const GlueParts& parts)
{
    std::string text = llvmGlueText(parts);
    if (parts.format == OutputFormat::Program) text += hexagonProgramText(parts.program);
    return text;
}

/// What is exported stays in a program even where its own code does not need it.
std::vector<std::string> exports(const ExecutorProgram& program, ExecutorKind executor,
                                 OutputFormat format)
{
    if (format == OutputFormat::Program) return {kManifestSymbol};
    return libraryExports(program, executor, format);
}

Result<LinkJob> linkJob(const LinkPlan& plan, OutputFormat format)
{
    return format == OutputFormat::Program ? programLinkJob(plan, kEntry)
                                           : elfLinkJob(plan, format);
}

constexpr ExecutorKind kAot[] = {ExecutorKind::Aot};
constexpr ArtifactForm kForms[] = {{OutputFormat::Program, kAot},
                                   {OutputFormat::SharedLibrary, kAllExecutors, true},
                                   {OutputFormat::Object, kAllExecutors},
                                   {OutputFormat::Tar, kAllExecutors}};
constexpr Lacks kLacks = {
    .rounding = true, .wideFma = true, .wideDivision = true, .division = true};
constexpr LlvmTraits kTraits = {.triple = "hexagon",
                                .cpu = "hexagonv66",
                                .check = checkVersion,
                                .addFacts = addFacts,
                                .family = MachineFamily::Hexagon,
                                .lacks = &kLacks,
                                .lacksHalf = true,
                                .addBuiltins = addHexagonBuiltins};
constexpr ObjectCode kObjects = {llvmKernel,   llvmBuiltins, glueText, emitIrText,
                                 writeElfData, exports,      linkJob};

} // namespace

extern constinit const BackEnd hexagonBackEnd = {.name = "hexagon",
                                                 .kind = "hexagon",
                                                 .architecture = "hexagon",
                                                 .forms = kForms,
                                                 .runner = {.program = "qemu-hexagon",
                                                            .package = "qemu-user-static",
                                                            .isEmulator = true,
                                                            .newestVersion = 67,
                                                            .cpu = "v67"},
                                                 .machine = llvmMachine,
                                                 .facts = llvmFacts,
                                                 .figures = llvmFigures,
                                                 .traits = llvmCodeTraits,
                                                 .objects = &kObjects,
                                                 .llvm = &kTraits};

} // namespace tenon::compiler
