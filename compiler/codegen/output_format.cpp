// SPDX-License-Identifier: Apache-2.0
// The table of formats: suffix, name, and what can be run.
#include "compiler/codegen/output_format.h"

#include "core/base/text.h"

#include <iterator>

namespace tenon::compiler {
namespace {

struct Row
{
    OutputFormat format;
    std::string_view suffix;
    std::string_view name;
    bool standsAlone = false;
};

constexpr Row kRows[] = {
    {OutputFormat::SharedLibrary, ".so", "shared library"},
    {OutputFormat::Object, ".o", "object"},
    {OutputFormat::Tar, ".tar", "archive"},
    {OutputFormat::ModelLibrary, ".mlf.tar", "Model Library Format archive"},
    {OutputFormat::WasmModule, ".wasm", "WebAssembly module", true},
    {OutputFormat::Program, ".elf", "program", true},
    {OutputFormat::Folder, "", "folder"},
};

const Row& rowOf(OutputFormat format) { return kRows[static_cast<size_t>(format)]; }

} // namespace

core::Result<OutputFormat> outputFormatOf(const std::string& path)
{
    const Row* best = nullptr; // the longest suffix
    for (const Row& row : kRows)
        if (!row.suffix.empty() && path.ends_with(row.suffix) &&
            (!best || row.suffix.size() > best->suffix.size()))
            best = &row;
    if (best) return best->format;
    return core::makeError(core::DiagnosticCode::BadArgument,
                           "cannot tell the format of " + core::quoted(path) +
                               "; end it in .so, .o, .tar, .mlf.tar, .wasm or .elf",
                           {.file = path});
}

std::string_view suffixOf(OutputFormat format) { return rowOf(format).suffix; }

std::string_view formatName(OutputFormat format) { return rowOf(format).name; }

bool isRunnable(OutputFormat format)
{
    return format == OutputFormat::SharedLibrary || standsAlone(format);
}

bool standsAlone(OutputFormat format) { return rowOf(format).standsAlone; }

} // namespace tenon::compiler
