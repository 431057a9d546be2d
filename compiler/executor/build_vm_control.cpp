// SPDX-License-Identifier: Apache-2.0
// Control flow of a VM program: If and Loop as jumps, carried values in registers of their own.
#include "compiler/executor/vm_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"
#include "runtime/include/tenon/vm_code.h"

namespace tenon::compiler {

/// The parameters of a body from `first` on stand for captured operands.
void VmBuilder::bindCaptures(const GraphFunction& body, size_t first, const NodeRecord& node,
                             size_t firstOperand)
{
    for (size_t i = first; i < body.params.size(); ++i)
        share({body.params[i], 0}, node.operands.at(firstOperand + i - first));
}

void VmBuilder::share(ValueRef value, ValueRef with)
{
    m_registers[value] = m_registers.at(with);
    m_parts.setTensor(value, m_parts.tensorOf(with));
}

/// Emits a body; what its node reads may live on in the results.
Status VmBuilder::addBody(const NodeRecord& node, const GraphFunction& body)
{
    for (const ValueRef& operand : node.operands) m_arena.keep(operand);
    ++m_depth;
    const Status done = addBlock(body);
    --m_depth;
    if (done) m_writer.node(labelOf(node));
    return done;
}

/// A step's results are read in the next one, which computes the same nodes again, and a branch's
/// by whoever reads the If: such values, and what stands for the same memory, take memory of their
/// own at run time. What bodies within this one read may be among their results.
void VmBuilder::findEscaping(const GraphFunction& body, const std::vector<NodeId>& order)
{
    for (const ValueRef& result : body.results) m_escaping.insert(result.node);
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
        const NodeRecord& node = m_module.node(*at);
        const bool isView = node.kernel == kNopKernel || isOp(node, bindDimsOp);
        if (node.bodies.empty() && !(isView && m_escaping.contains(node.id))) continue;
        for (const ValueRef& operand : node.operands)
            if (operand.node.isValid()) m_escaping.insert(operand.node);
    }
}

/// Ends the results of a body that has been left, captured values aside.
void VmBuilder::dropResults(const GraphFunction& body)
{
    for (const ValueRef& result : body.results)
        if (m_module.node(result.node).kind != NodeKind::Parameter) drop(result.node);
}

/// A register of its own for a parameter of a body.
int64_t VmBuilder::addParameter(const GraphFunction& body, size_t index)
{
    const ValueRef value{body.params.at(index), 0};
    m_parts.addTensor(value, TensorRole::Intermediate, m_module.node(value.node).name);
    return newRegister(value);
}

void VmBuilder::addResultTensors(const NodeRecord& node)
{
    for (uint32_t i = 0; i < node.types.size(); ++i) {
        m_parts.addTensor({node.id, i}, TensorRole::Intermediate, readableName(node));
        newRegister({node.id, i});
    }
}

/// The shapes that control flow left behind name their sizes.
void VmBuilder::learnResults(const NodeRecord& node)
{
    for (uint32_t i = 0; i < node.types.size(); ++i) learnFrom({node.id, i});
    for (uint32_t i = 0; i < node.types.size(); ++i)
        checkSizes({node.id, i}, "result " + std::to_string(i));
}

Status VmBuilder::addIf(const NodeRecord& node)
{
    addResultTensors(node);
    const int64_t condition = m_writer.newScalar();
    m_writer.emit({kTenonVmElement, condition, m_registers.at(node.operands.at(0)), 0});
    const size_t toElse = m_writer.emitJump({kTenonVmIfZero, condition});
    if (Status done = addBranch(node, 0); !done) return done;
    const size_t toEnd = m_writer.emitJump({kTenonVmGoto});
    m_writer.land(toElse);
    if (Status done = addBranch(node, 1); !done) return done;
    m_writer.land(toEnd);
    m_writer.node(labelOf(node));
    learnResults(node);
    return kDone;
}

Status VmBuilder::addBranch(const NodeRecord& node, size_t which)
{
    const GraphFunction& body = m_module.function(node.bodies.at(which));
    const VmWriter::Symbols before = m_writer.symbols();
    bindCaptures(body, 0, node, 1);
    if (Status done = addBody(node, body); !done) return done;
    for (uint32_t i = 0; i < body.results.size(); ++i)
        m_writer.emit(
            {kTenonVmMove, m_registers.at({node.id, i}), m_registers.at(body.results[i])});
    dropResults(body);
    m_writer.restore(before);
    return kDone;
}

Status VmBuilder::addLoop(const NodeRecord& node)
{
    const GraphFunction& body = m_module.function(node.bodies.at(0));
    LoopState loop;
    loop.carried = static_cast<size_t>(node.attrs.integer("carried", 0));
    addResultTensors(node);
    const int64_t trips = beginLoop(node, body, loop);
    const int64_t top = m_writer.here();
    const VmWriter::Symbols before = m_writer.symbols();
    const int64_t isLeft = m_writer.arithmetic(kTenonVmLess, loop.step, trips);
    const size_t byCount = m_writer.emitJump({kTenonVmIfZero, isLeft});
    const size_t byCondition = m_writer.emitJump({kTenonVmIfZero, loop.condition});
    if (Status done = addIteration(node, body, loop); !done) return done;
    m_writer.emit({kTenonVmGoto, top});
    m_writer.land(byCount);
    m_writer.land(byCondition);
    m_writer.restore(before);
    endLoop(node, body, loop);
    return kDone;
}

/// Element 0 of an operand, or what its absence means.
int64_t VmBuilder::readOperand(const NodeRecord& node, size_t operand, int64_t absent)
{
    const int64_t out = m_writer.newScalar();
    if (node.operands.at(operand).node.isValid())
        m_writer.emit({kTenonVmElement, out, m_registers.at(node.operands[operand]), 0});
    else
        m_writer.emit({kTenonVmArithmetic, out, kTenonVmAdd, m_writer.constantScalar(absent),
                       m_writer.constantScalar(0)});
    return out;
}

int64_t VmBuilder::beginLoop(const NodeRecord& node, const GraphFunction& body, LoopState& loop)
{
    const int64_t trips = readOperand(node, 0, INT64_MAX);
    loop.condition = readOperand(node, 1, 1);
    loop.step = m_writer.newScalar();
    m_writer.emit({kTenonVmArithmetic, loop.step, kTenonVmAdd, m_writer.constantScalar(0),
                   m_writer.constantScalar(0)});
    addParameter(body, 0);
    addParameter(body, 1);
    for (size_t i = 0; i < loop.carried; ++i)
        m_writer.emit(
            {kTenonVmMove, addParameter(body, 2 + i), m_registers.at(node.operands.at(2 + i))});
    bindCaptures(body, 2 + loop.carried, node, 2 + loop.carried);
    for (size_t i = 1 + loop.carried; i < body.results.size(); ++i) {
        loop.lists.push_back(m_writer.newList());
        m_writer.emit({kTenonVmListClear, loop.lists.back()});
    }
    return trips;
}

Status VmBuilder::addIteration(const NodeRecord& node, const GraphFunction& body,
                               const LoopState& loop)
{
    m_writer.emit(
        {kTenonVmScalar, m_registers.at({body.params[0], 0}), vmDtype(kInt64), loop.step});
    m_writer.emit(
        {kTenonVmScalar, m_registers.at({body.params[1], 0}), vmDtype(kBool), loop.condition});
    for (size_t i = 0; i < loop.carried; ++i) learnFrom({body.params[2 + i], 0});
    for (size_t i = 0; i < loop.carried; ++i)
        checkSizes({body.params[2 + i], 0}, "carried value " + std::to_string(i));
    if (Status done = addBody(node, body); !done) return done;
    m_writer.emit({kTenonVmElement, loop.condition, m_registers.at(body.results.at(0)), 0});
    for (size_t i = 0; i < loop.lists.size(); ++i)
        m_writer.emit(
            {kTenonVmListPush, loop.lists[i], m_registers.at(body.results[1 + loop.carried + i])});
    passOn(body, loop);
    dropResults(body);
    m_writer.emit(
        {kTenonVmArithmetic, loop.step, kTenonVmAdd, loop.step, m_writer.constantScalar(1)});
    return kDone;
}

/// The results of a step are the carried values of the next.
void VmBuilder::passOn(const GraphFunction& body, const LoopState& loop)
{
    // All are read before the first is written: values may change places.
    std::vector<int64_t> next;
    for (size_t i = 0; i < loop.carried; ++i) {
        next.push_back(m_writer.newTensor());
        m_writer.emit({kTenonVmMove, next.back(), m_registers.at(body.results[1 + i])});
    }
    for (size_t i = 0; i < loop.carried; ++i) {
        m_writer.emit({kTenonVmMove, m_registers.at({body.params[2 + i], 0}), next[i]});
        m_writer.emit({kTenonVmDrop, next[i]});
    }
}

/// What a loop collected, along a new first axis.
void VmBuilder::stackList(const NodeRecord& node, const LoopState& loop, size_t list)
{
    const auto result = static_cast<uint32_t>(loop.carried + list);
    const TensorType& type = node.types.at(result);
    std::vector<int64_t> words{kTenonVmListStack, m_registers.at({node.id, result}),
                               loop.lists[list], vmDtype(type.dtype),
                               static_cast<int64_t>(type.shape.size()) - 1};
    // Without a single step, sizes that only a step would tell are 0.
    for (size_t axis = 1; axis < type.shape.size(); ++axis)
        words.push_back(m_writer.knows(type.shape[axis]) ? m_writer.size(type.shape[axis])
                                                         : m_writer.constantScalar(0));
    m_writer.emit(std::move(words));
}

void VmBuilder::endLoop(const NodeRecord& node, const GraphFunction& body, const LoopState& loop)
{
    for (size_t i = 0; i < loop.carried; ++i) {
        const int64_t last = m_registers.at({body.params[2 + i], 0});
        m_writer.emit({kTenonVmMove, m_registers.at({node.id, static_cast<uint32_t>(i)}), last});
        m_writer.emit({kTenonVmDrop, last});
    }
    for (size_t i = 0; i < loop.lists.size(); ++i) stackList(node, loop, i);
    learnResults(node);
}

} // namespace tenon::compiler
