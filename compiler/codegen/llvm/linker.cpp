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

// LLD 19 forgets what it knew of a link but for these: the next one that does not make all of them
// anew, of a single object, would take freed symbols for its own and write into them. lld/ELF/
// Symbols.h and lld/wasm/Symbols.h, which are not installed, declare them; `Symbol` stands for the
// kinds of WebAssembly's symbols, which do not matter here.
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

namespace lld::wasm {
class Symbol;
struct WasmSym
{
    static Symbol* applyDataRelocs;
    static Symbol* applyGlobalRelocs;
    static Symbol* applyGlobalTLSRelocs;
    static Symbol* applyTLSRelocs;
    static Symbol* callCtors;
    static Symbol* callDtors;
    static Symbol* dataEnd;
    static Symbol* definedMemoryBase;
    static Symbol* definedTableBase;
    static Symbol* dsoHandle;
    static Symbol* globalBase;
    static Symbol* heapBase;
    static Symbol* heapEnd;
    static Symbol* indirectFunctionTable;
    static Symbol* initMemory;
    static Symbol* initMemoryFlag;
    static Symbol* initTLS;
    static Symbol* memoryBase;
    static Symbol* stackHigh;
    static Symbol* stackLow;
    static Symbol* stackPointer;
    static Symbol* startFunction;
    static Symbol* tableBase;
    static Symbol* tlsAlign;
    static Symbol* tlsBase;
    static Symbol* tlsSize;
};
} // namespace lld::wasm

namespace tenon::compiler {
namespace {

// LLD keeps global state: links wait for one another, and after a crash inside it there are no
// more.
constinit std::mutex linkMutex;
constinit bool canLink = true; // guarded by linkMutex

void forgetElfSymbols()
{
    using Sym = lld::elf::ElfSym;
    for (lld::elf::Defined** symbol :
         {&Sym::bss, &Sym::edata1, &Sym::edata2, &Sym::end1, &Sym::end2, &Sym::etext1, &Sym::etext2,
          &Sym::globalOffsetTable, &Sym::mipsGp, &Sym::mipsGpDisp, &Sym::mipsLocalGp,
          &Sym::relaIpltEnd, &Sym::relaIpltStart, &Sym::riscvGlobalPointer, &Sym::tlsModuleBase})
        *symbol = nullptr;
}

void forgetWasmSymbols()
{
    using Sym = lld::wasm::WasmSym;
    for (lld::wasm::Symbol** symbol : {&Sym::applyDataRelocs,
                                       &Sym::applyGlobalRelocs,
                                       &Sym::applyGlobalTLSRelocs,
                                       &Sym::applyTLSRelocs,
                                       &Sym::callCtors,
                                       &Sym::callDtors,
                                       &Sym::dataEnd,
                                       &Sym::definedMemoryBase,
                                       &Sym::definedTableBase,
                                       &Sym::dsoHandle,
                                       &Sym::globalBase,
                                       &Sym::heapBase,
                                       &Sym::heapEnd,
                                       &Sym::indirectFunctionTable,
                                       &Sym::initMemory,
                                       &Sym::initMemoryFlag,
                                       &Sym::initTLS,
                                       &Sym::memoryBase,
                                       &Sym::stackHigh,
                                       &Sym::stackLow,
                                       &Sym::stackPointer,
                                       &Sym::startFunction,
                                       &Sym::tableBase,
                                       &Sym::tlsAlign,
                                       &Sym::tlsBase,
                                       &Sym::tlsSize})
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
    forgetElfSymbols();
    forgetWasmSymbols();
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
