// SPDX-License-Identifier: Apache-2.0
// LLD's arguments for shared libraries, relocatable objects and programs.
#include "compiler/codegen/llvm/elf_link.h"

#include "compiler/codegen/llvm/elf_object.h"
#include "core/base/text.h"

#include <fstream>

namespace tenon::compiler {
namespace {

core::Result<std::string> emulation(const std::string& triple)
{
    const core::Result<ElfMachine> machine = ElfMachine::of(triple);
    if (!machine) return machine.error();
    switch (machine->machine) {
    case 183: return std::string("aarch64linux");
    case 243: return std::string("elf64lriscv");
    case 40: return std::string("armelf_linux_eabi");
    case 164: return std::string("hexagonelf");
    case 3: return std::string("elf_i386");
    default: return std::string("elf_x86_64");
    }
}

/// A script that exports these names and hides all others.
std::string versionScript(const std::vector<std::string>& exports)
{
    std::string text = "{\n";
    if (!exports.empty()) text += "  global:\n";
    for (const std::string& name : exports) text += "    \"" + name + "\";\n";
    return text + "  local: *;\n};\n";
}

core::Result<LinkJob> relocatableLinkJob(const LinkPlan& plan, const std::string& machine)
{
    LinkJob job{{"ld.lld", "-r", "-m", machine}, plan.folder};
    job.arguments.insert(job.arguments.end(), plan.objects.begin(), plan.objects.end());
    return job;
}

void addNamed(const LinkPlan& plan, LinkJob& job)
{
    for (const auto& [alias, symbol] : plan.aliases)
        job.arguments.push_back("--defsym=" + alias + "=" + symbol);
    job.arguments.insert(job.arguments.end(), plan.objects.begin(), plan.objects.end());
}

} // namespace

core::Result<LinkJob> programLinkJob(const LinkPlan& plan, const std::string& entry)
{
    const core::Result<std::string> machine = emulation(plan.triple);
    if (!machine) return machine.error();
    LinkJob job{{"ld.lld", "-static", "-m", *machine, "--entry=" + entry, "--no-undefined",
                 "--gc-sections", "--build-id=none", "-znoexecstack"},
                plan.folder};
    for (const std::string& name : plan.exports) job.arguments.push_back("--undefined=" + name);
    addNamed(plan, job);
    return job;
}

core::Result<LinkJob> elfLinkJob(const LinkPlan& plan, OutputFormat format)
{
    const core::Result<std::string> machine = emulation(plan.triple);
    if (!machine) return machine.error();
    if (format == OutputFormat::Object) return relocatableLinkJob(plan, *machine);
    const std::string script = plan.folder + "/exports.version";
    std::ofstream scriptFile(script, std::ios::binary);
    scriptFile << versionScript(plan.exports);
    scriptFile.close();
    if (!scriptFile)
        return core::makeError(core::DiagnosticCode::IoFailure,
                               "cannot write " + core::quoted(script));
    LinkJob job{{
                    "ld.lld", "-shared",
                    "--threads=1", // little is left to do: weights do not pass through here
                    "-m", *machine, "--version-script=" + script, "--no-undefined", "--gc-sections",
                    "--build-id=none",
                    "--hash-style=both", // the RPC server's loader reads the plain table
                    "-Bsymbolic", "-znow", "-znoexecstack",
                    "-zmax-page-size=65536", // boards with 64 KiB pages must be able to map it
                },
                plan.folder};
    addNamed(plan, job);
    return job;
}

} // namespace tenon::compiler
