// SPDX-License-Identifier: GPL-3.0-or-later
// Copies plan, lifetimes and readers out of the program; runs the planners side by side.
#include "app/engine/memory_builder.h"

#include "app/engine/qt_text.h"
#include "app/engine/shown_names.h"
#include "compiler/memory/live_bytes.h"
#include "compiler/memory/pools.h"
#include "compiler/package/package.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::app {

using compiler::ExecutorProgram;
using compiler::ProgramMemory;

namespace {

QString typeOf(const compiler::ProgramTensor& tensor)
{
    return text(tensor.dtype.text() + " [" + core::join(tensor.shape, ", ") + "]");
}

/// Marks who writes and reads each buffer, in the order of the calls.
void addReaders(const ExecutorProgram& program, const ProgramMemory& memory,
                std::vector<views::PlannedBuffer>& buffers)
{
    for (size_t c = 0; c < program.calls.size(); ++c) {
        const compiler::KernelCall& call = program.calls[c];
        const size_t inputs = call.arguments.size() - static_cast<size_t>(call.outputCount);
        for (size_t a = 0; a < call.arguments.size(); ++a) {
            const int buffer = memory.bufferOf[static_cast<size_t>(call.arguments[a])];
            if (buffer < 0) continue;
            views::PlannedBuffer& shown = buffers[static_cast<size_t>(buffer)];
            const int index = static_cast<int>(c);
            if (a >= inputs && shown.writer < 0) shown.writer = index;
            if (a < inputs && (shown.readers.empty() || shown.readers.back() != index))
                shown.readers.push_back(index);
        }
    }
    for (const int output : program.outputs)
        if (const int buffer = memory.bufferOf[static_cast<size_t>(output)]; buffer >= 0)
            buffers[static_cast<size_t>(buffer)].isOutput = true;
}

void addBuffers(const ExecutorProgram& program, const ProgramMemory& memory,
                views::MemoryPlan& plan)
{
    for (size_t i = 0; i < memory.problem.buffers.size(); ++i) {
        const compiler::BufferInfo& buffer = memory.problem.buffers[i];
        views::PlannedBuffer shown;
        shown.name = text(shownName(buffer.name));
        if (const int tensor = memory.tensorOf[i]; tensor >= 0)
            shown.type = typeOf(program.tensors[static_cast<size_t>(tensor)]);
        else // lent to the kernel of one call
            shown.type = QStringLiteral("scratch"), shown.writer = buffer.first;
        shown.pool = memory.plan.placements[i].pool;
        shown.offset = memory.plan.placements[i].offset;
        shown.bytes = buffer.sizeBytes;
        const int64_t over = buffer.sizeBytes % buffer.alignment;
        shown.paddingBytes = over == 0 ? 0 : buffer.alignment - over;
        shown.firstCall = buffer.first;
        shown.lastCall = buffer.last;
        plan.withoutReuseBytes += buffer.sizeBytes;
        plan.alignment = buffer.alignment;
        plan.buffers.push_back(std::move(shown));
    }
    addReaders(program, memory, plan.buffers);
}

void addPlanners(const ProgramMemory& memory, views::MemoryPlan& plan)
{
    for (const compiler::PlannerDef& planner : compiler::allPlanners()) {
        views::PlannerResult result{text(planner.name), text(planner.doc)};
        if (const auto other = compiler::planMemory(planner.name, memory.problem)) {
            result.bytes = other->totalBytes();
            result.ms = other->ms;
            result.isProvenOptimal = other->isOptimal;
        } else {
            result.problem = text(other.error().message);
        }
        plan.planners.push_back(std::move(result));
    }
}

} // namespace

views::MemoryPlan memoryPlanOf(const ExecutorProgram& program, const ProgramMemory& memory)
{
    views::MemoryPlan plan;
    plan.algorithm = text(memory.plan.algorithm);
    const core::ManifestMemory described = compiler::describedMemory(program, &memory);
    plan.arenaBytes = described.workspaceBytes;
    plan.lowerBoundBytes = described.lowerBoundBytes;
    plan.constantBytes = described.constantBytes;
    plan.scratchBytes = described.kernelWorkspaceBytes;
    plan.ioBytes = described.ioBytes;
    plan.valuesAtRunTime = memory.atRunTime;
    for (size_t i = 0; i < memory.problem.pools.size(); ++i)
        plan.pools.push_back({text(memory.problem.pools[i].name),
                              memory.problem.pools[i].sizeHintBytes, memory.plan.peakBytes[i]});
    addBuffers(program, memory, plan);
    const std::vector<int64_t> live = compiler::liveBytes(memory.problem);
    plan.liveBytes.assign(live.begin(), live.end());
    plan.liveBytes.resize(std::max(plan.liveBytes.size(), program.calls.size()), 0);
    addPlanners(memory, plan);
    return plan;
}

core::Result<views::MemoryPlan> planAgain(const ExecutorProgram& program,
                                          const ProgramMemory& compiled,
                                          const views::MemoryQuestion& question)
{
    auto pools = compiler::parsePools(question.pools.toStdString());
    if (!pools) return pools.error();
    ProgramMemory memory = compiled;
    memory.problem.pools = *std::move(pools);
    for (compiler::BufferInfo& buffer : memory.problem.buffers)
        buffer.alignment = question.alignment;
    auto planned = compiler::planMemory(question.algorithm.toStdString(), memory.problem);
    if (!planned) return planned.error();
    memory.plan = *std::move(planned);
    views::MemoryPlan plan = memoryPlanOf(program, memory);
    plan.alignment = question.alignment;
    return plan;
}

} // namespace tenon::app
