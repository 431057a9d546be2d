// SPDX-License-Identifier: GPL-3.0-or-later
// What remote counts and measures, as parts in one order.
#include "app/engine/footprint_builder.h"

#include "views/models/format.h"

#include <QStringList>

namespace tenon::app {

using compiler::CompileResult;
using views::ExecutorFootprint;
using views::FootprintPart;

namespace {

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

/// As the window calls them.
QString nameOf(const std::string& executor)
{
    if (executor == "graph") return QStringLiteral("Graph");
    if (executor == "aot-packed") return QStringLiteral("AOT");
    if (executor == "aot-c") return QStringLiteral("AOT in C");
    return QString::fromStdString(executor);
}

/// A part that is not known stays that.
ExecutorFootprint shownOf(const remote::ExecutorFootprint& executor)
{
    const auto& flash = executor.flash;
    const auto& ram = executor.ram;
    ExecutorFootprint shown;
    shown.name = nameOf(executor.executor);
    shown.problem = QString::fromStdString(executor.notMeasured);
    shown.flash = flashParts(flash.kernels, flash.constants, flash.metadata, flash.runtime);
    shown.ram = ramParts(ram.workspace, ram.io, ram.stack, ram.heap, ram.statics);
    return shown;
}

/// What the heap is made of, largest first; empty where nobody counted that.
QString heapText(const remote::ExecutorFootprint& executor)
{
    QStringList uses;
    for (const remote::HeapUse& use : executor.heapUses)
        uses << QStringLiteral("%1 %2 B in %3")
                    .arg(QString::fromStdString(use.what), views::countText(use.bytes),
                         views::countOf(use.blocks, QStringLiteral("block")));
    return uses.isEmpty() ? QString()
                          : QStringLiteral("Heap of %1: %2.")
                                .arg(nameOf(executor.executor), uses.join(QStringLiteral(", ")));
}

/// Executors of a target whose objects say nothing about sizes.
views::Footprint uncounted(const CompileResult& result, const QString& reason)
{
    views::Footprint made;
    made.target = QString::fromStdString(result.target.text());
    for (const char* name : {"graph", "aot-packed", "aot-c"}) {
        ExecutorFootprint none;
        none.name = nameOf(name);
        none.problem = reason;
        made.executors.push_back(std::move(none));
    }
    made.method = QStringLiteral("Nothing is counted yet.");
    made.exclusions = QStringLiteral("All of it.");
    return made;
}

} // namespace

core::Result<views::Footprint> estimateFootprint(const compiler::CompileResultPtr& result,
                                                 core::JobContext& job)
{
    if (result->machine.backEnd->sources)
        return uncounted(*result, QStringLiteral("C source has no size before it is compiled; link "
                                                 "and measure images"));
    const auto counted = remote::countFootprint(result, job);
    if (!counted) return counted.error();
    views::Footprint made;
    made.target = QString::fromStdString(result->target.text());
    for (const remote::ExecutorFootprint& executor : *counted)
        made.executors.push_back(shownOf(executor));
    made.method = QStringLiteral(
        "Counted on the linked library: code, constants and metadata by section, the planner's "
        "arena or the graph executor's storages with the largest scratch of one kernel, and the "
        "declared inputs and outputs.");
    made.exclusions = QStringLiteral("Runtime, stack, heap and statics: only a run shows them, so "
                                     "the totals are lower limits. "
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
        ExecutorFootprint shown = shownOf(executor);
        shown.isExact = executor.notMeasured.empty();
        const QString method = QString::fromStdString(executor.method);
        if (!method.isEmpty() && !methods.contains(method)) methods << method;
        made.executors.push_back(std::move(shown));
    }
    for (const remote::ExecutorFootprint& executor : measured) methods << heapText(executor);
    methods.removeAll(QString());
    made.method = methods.join(QLatin1Char('\n'));
    made.exclusions =
        QStringLiteral("Debug information and symbol tables never reach the target. Parts that a "
                       "target does not let one measure are shown as not known.");
    return made;
}

} // namespace tenon::app
