// SPDX-License-Identifier: Apache-2.0
// JitKernel: a compiled kernel object loaded into this process, for tests and kernel benchmarks
// only.
#pragma once

#include "core/base/result.h"
#include "core/ir/tir/stmt.h"
#include "core/tensor/tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::test {

/// Loads `object` (hidden symbol `symbol`) with a runtime that cuts parallel loops into `tasks`
/// tasks, each in a thread of its own.
class JitKernel
{
public:
    static core::Result<std::shared_ptr<JitKernel>> load(const std::string& object,
                                                         const std::string& symbol, int tasks = 1);
    virtual ~JitKernel() = default;

    /// Calls the kernel with raw pointers, one per parameter; returns its status.
    virtual int call(const std::vector<void*>& pointers) const = 0;
};

/// Compiles flat loop IR for `target` (this computer's architecture), runs it on `inputs`, returns
/// the outputs.
core::Result<std::vector<core::Tensor>> runCompiled(const tir::PrimFunc& lowered,
                                                    const std::vector<core::Tensor>& inputs,
                                                    const std::string& target = "llvm -mcpu=native",
                                                    int tasks = 1);

} // namespace tenon::test
