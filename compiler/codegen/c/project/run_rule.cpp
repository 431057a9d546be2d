// SPDX-License-Identifier: Apache-2.0
// `make run` of projects that feed a program from files: inputs before it, outputs behind it.
#include "compiler/codegen/c/project/templates.h"
#include "compiler/executor/program.h"
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace tenon::compiler {
namespace {

/// Longer outputs are shown up to here.
constexpr int64_t kShownElements = 256;

/// Of `od`: how it shows such elements.
std::string formOf(core::DataType dtype)
{
    const std::string bytes = std::to_string(dtype.bytes());
    if (dtype.isBool()) return "u1";
    if (dtype.kind == core::DtypeKind::Float && dtype.bits >= 32) return "f" + bytes;
    if (dtype.isInt()) return (dtype.isSigned() ? "d" : "u") + bytes;
    return "x" + bytes; // half floats: their bits
}

/// A name as an echo in a Makefile takes it between single quotes.
std::string echoed(std::string name)
{
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("_-.:/ ", c)) c = '_';
    return name;
}

std::string typeText(const ProgramTensor& tensor)
{
    return tensor.dtype.text() + ", " +
           (tensor.shape.empty() ? "one value" : core::join(tensor.shape, " x "));
}

std::string shownOutput(const SourceProgram& source, size_t index, int64_t offset)
{
    const ProgramTensor& tensor =
        source.program.tensors[static_cast<size_t>(source.program.outputs[index])];
    const int64_t all = tensor.bytes() / tensor.dtype.bytes();
    const int64_t shown = std::min(all, kShownElements);
    std::string out =
        "\t@echo 'output " + echoed(source.program.outputNames[index]) + ", " + typeText(tensor);
    if (shown < all) out += ", the first " + std::to_string(shown) + " values";
    return out + ":'; od -An -v -t" + formOf(tensor.dtype) + " -j" + std::to_string(offset) +
           " -N" + std::to_string(shown * tensor.dtype.bytes()) + " build/output\n";
}

} // namespace

std::string runRule(const SourceProgram& source, const std::string& program,
                    const std::string& command)
{
    const auto bytesOf = [&](const std::vector<int>& tensors) {
        int64_t bytes = 0;
        for (const int tensor : tensors)
            bytes += source.program.tensors[static_cast<size_t>(tensor)].bytes();
        return bytes;
    };
    const std::string bytes = std::to_string(bytesOf(source.program.inputs));
    std::string out =
        "# Prints the outputs, whose bytes are in build/output. make run INPUTS=\"a.bin b.bin\" "
        "takes "
        "the\n# bytes of these files, one for each input; without it the inputs stay what they "
        "were, "
        "at first zeros.\n"
        "# build/request holds three int32 (1, 0, 0: one inference, nothing measured) and the "
        "inputs.\n"
        "INPUTS :=\n"
        "run: " +
        program +
        "\n\t@if [ -n '$(INPUTS)' ]; then cat $(INPUTS) >build/inputs || exit 1; \\\n"
        "\telif [ ! -e build/request ]; then echo 'the inputs are zeros: make run "
        "INPUTS=\"a.bin ...\" takes yours'; \\\n"
        "\t    head -c " +
        bytes +
        " /dev/zero >build/inputs; fi\n"
        "\t@if [ -e build/inputs ]; then have=$$(wc -c <build/inputs); \\\n"
        "\t    if [ \"$$have\" -ne " +
        bytes + " ]; then echo \"INPUTS have $$have bytes; the model takes " + bytes +
        "\" >&2; rm build/inputs; exit 1; fi; \\\n"
        "\t    { printf '\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000'; cat "
        "build/inputs; } >build/request; \\\n"
        "\t    rm build/inputs; fi\n"
        "\tcd build && " +
        command + "\n";
    int64_t offset = 0;
    for (size_t i = 0; i < source.program.outputs.size(); ++i) {
        out += shownOutput(source, i, offset);
        offset += bytesOf({source.program.outputs[i]});
    }
    return out + "\n";
}

} // namespace tenon::compiler
