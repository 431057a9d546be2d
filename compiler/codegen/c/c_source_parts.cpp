// SPDX-License-Identifier: Apache-2.0
// What the sources of both executors have in common.
#include "compiler/codegen/c/c_sources.h"
#include "compiler/codegen/c/c_text.h"
#include "core/base/text.h"

namespace tenon::compiler {

std::string cFileHead(const CProgram& source)
{
    return "/* SPDX-License-Identifier: MIT-0 */\n/* " + core::replaced(source.title, "*/", "* /") +
           " */\n";
}

std::string cPlacedMacro()
{
    return "#if defined(__GNUC__) && defined(__ELF__)\n"
           "#define TVMGEN_PLACED(section_name, alignment) \\\n"
           "    __attribute__((section(section_name), aligned(alignment)))\n"
           "#else\n#define TVMGEN_PLACED(section_name, alignment)\n#endif\n\n";
}

std::string cKernelText(const CProgram& source, size_t kernel)
{
    const ProgramKernel& described = source.program.kernels[kernel];
    return core::replaced(source.kernels[kernel], described.symbol,
                          cIdentifier(described.function));
}

std::string cMemberName(const std::string& tensor) { return cIdentifier(tensor); }

std::string cWorkspaceSymbol(const ExecutorProgram& program)
{
    return "tvmgen_" + cName(program.moduleName) + "_workspace";
}

} // namespace tenon::compiler
