// SPDX-License-Identifier: Apache-2.0
// tenon footprint: flash and RAM of a model, executor by executor.
#include "app/cli/board_access.h"
#include "app/cli/command.h"
#include "app/cli/fit_report.h"
#include "app/cli/open_for_build.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/frontend/importer.h"
#include "core/base/text.h"
#include "remote/board/profile.h"
#include "remote/footprint/footprint.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tenon::cli {
namespace {

struct FootprintOptions
{
    CommonOptions common;
    std::string model;
    std::string executors = "graph,aot-packed,aot-c";
    BoardOptions where;
};

Json footprintJson(const remote::ExecutorFootprint& one)
{
    if (!one.notMeasured.empty())
        return {{"name", one.executor}, {"not_measured", one.notMeasured}};
    const auto known = [](int64_t bytes) { return bytes < 0 ? Json() : Json(bytes); };
    Json heap = Json::array();
    for (const remote::HeapUse& use : one.heapUses)
        heap.push_back({{"what", use.what}, {"bytes", use.bytes}, {"blocks", use.blocks}});
    return {{"name", one.executor},
            {"heap_uses", std::move(heap)},
            {"flash",
             {{"kernels", one.flash.kernels},
              {"constants", one.flash.constants},
              {"metadata", one.flash.metadata},
              {"runtime", one.flash.runtime},
              {"total", one.flash.total()}}},
            {"ram",
             {{"workspace", one.ram.workspace},
              {"io", one.ram.io},
              {"statics", one.ram.statics},
              {"stack", known(one.ram.stack)},
              {"heap", known(one.ram.heap)},
              {"total", one.ram.total()}}},
            {"planned_workspace", one.plannedBytes},
            {"method", one.method}};
}

/// What an executor takes more (or less) than the first one, part by part.
std::vector<std::string> differenceRow(const remote::ExecutorFootprint& one,
                                       const remote::ExecutorFootprint& first)
{
    std::vector<std::string> row{one.executor + " - " + first.executor};
    const auto add = [&](int64_t mine, int64_t theirs) {
        if (mine < 0 || theirs < 0) return row.emplace_back("-");
        return row.emplace_back((mine > theirs ? "+" : "") + std::to_string(mine - theirs));
    };
    for (int64_t remote::FlashBytes::*part :
         {&remote::FlashBytes::kernels, &remote::FlashBytes::constants,
          &remote::FlashBytes::metadata, &remote::FlashBytes::runtime})
        add(one.flash.*part, first.flash.*part);
    add(one.flash.total(), first.flash.total());
    for (int64_t remote::RamBytes::*part :
         {&remote::RamBytes::workspace, &remote::RamBytes::io, &remote::RamBytes::statics,
          &remote::RamBytes::stack, &remote::RamBytes::heap})
        add(one.ram.*part, first.ram.*part);
    add(one.ram.total(), first.ram.total());
    return row;
}

std::string footprintText(const std::vector<remote::ExecutorFootprint>& all)
{
    std::vector<std::vector<std::string>> rows{{"executor", "kernels", "constants", "metadata",
                                                "runtime", "flash", "workspace", "in/out",
                                                "statics", "stack", "heap", "RAM"}};
    std::vector<std::vector<std::string>> heaps{{"heap of", "bytes", "blocks", "taken for"}};
    std::string notes;
    std::vector<std::string> methods;
    const auto text = [](int64_t bytes) { return bytes < 0 ? "-" : std::to_string(bytes); };
    for (const remote::ExecutorFootprint& one : all) {
        if (!one.notMeasured.empty()) {
            notes += one.executor + ": " + one.notMeasured + "\n";
            continue;
        }
        rows.push_back({one.executor, text(one.flash.kernels), text(one.flash.constants),
                        text(one.flash.metadata), text(one.flash.runtime), text(one.flash.total()),
                        text(one.ram.workspace), text(one.ram.io), text(one.ram.statics),
                        text(one.ram.stack), text(one.ram.heap), text(one.ram.total())});
        for (const remote::HeapUse& use : one.heapUses)
            heaps.push_back(
                {one.executor, std::to_string(use.bytes), std::to_string(use.blocks), use.what});
        if (std::find(methods.begin(), methods.end(), one.method) == methods.end())
            methods.push_back(one.method);
    }
    const auto isMeasured = [](const auto& each) { return each.notMeasured.empty(); };
    const auto first = std::find_if(all.begin(), all.end(), isMeasured);
    for (auto other = first; other != all.end(); ++other)
        if (other != first && isMeasured(*other)) rows.push_back(differenceRow(*other, *first));
    for (const std::string& method : methods) notes += "bytes; " + method + "\n";
    return table(rows) + (heaps.size() > 1 ? "\n" + table(heaps) + "\n" : "") + notes;
}

/// What the board has, as it was described or as its kind has it. Error BadArgument for a board
/// with an operating system, whose storage is no budget.
Result<remote::BoardBudget> budgetOf(const remote::Board& board)
{
    remote::BoardBudget out{board.name, board.flashBytes, board.ramBytes};
    if (const auto profile = remote::findProfile(board.profile);
        !board.profile.empty() && profile) {
        if (out.flashBytes == 0) out.flashBytes = profile->flashBytes;
        if (out.ramBytes == 0) out.ramBytes = profile->ramBytes;
    }
    if (out.flashBytes > 0 || out.ramBytes > 0) return out;
    return makeError(DiagnosticCode::BadArgument,
                     "of the board " + core::quoted(board.name) +
                         " no budget of flash and RAM is known; add it with --profile, or with "
                         "--flash-size and --ram-size");
}

/// With images of the executors where they fit at all; what cannot fit is said before anything is
/// linked.
int fitOnBoard(FootprintOptions options, JobContext& job)
{
    const auto board = chosenBoard(options.where);
    if (!board) return failure(board.error());
    const auto budget = budgetOf(*board);
    if (!budget) return failure(budget.error());
    if (options.common.target == CommonOptions().target) options.common.target = board->target;
    auto opened = openForBuild(options.model, options.common);
    if (!opened) return failure(opened.error());
    for (const Diagnostic& d : opened->loaded->diagnostics)
        if (d.severity != Severity::Error) printDiagnostic(d);
    const auto compiled = compileOpened(opened->loaded, compileOptions(options.common), job);
    if (!compiled) return failure(compiled.error());
    std::vector<remote::ExecutorFootprint> measured;
    if (remote::plannedFit(**compiled, *budget).fits()) {
        remote::FootprintRequest request;
        request.loaded = opened->loaded;
        request.options = compileOptions(options.common);
        request.executors = split(options.executors, ',');
        auto images = remote::measureFootprint(request, job);
        if (!images) return failure(images.error());
        measured = std::move(*images);
    }
    const auto aot = std::find_if(measured.begin(), measured.end(), [](const auto& each) {
        return each.executor == "aot-c" && each.notMeasured.empty();
    });
    const auto fit =
        remote::explainFit(*compiled, *budget, aot == measured.end() ? nullptr : &*aot, job);
    if (!fit) return failure(fit.error());
    if (options.common.json) {
        Json list = Json::array();
        for (const remote::ExecutorFootprint& one : measured) list.push_back(footprintJson(one));
        printJson({{"target", options.common.target},
                   {"executors", std::move(list)},
                   {"fit", fitJson(*fit)}});
    } else {
        print(fitText(*fit) + (measured.empty() ? "" : "\n" + footprintText(measured)));
    }
    return fit->fits() ? kSuccess : kFailed;
}

int footprint(const FootprintOptions& options, JobContext& job)
{
    if (!options.where.board.empty()) return fitOnBoard(options, job);
    auto opened = openForBuild(options.model, options.common);
    if (!opened) return failure(opened.error());
    for (const Diagnostic& d : opened->loaded->diagnostics)
        if (d.severity != Severity::Error) printDiagnostic(d);
    remote::FootprintRequest request;
    request.loaded = opened->loaded;
    request.options = compileOptions(options.common);
    printDiagnostics(compiler::optionRemarks(request.options));
    request.executors = split(options.executors, ',');
    const auto measured = remote::measureFootprint(request, job);
    if (!measured) return failure(measured.error());
    if (!options.common.json) {
        print(footprintText(*measured));
        return kSuccess;
    }
    Json list = Json::array();
    for (const remote::ExecutorFootprint& one : *measured) list.push_back(footprintJson(one));
    printJson({{"target", options.common.target}, {"executors", std::move(list)}});
    return kSuccess;
}

} // namespace

void addFootprint(CLI::App& app, Action& action)
{
    auto options = std::make_shared<FootprintOptions>();
    CLI::App* command =
        app.add_subcommand("footprint", "link a model's executors and measure flash and RAM");
    command->add_option("MODEL", options->model, compiler::modelFilesText())->required();
    addCompileOptions(*command, options->common);
    command->add_option("--executors", options->executors, "of graph, aot-packed, aot-c")
        ->capture_default_str();
    command->add_option("--board", options->where.board,
                        "does it fit this board, and why: flash by layer, memory by pool, what is "
                        "alive at the peak, remedies with what they save");
    addConfigOptions(*command, options->where);
    command->callback([options, &action] {
        action = [options](JobContext& job) { return footprint(*options, job); };
    });
}

} // namespace tenon::cli
