// SPDX-License-Identifier: Apache-2.0
// As many code generators live as were in use at once.
#include "compiler/codegen/llvm/machine_pool.h"

#include "compiler/codegen/llvm/llvm_code.h"

#include <llvm/Target/TargetMachine.h>

#include <algorithm>

namespace tenon::compiler {

MachinePool::MachinePool() = default;
MachinePool::~MachinePool() = default;

Result<std::unique_ptr<llvm::TargetMachine>> MachinePool::take(const MachineSpec& spec)
{
    {
        const std::scoped_lock lock(m_mutex);
        const auto found = std::find_if(m_idle.begin(), m_idle.end(),
                                        [&](const Idle& idle) { return idle.spec == spec; });
        if (found != m_idle.end()) {
            auto machine = std::move(found->machine);
            m_idle.erase(found);
            return machine;
        }
    }
    return createTargetMachine(spec);
}

Result<std::string> MachinePool::emit(const KernelSource& source, const MachineSpec& spec,
                                      EmitForm form)
{
    auto machine = take(spec);
    if (!machine) return machine.error();
    auto emitted = emitKernel(source, **machine, *spec.backEnd->llvm, form);
    if (!emitted) return emitted; // a generator that stopped half-way is not used again
    const std::scoped_lock lock(m_mutex);
    m_idle.push_back({spec, std::move(*machine)});
    return emitted;
}

Result<std::string> llvmKernel(const KernelSource& source, const MachineSpec& spec, EmitForm form)
{
    // Lives as long as LLVM's own tables, which end after everything here.
    static MachinePool* const pool = new MachinePool;
    return pool->emit(source, spec, form);
}

} // namespace tenon::compiler
