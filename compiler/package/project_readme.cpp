// SPDX-License-Identifier: Apache-2.0
// The model's tensors as a table, the commands as a list.
#include "compiler/package/project_readme.h"

namespace tenon::compiler {
namespace {

std::string sizesOf(const core::ManifestTensor& tensor)
{
    std::string out;
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
        if (d > 0) out += " x ";
        out += tensor.dims.empty() ? std::to_string(tensor.shape[d]) : tensor.dims[d];
    }
    return out.empty() ? "one value" : out;
}

std::string rowsOf(std::string_view kind, const std::vector<core::ManifestTensor>& tensors,
                   const RealValues& reals)
{
    std::string out;
    for (const core::ManifestTensor& tensor : tensors) {
        out += "| " + std::string(kind) + " | `" + tensor.name + "` | " + tensor.dtype + " | " +
               sizesOf(tensor) + " |";
        const auto real = reals.find(tensor.name);
        if (!reals.empty()) out += " " + (real == reals.end() ? "" : real->second) + " |";
        out += "\n";
    }
    return out;
}

std::string tableOf(const core::Manifest& manifest, const RealValues& reals)
{
    std::string out = reals.empty()
                          ? "| | name | type | size |\n|---|---|---|---|\n"
                          : "| | name | type | size | real value |\n|---|---|---|---|---|\n";
    out += rowsOf("input", manifest.inputs, reals) + rowsOf("output", manifest.outputs, reals);
    if (!reals.empty())
        out += "\nA real value is (integer - zero point) * scale; to feed one, "
               "round(real / scale) + zero point is the integer.\n";
    return out;
}

/// Programs and who has them, each source once.
std::string toolsOf(std::span<const ProjectTool> tools)
{
    std::string out;
    for (size_t i = 0; i < tools.size(); ++i) {
        if (i > 0) out += ", ";
        out += "`" + std::string(tools[i].program) + "`";
        if (i + 1 == tools.size() || tools[i + 1].from != tools[i].from)
            out += " (" + std::string(tools[i].from) + ")";
    }
    return out;
}

std::string commandsOf(const ProjectTemplate& project)
{
    std::string out = "- `make` builds it. Needs " + toolsOf(project.buildTools) + ".\n";
    out += "- `make run` starts it";
    if (!project.runTools.empty()) out += "; needs " + toolsOf(project.runTools);
    out += ". `make flash` writes it to a board, where there is one.\n";
    if (project.feedsFiles)
        out +=
            "  It prints the outputs; their bytes are in `build/output`, one output after the "
            "other. The inputs are zeros at first.\n"
            "- `make run INPUTS=\"a.bin b.bin\"` takes yours: a file for each input in the order "
            "of the table, its elements row by row,\n"
            "  the low byte first, without a header, as NumPy's `array.tofile(\"a.bin\")` writes "
            "them.\n"
            "- `tenon project run FOLDER --inputs DATA` feeds it .npy, .npz or .pb files and reads "
            "the outputs.\n";
    if (project.serves)
        out += "- `make server` builds a server of the model for a line of bytes, such as a UART; "
               "`tenon project run FOLDER --serial PORT` drives it.\n";
    return out;
}

} // namespace

std::string readmeText(const ProjectTemplate& project, const core::Manifest& manifest,
                       const RealValues& reals)
{
    std::string out =
        "# " + manifest.modelName + "\n\nA project of the template `" + std::string(project.name) +
        "`: " + std::string(project.title) + ". Compiled by Tenon " + manifest.toolVersion +
        " for `" + manifest.target + "`, executor `" + manifest.executor +
        "`:\n\n    tenon project create MODEL FOLDER --template " + std::string(project.name) +
        " --target '" + manifest.target + "' --executor " + manifest.executor + "\n\n";
    out += tableOf(manifest, reals) + "\n## What to do\n\n" + commandsOf(project);
    if (!project.notes.empty()) out += "\n" + std::string(project.notes);
    out += "\n## What is here\n\n"
           "- `Makefile`: change it as you like.\n"
           "- `model`: the model in the Model Library Format; `model.tar` is the same as an "
           "archive.\n";
    if (!project.library.empty())
        out += "- `" + std::string(project.library) + "`: its C files as a library.\n";
    out += "- `project.json`: template, target and kernels.\n\n"
           "What belongs to the model (`model`, `model.tar`, `main.c` and what else is generated) "
           "is replaced as a whole\nwhen the project is made of another model.\n";
    return out;
}

} // namespace tenon::compiler
