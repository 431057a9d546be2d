// SPDX-License-Identifier: Apache-2.0
// tenon footprint: flash and RAM of a model, executor by executor.
#include "app/cli/command.h"
#include "app/cli/open_for_build.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/frontend/importer.h"
#include "core/base/text.h"
#include "remote/footprint/footprint.h"

#include <algorithm>

namespace tenon::cli {
namespace {

struct FootprintOptions
{
    CommonOptions common;
    std::string model;
    std::string executors = "graph,aot-packed,aot-c";
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
    for (const std::string& method : methods) notes += "bytes; " + method + "\n";
    return table(rows) + (heaps.size() > 1 ? "\n" + table(heaps) + "\n" : "") + notes;
}

int footprint(const FootprintOptions& options, JobContext& job)
{
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
    command->callback([options, &action] {
        action = [options](JobContext& job) { return footprint(*options, job); };
    });
}

} // namespace tenon::cli
