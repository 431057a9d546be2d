// SPDX-License-Identifier: Apache-2.0
// Lifetimes from the order of calls, the workspace plan, and the graph executor's storage ids.
#include "compiler/executor/memory.h"

#include "compiler/executor/pool_limits.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

struct Lifetime
{
    int first = -1;
    int last = -1;
};

size_t at(int index) { return static_cast<size_t>(index); }

/// For each tensor that owns memory: the calls between which it must keep its content.
std::vector<Lifetime> ownerLifetimes(const ExecutorProgram& program)
{
    std::vector<Lifetime> lifetimes(program.tensors.size());
    for (size_t c = 0; c < program.calls.size(); ++c) {
        for (const int argument : program.calls[c].arguments) {
            Lifetime& lifetime = lifetimes[at(program.memoryOwner(argument))];
            if (lifetime.first < 0) lifetime.first = static_cast<int>(c);
            lifetime.last = static_cast<int>(c);
        }
    }
    const int end = static_cast<int>(program.calls.size());
    for (const int output : program.outputs) {
        Lifetime& lifetime = lifetimes[at(program.memoryOwner(output))];
        if (lifetime.first < 0) lifetime.first = end;
        lifetime.last = end; // read after the last call
    }
    return lifetimes;
}

bool isIntermediate(const ExecutorProgram& program, int tensor)
{
    return program.tensors[at(tensor)].role == TensorRole::Intermediate;
}

} // namespace

std::vector<bool> directOutputs(const ExecutorProgram& program)
{
    std::vector<bool> isDirect;
    std::set<int> taken;
    for (const int output : program.outputs) {
        const int owner = program.memoryOwner(output);
        const bool isWhole =
            program.tensors[at(owner)].bytes() == program.tensors[at(output)].bytes();
        isDirect.push_back(isWhole && isIntermediate(program, owner) && taken.insert(owner).second);
    }
    return isDirect;
}

namespace {

/// The buffers of a program, one after the other.
class BufferList
{
public:
    BufferList(const ExecutorProgram& program, const MemoryRequest& request)
        : m_program(program)
        , m_request(request)
        , m_lifetimes(ownerLifetimes(program))
        , m_isDirect(directOutputs(program))
    {
        memory.bufferOf.assign(program.tensors.size(), -1);
    }

    std::vector<BufferInfo> take()
    {
        if (m_request.takesIo) addInputs();
        addIntermediates();
        for (size_t t = 0; t < m_program.tensors.size(); ++t)
            memory.bufferOf[t] = memory.bufferOf[at(m_program.memoryOwner(static_cast<int>(t)))];
        if (m_request.takesIo) addOutputs();
        addScratch();
        return std::move(m_buffers);
    }

    ProgramMemory memory;

private:
    int add(const std::string& name, int64_t bytes, Lifetime lifetime, BufferKind kind, int tensor)
    {
        memory.tensorOf.push_back(tensor);
        m_buffers.push_back({.name = name,
                             .sizeBytes = bytes,
                             .alignment = m_request.alignment,
                             .first = lifetime.first,
                             .last = lifetime.last,
                             .kind = kind});
        return static_cast<int>(m_buffers.size()) - 1;
    }

    /// The caller fills all of them before the first call.
    void addInputs()
    {
        for (const int input : m_program.inputs) {
            const ProgramTensor& tensor = m_program.tensors[at(input)];
            memory.bufferOf[at(input)] =
                add(tensor.name, tensor.bytes(), {0, std::max(0, m_lifetimes[at(input)].last)},
                    BufferKind::Input, input);
        }
    }

    void addIntermediates()
    {
        std::set<int> inOutputs;
        for (size_t i = 0; i < m_program.outputs.size(); ++i)
            if (m_isDirect[i]) inOutputs.insert(m_program.memoryOwner(m_program.outputs[i]));
        for (size_t t = 0; t < m_program.tensors.size(); ++t) {
            const ProgramTensor& tensor = m_program.tensors[t];
            const int index = static_cast<int>(t);
            const bool isOutput = inOutputs.contains(index);
            const bool isPlanned = tensor.viewOf < 0 && isIntermediate(m_program, index) &&
                                   m_lifetimes[t].first >= 0 && (m_request.takesIo || !isOutput);
            if (isPlanned)
                memory.bufferOf[t] =
                    add(tensor.name, tensor.bytes(), m_lifetimes[t],
                        isOutput ? BufferKind::Output : BufferKind::Intermediate, index);
        }
    }

    /// What is copied at the end has a place of its own then.
    void addOutputs()
    {
        const int end = static_cast<int>(m_program.calls.size());
        for (size_t i = 0; i < m_program.outputs.size(); ++i) {
            const int output = m_program.outputs[i];
            const int64_t bytes = m_program.tensors[at(output)].bytes();
            memory.outputOf.push_back(m_isDirect[i]
                                          ? memory.bufferOf[at(m_program.memoryOwner(output))]
                                          : add(m_program.outputNames[i] + " copy", bytes,
                                                {end, end}, BufferKind::Output, -1));
        }
    }

    void addScratch()
    {
        for (size_t c = 0; c < m_program.calls.size(); ++c) {
            const int64_t bytes = m_program.kernels[at(m_program.calls[c].kernel)].scratchBytes;
            const int call = static_cast<int>(c);
            memory.scratchOf.push_back(bytes > 0 ? add(m_program.calls[c].name + " scratch", bytes,
                                                       {call, call}, BufferKind::Workspace, -1)
                                                 : -1);
        }
    }

    const ExecutorProgram& m_program;
    const MemoryRequest& m_request;
    std::vector<Lifetime> m_lifetimes;
    std::vector<bool> m_isDirect;
    std::vector<BufferInfo> m_buffers;
};

} // namespace

core::Result<ProgramMemory> planProgram(const ExecutorProgram& program, std::string_view algorithm,
                                        const MemoryRequest& request)
{
    BufferList list(program, request);
    std::vector<BufferInfo> buffers = list.take();
    ProgramMemory memory = std::move(list.memory);
    memory.problem = makeProblem(std::move(buffers), request.pools);
    core::Result<MemoryPlan> plan = planMemory(algorithm, memory.problem);
    if (!plan) return withContributors(plan.error(), algorithm, memory.problem, program);
    memory.plan = std::move(*plan);
    auto constants = planConstants(program, request.constantPools, request.constantAlignment);
    if (!constants) return constants.error();
    memory.constants = std::move(*constants);
    return memory;
}

namespace {

/// Storages that nobody needs any more, to be taken again.
class FreeStorages
{
public:
    /// The free storage nearest in size, within a factor of 16 (beyond, a new one wastes less).
    int take(StoragePlan& plan, int64_t bytes)
    {
        int best = -1;
        for (const int storage : m_free) {
            const int64_t size = plan.bytes[at(storage)];
            if (size * 16 < bytes || size > bytes * 16) continue;
            if (best < 0 || badness(size, bytes) < badness(plan.bytes[at(best)], bytes))
                best = storage;
        }
        if (best < 0) {
            plan.bytes.push_back(bytes);
            return static_cast<int>(plan.bytes.size()) - 1;
        }
        m_free.erase(best);
        plan.bytes[at(best)] = std::max(plan.bytes[at(best)], bytes);
        return best;
    }
    void give(int storage) { m_free.insert(storage); }

private:
    /// Growing a storage costs memory; using a larger one only keeps others from it.
    static int64_t badness(int64_t size, int64_t bytes)
    {
        return size >= bytes ? size - bytes : 2 * (bytes - size);
    }
    std::set<int> m_free;
};

} // namespace

StoragePlan planStorage(const ExecutorProgram& program)
{
    StoragePlan plan;
    plan.storageOf.assign(program.tensors.size(), -1);
    const auto newStorage = [&](int tensor) {
        plan.storageOf[at(tensor)] = static_cast<int>(plan.bytes.size());
        plan.bytes.push_back(program.tensors[at(tensor)].bytes());
    };
    for (const int input : program.inputs) newStorage(input);
    for (size_t t = 0; t < program.tensors.size(); ++t)
        if (program.tensors[t].role == TensorRole::Constant && program.tensors[t].viewOf < 0)
            newStorage(static_cast<int>(t));

    const std::vector<Lifetime> lifetimes = ownerLifetimes(program);
    const int end = static_cast<int>(program.calls.size());
    FreeStorages free;
    for (int c = 0; c < end; ++c) {
        std::set<int> owners;
        for (const int argument : program.calls[at(c)].arguments)
            owners.insert(program.memoryOwner(argument));
        for (const int owner : owners)
            if (plan.storageOf[at(owner)] < 0)
                plan.storageOf[at(owner)] = free.take(plan, program.tensors[at(owner)].bytes());
        for (const int owner : owners)
            if (isIntermediate(program, owner) && lifetimes[at(owner)].last == c)
                free.give(plan.storageOf[at(owner)]);
    }
    for (size_t t = 0; t < program.tensors.size(); ++t)
        plan.storageOf[t] = plan.storageOf[at(program.memoryOwner(static_cast<int>(t)))];
    return plan;
}

} // namespace tenon::compiler
