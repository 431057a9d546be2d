// SPDX-License-Identifier: Apache-2.0
// Plans of the same program under other conditions.
#include "remote/footprint/remedies.h"

#include "compiler/driver/planning_problem.h"
#include "core/base/text.h"
#include "remote/board/profile.h"

#include <algorithm>

namespace tenon::remote {

using compiler::CompileOptions;
using compiler::CompileResult;
using compiler::CompileResultPtr;
using compiler::PlanningProblem;
using core::Result;

namespace {

size_t at(int index) { return static_cast<size_t>(index); }

bool isFloat32(const core::DataType& dtype)
{
    return dtype.kind == core::DtypeKind::Float && dtype.bits == 32;
}

class Pricing
{
public:
    Pricing(const CompileResultPtr& result, const RemedyBasis& basis, core::JobContext& job)
        : m_result(result)
        , m_basis(basis)
        , m_job(job)
        , m_now(plannedNeed(*result))
    {
    }

    Result<std::vector<Remedy>> all()
    {
        addPlanners();
        addCompiled("the order of calls that needs the least memory at once",
                    "opt level 3 without --disable-pass OrderCalls", [](CompileOptions& options) {
                        options.optLevel = 3;
                        std::erase(options.passes.disabled, "OrderCalls");
                    });
        if (m_result->memory.outputOf.empty())
            addCompiled("inputs and outputs in the workspace", "--use-workspace-io",
                        [](CompileOptions& options) {
                            options.passConfig.emplace_back("tir.usmp.use_workspace_io=1");
                        });
        // As usual at this level: priced where it was left out.
        addCompiled("patch-wise execution", "opt level 3 without --pass-config fuse_rows=0",
                    [](CompileOptions& options) {
                        options.optLevel = 3;
                        std::erase_if(options.passConfig, [](const std::string& each) {
                            return each.starts_with("fuse_rows=");
                        });
                    });
        addIntegers();
        addSecondMemory();
        addBoards();
        if (core::Status go = m_job.checkStop(); !go) return go.error();
        std::stable_sort(m_out.begin(), m_out.end(), [](const Remedy& a, const Remedy& b) {
            if (a.fits != b.fits) return a.fits;
            return a.ramBytes + a.flashBytes < b.ramBytes + b.flashBytes;
        });
        return std::move(m_out);
    }

private:
    void add(const std::string& what, const std::string& detail, const PlannedNeed& need)
    {
        Remedy remedy{what, detail, need.constants + m_basis.codeBytes,
                      need.workspace + need.io + m_basis.staticBytes};
        const BoardBudget& has = m_basis.budget;
        remedy.fits = (has.flashBytes <= 0 || remedy.flashBytes <= has.flashBytes) &&
                      (has.ramBytes <= 0 || remedy.ramBytes <= has.ramBytes);
        m_out.push_back(std::move(remedy));
    }

    int64_t planned(const PlanningProblem& problem, std::string_view planner) const
    {
        const auto plan = compiler::planMemory(planner, problem);
        return plan ? plan->totalBytes() : -1;
    }

    void addPlanners()
    {
        std::string best;
        int64_t least = m_now.workspace;
        for (const compiler::PlannerDef& planner : compiler::allPlanners()) {
            if (m_job.stopRequested()) return;
            const int64_t bytes = planned(m_result->memory.problem, planner.name);
            if (bytes < 0 || bytes >= least) continue;
            least = bytes;
            best = planner.name;
        }
        if (best.empty()) return;
        PlannedNeed need = m_now;
        need.workspace = least;
        add("the planner " + best, "--planner " + best, need);
    }

    /// Compiled with other options, as far as memory is planned; what cannot be is no remedy.
    template <class Change>
    void addCompiled(const std::string& what, const std::string& detail, const Change& change)
    {
        if (m_job.stopRequested()) return;
        CompileOptions options = m_result->options;
        change(options);
        options.stopBeforeCodegen = true;
        const auto passes = compiler::compile(m_result->loaded, options, m_job);
        if (!passes) return;
        const auto result = compiler::planOnly(**passes, m_job);
        if (!result) return;
        const PlannedNeed need = plannedNeed(**result);
        if (need.workspace + need.io < m_now.workspace + m_now.io) add(what, detail, need);
    }

    /// A quarter of every float, which is what quantization leaves of it.
    void addIntegers()
    {
        PlanningProblem problem = m_result->memory.problem;
        int64_t constants = 0, io = 0;
        bool hasFloats = false;
        const auto quarter = [&](const compiler::ProgramTensor& tensor) {
            hasFloats = hasFloats || isFloat32(tensor.dtype);
            return isFloat32(tensor.dtype) ? (tensor.bytes() + 3) / 4 : tensor.bytes();
        };
        for (size_t b = 0; b < problem.buffers.size(); ++b) {
            const int tensor = m_result->memory.tensorOf[b];
            const bool isScratch = tensor < 0;
            int64_t& bytes = problem.buffers[b].sizeBytes;
            bytes = isScratch ? (bytes + 3) / 4 : quarter(m_result->program.tensors[at(tensor)]);
        }
        for (const compiler::ProgramTensor& tensor : m_result->program.tensors)
            if (tensor.role == compiler::TensorRole::Constant && tensor.viewOf < 0)
                constants += quarter(tensor);
        if (!hasFloats || m_job.stopRequested()) return;
        if (m_now.io > 0)
            for (const auto* list : {&m_result->program.inputs, &m_result->program.outputs})
                for (const int port : *list) io += quarter(m_result->program.tensors[at(port)]);
        const int64_t workspace = planned(problem, compiler::kUsualPlanner);
        if (workspace < 0) return;
        // A model that is one of integers but for its ends gains next to nothing.
        if (10 * (constants + workspace) > 9 * (m_now.constants + m_now.workspace)) return;
        add("integers of 8 bits",
            "by `tenon quantize`; reckoned from the same calls with a byte for each value",
            {constants, workspace, io});
    }

    /// What does not fit goes to a slower memory.
    void addSecondMemory()
    {
        const int64_t ram = m_basis.budget.ramBytes;
        const int64_t rest = ram - m_now.io - m_basis.staticBytes;
        if (ram <= 0 || rest <= 0 || m_now.workspace <= rest) return;
        PlanningProblem problem = m_result->memory.problem;
        for (compiler::BufferInfo& buffer : problem.buffers) buffer.pools.clear();
        problem.pools = {{.name = "RAM", .sizeHintBytes = rest}, {.name = "external"}};
        const auto plan = compiler::planMemory(compiler::kUsualPlanner, problem);
        if (!plan || m_job.stopRequested()) return;
        PlannedNeed need = m_now;
        need.workspace = plan->peakBytes[0];
        add("an external memory of " + core::thousands(plan->peakBytes[1]) + " B",
            "--workspace-pools RAM=" + std::to_string(rest) + ",EXTERNAL", need);
    }

    /// The smallest that is known and has room.
    void addBoards()
    {
        const auto profiles = boardProfiles();
        if (!profiles) return;
        const int64_t flash = m_now.constants + m_basis.codeBytes;
        const int64_t ram = m_now.workspace + m_now.io + m_basis.staticBytes;
        const BoardProfile* best = nullptr;
        for (const BoardProfile& each : *profiles) {
            if (each.flashBytes < flash || each.ramBytes < ram || each.flashBytes <= 0) continue;
            if (!best || each.flashBytes + each.ramBytes < best->flashBytes + best->ramBytes)
                best = &each;
        }
        if (!best) return;
        m_out.push_back({"another board: " + best->title,
                         core::thousands(best->flashBytes) + " B of flash, " +
                             core::thousands(best->ramBytes) + " B of RAM",
                         flash, ram, true});
    }

    const CompileResultPtr& m_result;
    const RemedyBasis& m_basis;
    core::JobContext& m_job;
    PlannedNeed m_now;
    std::vector<Remedy> m_out;
};

} // namespace

PlannedNeed plannedNeed(const CompileResult& result)
{
    PlannedNeed out;
    const compiler::ExecutorProgram& program = result.program;
    for (const compiler::ProgramTensor& tensor : program.tensors)
        if (tensor.role == compiler::TensorRole::Constant && tensor.viewOf < 0)
            out.constants += tensor.bytes();
    out.workspace = result.memory.workspaceBytes();
    if (result.memory.hasIo()) return out;
    for (const auto* list : {&program.inputs, &program.outputs})
        for (const int port : *list) out.io += program.tensors[at(port)].bytes();
    return out;
}

Result<std::vector<Remedy>> remediesFor(const CompileResultPtr& result, const RemedyBasis& basis,
                                        core::JobContext& job)
{
    return Pricing(result, basis, job).all();
}

} // namespace tenon::remote
