// SPDX-License-Identifier: Apache-2.0
// Plans once more without limits to say how much is missing, and where.
#include "compiler/executor/pool_limits.h"

#include "compiler/memory/live_bytes.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr size_t kMostNamed = 5;

size_t at(int index) { return static_cast<size_t>(index); }

core::Diagnostic note(const std::string& message)
{
    core::Diagnostic out = core::makeError(core::DiagnosticCode::OutOfMemory, message);
    out.severity = core::Severity::Note;
    return out;
}

/// "`a` 32,768, `b` 16,384, 3 more 1,024 bytes", the largest first.
std::string largest(std::vector<const BufferInfo*> buffers)
{
    std::stable_sort(buffers.begin(), buffers.end(), [](const BufferInfo* a, const BufferInfo* b) {
        return a->sizeBytes > b->sizeBytes;
    });
    std::vector<std::string> parts;
    int64_t others = 0;
    for (size_t i = 0; i < buffers.size(); ++i) {
        if (i < kMostNamed)
            parts.push_back(core::quoted(buffers[i]->name) + " " +
                            core::thousands(buffers[i]->sizeBytes));
        else
            others += buffers[i]->sizeBytes;
    }
    if (buffers.size() > kMostNamed)
        parts.push_back(std::to_string(buffers.size() - kMostNamed) + " more " +
                        core::thousands(others));
    return core::join(parts, ", ") + " bytes";
}

/// What every pool has, and what would have to be behind the last one.
std::string missingText(std::string_view algorithm, PlanningProblem problem)
{
    std::vector<std::string> parts;
    for (const Pool& pool : problem.pools)
        parts.push_back(core::quoted(pool.name) + " has " + core::thousands(pool.sizeHintBytes));
    const std::string last = problem.pools.back().name;
    problem.pools.back().sizeHintBytes = Pool::kUnlimited;
    const auto plan = planMemory(algorithm, problem);
    std::string out = core::join(parts, ", ") + " bytes";
    if (plan)
        out += "; " + core::quoted(last) + " would need " + core::thousands(plan->peakBytes.back());
    return out;
}

std::string pointText(const ExecutorProgram& program, size_t point)
{
    if (point >= program.calls.size()) return "behind the last call";
    const KernelCall& call = program.calls[point];
    const std::string title = call.title.text();
    return "at call " + core::quoted(call.name) + (title.empty() ? "" : " (" + title + ")");
}

} // namespace

core::Diagnostic withContributors(core::Diagnostic error, std::string_view algorithm,
                                  const PlanningProblem& problem, const ExecutorProgram& program)
{
    if (error.code != core::DiagnosticCode::OutOfMemory || problem.pools.empty()) return error;
    error.notes.push_back(note(missingText(algorithm, problem)));
    const std::vector<int64_t> live = liveBytes(problem);
    if (live.empty()) return error;
    const auto peak = std::max_element(live.begin(), live.end());
    const auto point = static_cast<int>(peak - live.begin());
    std::vector<const BufferInfo*> alive;
    for (const BufferInfo& buffer : problem.buffers)
        if (buffer.first <= point && point <= buffer.last) alive.push_back(&buffer);
    error.notes.push_back(note("most is needed " + pointText(program, at(point)) + ": " +
                               core::thousands(*peak) + " bytes, of " + largest(alive)));
    return error;
}

core::Result<ConstantPlan> planConstants(const ExecutorProgram& program,
                                         const std::vector<Pool>& pools, int64_t alignment)
{
    ConstantPlan out;
    if (pools.empty()) return out;
    out.pools = pools;
    out.placements.resize(program.tensors.size());
    std::vector<BufferInfo> buffers;
    std::vector<size_t> tensors;
    for (size_t t = 0; t < program.tensors.size(); ++t) {
        const ProgramTensor& tensor = program.tensors[t];
        if (tensor.role != TensorRole::Constant || tensor.viewOf >= 0) continue;
        tensors.push_back(t);
        buffers.push_back({.name = tensor.name,
                           .sizeBytes = tensor.bytes(),
                           .alignment = std::max<int64_t>(alignment, tensor.dtype.bytes())});
    }
    const PlanningProblem problem = makeProblem(std::move(buffers), pools);
    const auto plan = planMemory("greedy_by_size", problem);
    if (!plan) {
        core::Diagnostic error = plan.error();
        std::vector<const BufferInfo*> all;
        for (const BufferInfo& buffer : problem.buffers) all.push_back(&buffer);
        error.notes.push_back(note(missingText("greedy_by_size", problem)));
        error.notes.push_back(note("the constants are " + largest(all)));
        return error;
    }
    out.bytes = plan->peakBytes;
    std::vector<int64_t> widest(pools.size(), 1);
    for (size_t i = 0; i < tensors.size(); ++i) {
        out.placements[tensors[i]] = plan->placements[i];
        int64_t& wide = widest[at(plan->placements[i].pool)];
        wide = std::max<int64_t>(wide, program.tensors[tensors[i]].dtype.bytes());
    }
    for (size_t p = 0; p < pools.size(); ++p)
        out.bytes[p] = (out.bytes[p] + widest[p] - 1) / widest[p] * widest[p];
    return out;
}

} // namespace tenon::compiler
