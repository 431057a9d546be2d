// SPDX-License-Identifier: Apache-2.0
// MachinePool: code generators that are used again. LLVM derives the tables of a processor, and
// what each operation becomes on it, per generator: as much work as a small kernel.
#pragma once

#include "compiler/codegen/llvm/kernel_object.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Thread-safe; the code generators are not, so each emits one kernel at a time.
class MachinePool
{
public:
    MachinePool();
    MachinePool(const MachinePool&) = delete;
    MachinePool& operator=(const MachinePool&) = delete;
    ~MachinePool();

    Result<std::string> emit(const KernelSource& source, const MachineSpec& spec, EmitForm form);

private:
    Result<std::unique_ptr<llvm::TargetMachine>> take(const MachineSpec& spec);

    struct Idle
    {
        MachineSpec spec;
        std::unique_ptr<llvm::TargetMachine> machine;
    };
    std::mutex m_mutex;
    std::vector<Idle> m_idle;
};

} // namespace tenon::compiler
