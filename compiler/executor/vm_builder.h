// SPDX-License-Identifier: Apache-2.0
// VmBuilder: the lowered module as a program for the VM: values in registers, memory in an arena or
// taken at run time, control flow as jumps, sizes in scalar registers.
#pragma once

#include "compiler/executor/program_parts.h"
#include "compiler/executor/vm_arena.h"
#include "compiler/executor/vm_writer.h"
#include "compiler/ops/size_checks.h"
#include "core/ir/size_bounds.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon::compiler {

class VmBuilder
{
public:
    VmBuilder(const Module& module, const std::vector<CompiledKernel>& kernels);

    /// The program and its arena's plan.
    Result<VmProgram> build(std::string_view planner);

private:
    // What shapes tell about sizes (build_vm_sizes.cpp).
    void learnSizes(const std::vector<NodeId>& values, const std::string& what);
    void learnFrom(ValueRef value);
    int64_t extentOf(ValueRef value, size_t axis);
    void checkSizes(ValueRef value, const std::string& what);
    void checkBounds(const std::vector<NodeId>& params);
    void checkMembers(const GraphFunction& kernel);
    void addCheck(const SizeCheck& check);
    Result<std::vector<NodeId>> orderOf(const GraphFunction& function);
    bool isReady(const NodeRecord& node, const std::set<std::string>& known) const;
    bool areKnown(const Dim& dim, const std::set<std::string>& known) const;

    // Blocks and nodes (build_vm.cpp).
    Status addBlock(const GraphFunction& function);
    Status addNode(const NodeRecord& node);
    Status addConstant(const NodeRecord& node);
    Status addView(const NodeRecord& node);
    Status addCall(const NodeRecord& node);
    void addResult(const NodeRecord& node, uint32_t index);
    void emitCall(const NodeRecord& node, int kernel, const std::vector<int64_t>& tensors);
    void emitCallEach(const NodeRecord& node, int kernel, const std::vector<int64_t>& tensors);
    std::vector<int64_t> imageSizes(const NodeRecord& node);
    std::vector<int64_t> itemBytes(const NodeRecord& node) const;
    Status addBinding(const NodeRecord& node);
    int64_t newRegister(ValueRef value) { return m_registers[value] = m_writer.newTensor(); }
    void drop(NodeId id);
    std::string labelOf(const NodeRecord& node) const;
    int lastCall() const { return m_parts.callCount() - 1; }

    // Control flow (build_vm_control.cpp).
    struct LoopState
    {
        size_t carried = 0;
        int64_t step = 0; ///< scalar registers
        int64_t condition = 0;
        std::vector<int64_t> lists;
    };
    void bindCaptures(const GraphFunction& body, size_t first, const NodeRecord& node,
                      size_t firstOperand);
    void share(ValueRef value, ValueRef with);
    int64_t addParameter(const GraphFunction& body, size_t index);
    void addResultTensors(const NodeRecord& node);
    void learnResults(const NodeRecord& node);
    Status addBody(const NodeRecord& node, const GraphFunction& body);
    void findEscaping(const GraphFunction& body, const std::vector<NodeId>& order);
    void dropResults(const GraphFunction& body);
    Status addIf(const NodeRecord& node);
    Status addBranch(const NodeRecord& node, size_t which);
    Status addLoop(const NodeRecord& node);
    int64_t readOperand(const NodeRecord& node, size_t operand, int64_t absent);
    int64_t beginLoop(const NodeRecord& node, const GraphFunction& body, LoopState& loop);
    Status addIteration(const NodeRecord& node, const GraphFunction& body, const LoopState& loop);
    void passOn(const GraphFunction& body, const LoopState& loop);
    void endLoop(const NodeRecord& node, const GraphFunction& body, const LoopState& loop);
    void stackList(const NodeRecord& node, const LoopState& loop, size_t list);

    const Module& m_module;
    SizeBounds m_bounds;
    ProgramParts m_parts;
    VmWriter m_writer;
    VmArena m_arena;
    size_t m_depth = 0;                    ///< bodies around the block being added
    std::unordered_set<NodeId> m_escaping; ///< nodes whose memory a body's end or step must not end
    std::unordered_map<ValueRef, int64_t> m_registers;
    std::map<int, int64_t> m_constants;              ///< tensor -> constant of the code
    std::set<std::pair<ValueRef, size_t>> m_learned; ///< (value, axis) that a size was read from
};

/// An error of this node.
Diagnostic errorAt(const NodeRecord& node, DiagnosticCode code, std::string message);

} // namespace tenon::compiler
