// SPDX-License-Identifier: GPL-3.0-or-later
// Adds up objects, constants, metadata and memory plans of one compile.
#include "app/workbench/footprint_builder.h"

#include "compiler/executor/graph_json.h"
#include "compiler/package/wasm_object.h"
#include "core/artifact/elf_section.h"

#include <QStringList>

#include <set>

namespace tenon::app {

using compiler::CompileResult;
using views::ExecutorFootprint;
using views::FootprintPart;

namespace {

core::Result<int64_t> storedBytes(const std::string& object)
{
    const auto loaded = core::loadedBytes(std::as_bytes(std::span(object.data(), object.size())));
    if (!loaded) return loaded.error();
    return loaded->stored;
}

core::Result<int64_t> kernelBytes(const CompileResult& result)
{
    int64_t total = 0;
    for (const compiler::CompiledKernel& kernel : result.kernels) {
        const auto bytes = storedBytes(*kernel.object);
        if (!bytes) return bytes.error();
        total += *bytes;
    }
    return total;
}

int64_t constantBytes(const CompileResult& result)
{
    int64_t total = 0;
    for (const compiler::ProgramTensor& tensor : result.program.tensors)
        if (tensor.role == compiler::TensorRole::Constant && tensor.viewOf < 0)
            total += tensor.bytes();
    return total;
}

int64_t ioBytes(const CompileResult& result)
{
    int64_t total = 0;
    for (const auto* list : {&result.program.inputs, &result.program.outputs})
        for (const int tensor : *list)
            total += result.program.tensors[static_cast<size_t>(tensor)].bytes();
    return total;
}

/// Storages of the graph executor that hold neither constants nor inputs nor outputs.
int64_t storageBytes(const CompileResult& result, const compiler::StoragePlan& storage)
{
    std::set<int> others;
    for (size_t t = 0; t < result.program.tensors.size(); ++t)
        if (result.program.tensors[t].role != compiler::TensorRole::Intermediate)
            others.insert(storage.storageOf[t]);
    for (const int output : result.program.outputs)
        others.insert(storage.storageOf[static_cast<size_t>(output)]);
    int64_t total = 0;
    for (size_t s = 0; s < storage.bytes.size(); ++s)
        if (!others.contains(static_cast<int>(s))) total += storage.bytes[s];
    return total;
}

int64_t scratchBytes(const CompileResult& result)
{
    int64_t most = 0;
    for (const compiler::ProgramKernel& kernel : result.program.kernels)
        most = std::max(most, kernel.workspaceBytes);
    return most;
}

/// The same parts in the same order for every way of counting.
std::vector<FootprintPart> flashParts(int64_t kernels, int64_t constants, int64_t metadata,
                                      int64_t runtime)
{
    return {{QStringLiteral("kernels"), kernels},
            {QStringLiteral("constants"), constants},
            {QStringLiteral("metadata"), metadata},
            {QStringLiteral("runtime"), runtime}};
}

std::vector<FootprintPart> ramParts(int64_t workspace, int64_t io, int64_t stack, int64_t heap,
                                    int64_t statics)
{
    return {{QStringLiteral("workspace"), workspace},
            {QStringLiteral("inputs, outputs"), io},
            {QStringLiteral("stack"), stack},
            {QStringLiteral("heap"), heap},
            {QStringLiteral("statics"), statics}};
}

ExecutorFootprint footprint(const char* name, int64_t kernels, int64_t constants, int64_t metadata,
                            int64_t workspace, int64_t io)
{
    ExecutorFootprint made;
    made.name = QLatin1String(name);
    made.flash = flashParts(kernels, constants, metadata, FootprintPart::kUnknown);
    made.ram = ramParts(workspace, io, FootprintPart::kUnknown, FootprintPart::kUnknown,
                        FootprintPart::kUnknown);
    return made;
}

/// The graph executor: JSON and glue that checks arguments; unknown where JSON cannot say it.
core::Result<ExecutorFootprint> graphFootprint(const CompileResult& result, int64_t kernels)
{
    const compiler::StoragePlan storage = compiler::planStorage(result.program);
    const auto json = compiler::graphJson(result.program, storage);
    if (!json) {
        ExecutorFootprint none;
        none.name = QStringLiteral("graph");
        none.problem = QString::fromStdString(json.error().message);
        return none;
    }
    const auto glue =
        compiler::emitIrText(compiler::graphGlueText(result.program, storage), result.machine);
    if (!glue) return glue.error();
    const auto glueBytes = storedBytes(*glue);
    if (!glueBytes) return glueBytes.error();
    return footprint("graph", kernels, constantBytes(result),
                     *glueBytes + static_cast<int64_t>(json->size()),
                     storageBytes(result, storage) + scratchBytes(result), ioBytes(result));
}

core::Result<ExecutorFootprint> aotFootprint(const CompileResult& result, int64_t kernels)
{
    const auto glue =
        compiler::emitIrText(compiler::aotGlueText(result.program, result.memory), result.machine);
    if (!glue) return glue.error();
    const auto glueBytes = storedBytes(*glue);
    if (!glueBytes) return glueBytes.error();
    return footprint("aot-packed", kernels, constantBytes(result), *glueBytes,
                     result.memory.workspaceBytes() + scratchBytes(result), ioBytes(result));
}

/// Executors of a target whose objects say nothing about sizes.
views::Footprint uncounted(const CompileResult& result, const QString& reason)
{
    views::Footprint made;
    made.target = QString::fromStdString(result.target.text());
    for (const char* name : {"graph", "aot-packed", "aot-c"}) {
        ExecutorFootprint none;
        none.name = QLatin1String(name);
        none.problem = reason;
        made.executors.push_back(std::move(none));
    }
    made.method = QStringLiteral("Nothing is counted yet.");
    made.exclusions = QStringLiteral("All of it.");
    return made;
}

} // namespace

core::Result<views::Footprint> estimateFootprint(const CompileResult& result)
{
    if (result.machine.isSource())
        return uncounted(result, QStringLiteral("C source has no size before it is compiled; link "
                                                "and measure images"));
    if (compiler::isWasm(result.machine.triple))
        return uncounted(result, QStringLiteral("a WebAssembly module's memory is counted by its "
                                                "engine"));
    const auto kernels = kernelBytes(result);
    if (!kernels) return kernels.error();
    const auto graph = graphFootprint(result, *kernels);
    if (!graph) return graph.error();
    const auto aot = aotFootprint(result, *kernels);
    if (!aot) return aot.error();
    views::Footprint made;
    made.target = QString::fromStdString(result.target.text());
    made.executors = {*graph, *aot};
    made.method = QStringLiteral(
        "Estimated from this compile: allocated sections of the kernels' and the glue's objects, "
        "the graph's JSON, the constants, the planner's arena or the graph executor's storages "
        "with the largest scratch of one kernel, and the declared inputs and outputs.");
    made.exclusions = QStringLiteral("Runtime, stack, heap and statics: only a linked image shows "
                                     "them, so the totals are lower limits. "
                                     "Debug information and symbol tables never reach the target.");
    return made;
}

views::Footprint measuredFootprint(const std::vector<remote::ExecutorFootprint>& measured,
                                   const std::string& target)
{
    views::Footprint made;
    made.target = QString::fromStdString(target);
    QStringList methods;
    for (const remote::ExecutorFootprint& executor : measured) {
        ExecutorFootprint shown;
        shown.name = QString::fromStdString(executor.executor);
        shown.problem = QString::fromStdString(executor.notMeasured);
        shown.isExact = executor.notMeasured.empty();
        const auto& flash = executor.flash;
        const auto& ram = executor.ram;
        shown.flash = flashParts(flash.kernels, flash.constants, flash.metadata, flash.runtime);
        shown.ram = ramParts(ram.workspace, ram.io, ram.stack, ram.heap, ram.statics);
        const QString method = QString::fromStdString(executor.method);
        if (!method.isEmpty() && !methods.contains(method)) methods << method;
        made.executors.push_back(std::move(shown));
    }
    made.method = methods.join(QLatin1Char('\n'));
    made.exclusions =
        QStringLiteral("Debug information and symbol tables never reach the target. Parts that a "
                       "target does not let one measure are shown as not known.");
    return made;
}

} // namespace tenon::app
