// SPDX-License-Identifier: Apache-2.0
// builtins.ll: in LLVM's IR, from integers; a Hexagon has no instruction for any of these. A
// binary64 number is worked on as sign, biased exponent and a fraction whose first bit is 52, also
// for subnormals. Results are rounded from a fraction whose first bit is 62 and whose last one
// stands for everything behind it.
#include "compiler/codegen/hexagon/hexagon_builtins.h"

#include "compiler/codegen/hexagon/texts.h"
#include "core/base/check.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>

namespace tenon::compiler {
void addHexagonBuiltins(llvm::Module& module)
{
    llvm::SMDiagnostic problem;
    std::unique_ptr<llvm::Module> added =
        llvm::parseAssemblyString(kBuiltins, problem, module.getContext());
    CHECK(added) << "line " << problem.getLineNo() << ": " << problem.getMessage().str();
    added->setTargetTriple(module.getTargetTriple());
    added->setDataLayout(module.getDataLayout());
    CHECK(!llvm::Linker::linkModules(module, std::move(added))) << "two of a name";
}

} // namespace tenon::compiler
