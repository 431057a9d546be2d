// SPDX-License-Identifier: Apache-2.0
// Lifetimes of a VM program's values and where they lie.
#include "compiler/executor/vm_arena.h"

namespace tenon::compiler {

void VmArena::place(ValueRef value, const ProgramTensor& tensor, int tensorIndex, size_t at,
                    int call)
{
    m_bufferOf[value] = m_buffers.size();
    m_buffers.push_back(
        {{.name = tensor.name, .sizeBytes = tensor.bytes(), .first = call, .last = call},
         {tensorIndex},
         at});
}

void VmArena::share(ValueRef alias, ValueRef value, int tensorIndex)
{
    const auto found = m_bufferOf.find(value);
    if (found == m_bufferOf.end()) return;
    const size_t buffer = found->second;
    m_bufferOf[alias] = buffer;
    ++m_buffers[buffer].owners;
    m_buffers[buffer].tensors.push_back(tensorIndex);
}

void VmArena::drop(ValueRef value, int call)
{
    const auto found = m_bufferOf.find(value);
    if (found == m_bufferOf.end()) return;
    Buffer& buffer = m_buffers[found->second];
    --buffer.owners;
    buffer.facts.last = std::max(buffer.facts.last, call);
}

void VmArena::keep(ValueRef value)
{
    if (const auto found = m_bufferOf.find(value); found != m_bufferOf.end())
        m_buffers[found->second].isKept = true;
}

Result<ProgramMemory> VmArena::finish(VmWriter& writer, std::string_view planner, int calls,
                                      size_t tensors)
{
    ProgramMemory memory;
    memory.atRunTime = m_atRunTime;
    memory.bufferOf.assign(tensors, -1);
    memory.scratchOf.assign(static_cast<size_t>(calls), -1);
    std::vector<BufferInfo> facts;
    for (Buffer& buffer : m_buffers) {
        if (buffer.isKept || buffer.owners > 0) buffer.facts.last = calls;
        for (const int tensor : buffer.tensors)
            memory.bufferOf.at(static_cast<size_t>(tensor)) = static_cast<int>(facts.size());
        memory.tensorOf.push_back(buffer.tensors.front());
        facts.push_back(buffer.facts);
    }
    memory.problem = makeProblem(std::move(facts));
    auto plan = planMemory(planner, memory.problem);
    if (!plan) return plan.error();
    memory.plan = std::move(*plan);
    for (size_t i = 0; i < m_buffers.size(); ++i)
        writer.patch(m_buffers[i].word, memory.plan.placements[i].offset);
    writer.code().arenaBytes = memory.workspaceBytes();
    return memory;
}

} // namespace tenon::compiler
