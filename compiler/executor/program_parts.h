// SPDX-License-Identifier: Apache-2.0
// ProgramParts: tensors, kernels and calls of a program, named and counted the same way for every
// executor.
#pragma once

#include "compiler/executor/build_program.h"
#include "core/ir/size_bounds.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

class ProgramParts
{
public:
    ProgramParts(const Module& module, const std::vector<CompiledKernel>& kernels);

    /// Sizes that are not constant become -1; the bounds of main tell the largest.
    int addTensor(ValueRef value, TensorRole role, const std::string& name);
    /// Equal ones are one tensor: each step of an unrolled layer has weights of its own.
    int addConstant(const NodeRecord& node);
    /// A call of the kernel of a call_tir, with tensors for its results.
    const KernelCall& addCall(const NodeRecord& node);
    /// A kernel that a call runs beside its own.
    int useKernel(const std::string& kernel, int call);
    int tensorOf(ValueRef value) const { return m_tensors.at(value); }
    void setTensor(ValueRef value, int tensor) { m_tensors[value] = tensor; }
    ExecutorProgram& program() { return m_program; }
    int callCount() const { return static_cast<int>(m_program.calls.size()); }

private:
    std::vector<std::string> dividersOf(const NodeRecord& call) const;
    void addMovedBytes(const core::GraphFunction& function, KernelCall& call) const;
    void addWork(const core::GraphFunction& function, KernelCall& call) const;
    std::string uniqueName(std::string name);

    const Module& m_module;
    const std::vector<CompiledKernel>& m_kernels;
    SizeBounds m_bounds;
    ExecutorProgram m_program;
    std::map<std::string, int> m_kernelIndex;
    std::unordered_map<ValueRef, int> m_tensors;
    std::set<std::string> m_names;
    int m_constants = 0;
    std::map<std::string, std::vector<int>> m_constantsOfType;
};

/// LowerToTIR names calls tvmgen_default_fused_...; inside one program the prefix says nothing.
std::string readableName(const NodeRecord& node);
/// Outside name of a function's result.
std::string resultName(const GraphFunction& function, size_t result);

} // namespace tenon::compiler
