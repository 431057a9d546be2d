// SPDX-License-Identifier: Apache-2.0
// Lifetimes from the order of calls, the workspace plan, and the graph executor's storage ids.
#include "compiler/executor/memory.h"

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

core::Result<ProgramMemory> planProgram(const ExecutorProgram& program, std::string_view algorithm,
                                        int64_t alignment)
{
    std::set<int> inOutputs;
    const std::vector<bool> isDirect = directOutputs(program);
    for (size_t i = 0; i < program.outputs.size(); ++i)
        if (isDirect[i]) inOutputs.insert(program.memoryOwner(program.outputs[i]));

    ProgramMemory memory;
    memory.bufferOf.assign(program.tensors.size(), -1);
    const std::vector<Lifetime> lifetimes = ownerLifetimes(program);
    std::vector<BufferInfo> buffers;
    for (size_t t = 0; t < program.tensors.size(); ++t) {
        const ProgramTensor& tensor = program.tensors[t];
        const int index = static_cast<int>(t);
        const bool isPlanned = tensor.viewOf < 0 && isIntermediate(program, index) &&
                               lifetimes[t].first >= 0 && !inOutputs.contains(index);
        if (!isPlanned) continue;
        memory.bufferOf[t] = static_cast<int>(buffers.size());
        memory.tensorOf.push_back(index);
        buffers.push_back({.name = tensor.name,
                           .sizeBytes = tensor.bytes(),
                           .alignment = alignment,
                           .first = lifetimes[t].first,
                           .last = lifetimes[t].last});
    }
    for (size_t t = 0; t < program.tensors.size(); ++t)
        memory.bufferOf[t] = memory.bufferOf[at(program.memoryOwner(static_cast<int>(t)))];

    for (size_t c = 0; c < program.calls.size(); ++c) {
        const int64_t bytes = program.kernels[at(program.calls[c].kernel)].scratchBytes;
        memory.scratchOf.push_back(bytes > 0 ? static_cast<int>(buffers.size()) : -1);
        if (bytes == 0) continue;
        memory.tensorOf.push_back(-1);
        buffers.push_back({.name = program.calls[c].name + " scratch",
                           .sizeBytes = bytes,
                           .alignment = alignment,
                           .first = static_cast<int>(c),
                           .last = static_cast<int>(c)});
    }
    memory.problem = makeProblem(std::move(buffers));
    core::Result<MemoryPlan> plan = planMemory(algorithm, memory.problem);
    if (!plan) return plan.error();
    memory.plan = std::move(*plan);
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
