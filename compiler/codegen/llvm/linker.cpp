// SPDX-License-Identifier: Apache-2.0
// LLD's ELF and WebAssembly drivers as functions.
#include "compiler/codegen/llvm/linker.h"

#include "compiler/codegen/llvm/linker_output.h"
#include "core/base/text.h"

#include <lld/Common/Driver.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

LLD_HAS_DRIVER(elf)
LLD_HAS_DRIVER(wasm)

// LLD 19 forgets what it knew of a link but for these: the next one, of a single object, would take
// freed symbols for its own. lld/ELF/Symbols.h, which is not installed, declares them so.
namespace lld::elf {
class Defined;
struct ElfSym
{
    static Defined* bss;
    static Defined* edata1;
    static Defined* edata2;
    static Defined* end1;
    static Defined* end2;
    static Defined* etext1;
    static Defined* etext2;
    static Defined* globalOffsetTable;
    static Defined* mipsGp;
    static Defined* mipsGpDisp;
    static Defined* mipsLocalGp;
    static Defined* relaIpltEnd;
    static Defined* relaIpltStart;
    static Defined* riscvGlobalPointer;
    static Defined* tlsModuleBase;
};
} // namespace lld::elf

namespace tenon::compiler {
namespace {

// LLD keeps global state: links wait for one another, and after a crash inside it there are no
// more.
constinit std::mutex linkMutex;
constinit bool canLink = true; // guarded by linkMutex

void forgetSymbols()
{
    using Sym = lld::elf::ElfSym;
    for (lld::elf::Defined** symbol :
         {&Sym::bss, &Sym::edata1, &Sym::edata2, &Sym::end1, &Sym::end2, &Sym::etext1, &Sym::etext2,
          &Sym::globalOffsetTable, &Sym::mipsGp, &Sym::mipsGpDisp, &Sym::mipsLocalGp,
          &Sym::relaIpltEnd, &Sym::relaIpltStart, &Sym::riscvGlobalPointer, &Sym::tlsModuleBase})
        *symbol = nullptr;
}

/// The first lines of what LLD said, without its own name in front.
std::string firstErrors(const std::string& text)
{
    std::vector<std::string> lines;
    for (const std::string& line : core::split(text, '\n')) {
        if (lines.size() == 4) break;
        const size_t name = line.find("error: ");
        const std::string_view said = name == std::string::npos
                                          ? std::string_view(line)
                                          : std::string_view(line).substr(name + 7);
        if (!core::trimmed(said).empty()) lines.emplace_back(core::trimmed(said));
    }
    return lines.empty() ? "the linker gave no reason" : core::join(lines, "; ");
}

/// The first argument names the driver: "ld.lld" or "wasm-ld".
core::Status runLinker(const std::vector<std::string>& arguments)
{
    std::vector<const char*> raw;
    for (const std::string& argument : arguments) raw.push_back(argument.c_str());
    const std::lock_guard lock(linkMutex);
    if (!canLink)
        return core::makeError(core::DiagnosticCode::LinkFailure,
                               "the linker crashed before in this process; start it again");
    forgetSymbols();
    std::string said;
    llvm::raw_string_ostream stream(said);
    const lld::Result result = lld::lldMain(
        raw, stream, stream, {{lld::Gnu, &lld::elf::link}, {lld::Wasm, &lld::wasm::link}});
    canLink = result.canRunAgain;
    if (result.retCode == 0) return core::kDone;
    return core::makeError(core::DiagnosticCode::LinkFailure, firstErrors(stream.str()));
}

} // namespace

core::Status link(const LinkJob& job, const std::string& outputPath)
{
    return throughPipe(job.folder, outputPath, [&](const std::string& pipe) {
        std::vector<std::string> arguments = job.arguments;
        arguments.insert(arguments.end(), {"-o", pipe});
        return runLinker(arguments);
    });
}

} // namespace tenon::compiler
