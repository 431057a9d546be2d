// SPDX-License-Identifier: Apache-2.0
// Sums over a compiled program and its plan.
#include "remote/footprint/fit.h"

#include "compiler/driver/planning_problem.h"
#include "core/base/text.h"
#include "remote/footprint/remedies.h"

#include <algorithm>
#include <set>

namespace tenon::remote {

using compiler::BufferKind;
using compiler::CompileResult;

namespace {

size_t at(int index) { return static_cast<size_t>(index); }

std::string bytes(int64_t count) { return core::thousands(count) + " B"; }

std::string kindText(BufferKind kind)
{
    switch (kind) {
    case BufferKind::Input: return "input";
    case BufferKind::Output: return "output";
    case BufferKind::Workspace: return "scratch";
    case BufferKind::Intermediate: break;
    }
    return "intermediate";
}

/// Weights count where they are read first, code where its kernel is called first.
std::vector<LayerFlash> layersOf(const CompileResult& result, const ExecutorFootprint* measured)
{
    std::vector<LayerFlash> out;
    std::set<int> constants, kernels;
    for (const compiler::KernelCall& call : result.program.calls) {
        LayerFlash layer{.title = call.title.text().empty() ? call.name : call.title.text(),
                         .fromNodes = call.fromNodes};
        for (const int argument : call.arguments) {
            const int owner = result.program.memoryOwner(argument);
            const compiler::ProgramTensor& tensor = result.program.tensors[at(owner)];
            if (tensor.role == compiler::TensorRole::Constant && constants.insert(owner).second)
                layer.constantBytes += tensor.bytes();
        }
        layer.isShared = !kernels.insert(call.kernel).second;
        if (measured && !measured->kernelBytes.empty()) {
            const std::string& function = result.program.kernels[at(call.kernel)].function;
            const auto found = measured->kernelBytes.find(function);
            const bool isKnown = found != measured->kernelBytes.end();
            layer.codeBytes = layer.isShared || !isKnown ? 0 : found->second;
        }
        out.push_back(std::move(layer));
    }
    return out;
}

/// By the call that writes it.
std::string titleOfBuffer(const CompileResult& result, size_t buffer)
{
    const std::string& name = result.memory.problem.buffers[buffer].name;
    const int tensor = result.memory.tensorOf[buffer];
    for (const compiler::KernelCall& call : result.program.calls) {
        const auto outputs = call.arguments.end() - call.outputCount;
        if (tensor >= 0 && std::find(outputs, call.arguments.end(), tensor) != call.arguments.end())
            return call.title.text().empty() ? name : "result of " + call.title.text();
    }
    return name;
}

/// The program point with most bytes alive, and what they are.
void addPeak(const CompileResult& result, FitReport& out)
{
    const compiler::PlanningProblem& problem = result.memory.problem;
    const std::vector<int64_t> live = compiler::liveBytes(problem);
    if (live.empty()) return;
    const auto peak = std::max_element(live.begin(), live.end());
    const auto point = static_cast<int>(peak - live.begin());
    out.peakBytes = *peak;
    if (at(point) < result.program.calls.size()) {
        const compiler::KernelCall& call = result.program.calls[at(point)];
        out.peakCall = call.title.text().empty() ? call.name : call.title.text();
    }
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const compiler::BufferInfo& buffer = problem.buffers[i];
        if (buffer.first <= point && point <= buffer.last && buffer.sizeBytes > 0)
            out.peakBuffers.push_back(
                {buffer.name, titleOfBuffer(result, i), kindText(buffer.kind), buffer.sizeBytes});
    }
    std::stable_sort(out.peakBuffers.begin(), out.peakBuffers.end(),
                     [](const PeakBuffer& a, const PeakBuffer& b) { return a.bytes > b.bytes; });
}

} // namespace

FitReport plannedFit(const CompileResult& result, const BoardBudget& budget)
{
    FitReport out{.budget = budget, .target = result.target.text()};
    const PlannedNeed need = plannedNeed(result);
    out.flashBytes = need.constants;
    out.ramBytes = need.workspace + need.io;
    const compiler::ProgramMemory& memory = result.memory;
    for (size_t p = 0; p < memory.problem.pools.size(); ++p)
        out.pools.push_back({memory.problem.pools[p].name, memory.plan.peakBytes[p],
                             memory.problem.pools[p].sizeHintBytes});
    if (need.io > 0) out.pools.push_back({"inputs, outputs", need.io});
    out.layers = layersOf(result, nullptr);
    addPeak(result, out);
    return out;
}

core::Result<FitReport> explainFit(const compiler::CompileResultPtr& result,
                                   const BoardBudget& budget, const ExecutorFootprint* measured,
                                   core::JobContext& job)
{
    FitReport out = plannedFit(*result, budget);
    const bool isMeasured = measured && measured->notMeasured.empty();
    int64_t code = 0, statics = 0;
    if (isMeasured) {
        code = measured->flash.total() - measured->flash.constants;
        statics = measured->ram.total() - measured->ram.workspace - measured->ram.io;
        out.isLinked = true;
        out.flashBytes = measured->flash.total();
        out.ramBytes = measured->ram.total();
        out.layers = layersOf(*result, measured);
        if (measured->ram.stack > 0) out.pools.push_back({"stack", measured->ram.stack});
        if (measured->ram.statics > 0) out.pools.push_back({"statics", measured->ram.statics});
    }
    auto remedies = remediesFor(result, {budget, code, statics}, job);
    if (!remedies) return remedies.error();
    out.remedies = std::move(*remedies);
    return out;
}

std::string FitReport::verdict() const
{
    const auto part = [](const char* what, int64_t needed, int64_t given) {
        return std::string(what) + " " + bytes(needed) + " of " + bytes(given);
    };
    std::vector<std::string> parts;
    if (budget.flashBytes > 0) parts.push_back(part("flash", flashBytes, budget.flashBytes));
    if (budget.ramBytes > 0) parts.push_back(part("RAM", ramBytes, budget.ramBytes));
    const std::string sizes = core::join(parts, ", ");
    const std::string board = budget.board.empty() ? "the board" : core::quoted(budget.board);
    if (fits()) return "fits " + board + ": " + sizes;
    std::string out = "does not fit " + board + ": " + sizes;
    if (!fitsFlash()) {
        const auto most = std::max_element(layers.begin(), layers.end(),
                                           [](const LayerFlash& a, const LayerFlash& b) {
                                               return a.constantBytes < b.constantBytes;
                                           });
        if (most != layers.end())
            out += "; the weights of " + core::quoted(most->title) + " alone take " +
                   bytes(most->constantBytes) + " of flash";
    }
    if (!fitsRam() && !peakBuffers.empty())
        out += "; memory is fullest in " + core::quoted(peakCall) + ", where " +
               core::quoted(peakBuffers.front().title) + " takes " +
               bytes(peakBuffers.front().bytes);
    return out;
}

} // namespace tenon::remote
