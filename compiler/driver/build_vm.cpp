// SPDX-License-Identifier: Apache-2.0
// The lowered module as a program for the VM: values in registers, memory at run time, control flow
// as jumps, sizes in scalar registers.
#include "compiler/driver/program_parts.h"
#include "compiler/driver/vm_writer.h"
#include "compiler/ops/size_checks.h"
#include "compiler/passes/kernel_sizes.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"
#include "core/tensor/dim_products.h"
#include "runtime/include/tenon/vm_code.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

class VmBuilder
{
public:
    VmBuilder(const Module& module, const std::vector<CompiledKernel>& kernels)
        : m_module(module)
        , m_parts(module, kernels)
    {
    }

    Result<ExecutorProgram> build()
    {
        const GraphFunction& main = m_module.main();
        ExecutorProgram& program = m_parts.program();
        for (const NodeId id : main.params) {
            const NodeRecord& param = m_module.node(id);
            program.inputs.push_back(m_parts.addTensor({id, 0}, TensorRole::Input, param.name));
            m_registers[{id, 0}] = m_writer.newTensor();
            m_writer.code().inputRegisters.push_back(m_registers.at({id, 0}));
        }
        learnSizes(main.params, "input ");
        if (Status done = addBlock(main); !done) return done.error();
        for (size_t i = 0; i < main.results.size(); ++i) {
            program.outputs.push_back(m_parts.tensorOf(main.results[i]));
            program.outputNames.push_back(resultName(main, i));
            m_writer.code().outputRegisters.push_back(m_registers.at(main.results[i]));
        }
        m_writer.emit({kTenonVmEnd});
        program.vm = std::make_shared<const VmCode>(std::move(m_writer.code()));
        verifyProgram(program);
        return std::move(program);
    }

private:
    static Diagnostic atNode(const NodeRecord& node, DiagnosticCode code, std::string message)
    {
        return makeError(code, std::move(message), {.node = node.name, .op = node.op});
    }

    /// Sizes that the shapes of values tell, and checks of those that are known already.
    void learnSizes(const std::vector<NodeId>& values, const std::string& what)
    {
        for (const NodeId id : values) learnFrom({id, 0});
        for (const NodeId id : values) checkSizes({id, 0}, what + quoted(m_module.node(id).name));
    }

    void learnFrom(ValueRef value)
    {
        const Shape& shape = m_module.type(value).shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const bool isSymbol =
                !shape[axis].isConst() && shape[axis] == Dim::symbol(shape[axis].text());
            if (!isSymbol || m_writer.knows(shape[axis])) continue;
            m_writer.define(shape[axis].text(), extentOf(value, axis));
            m_learned.insert({value, axis});
        }
    }

    int64_t extentOf(ValueRef value, size_t axis)
    {
        const int64_t out = m_writer.newScalar();
        m_writer.emit({kTenonVmExtent, out, m_registers.at(value), static_cast<int64_t>(axis)});
        return out;
    }

    void checkSizes(ValueRef value, const std::string& what)
    {
        const Shape& shape = m_module.type(value).shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const Dim& dim = shape[axis];
            if (dim.isConst() || m_learned.contains({value, axis}) || !m_writer.knows(dim))
                continue;
            const int64_t wanted = m_writer.size(dim);
            const int64_t text = m_writer.text(what + ": dimension " + std::to_string(axis) +
                                               " is not " + quoted(dim.text()));
            m_writer.emit({kTenonVmExpect, kTenonVmEqual, extentOf(value, axis), wanted, text});
        }
    }

    // ---- blocks -------------------------------------------------------------------------------

    /// Nodes in an order in which sizes are known before they are used.
    Result<std::vector<NodeId>> orderOf(const GraphFunction& function)
    {
        std::vector<NodeId> order;
        std::unordered_set<NodeId> waiting(function.order.begin(), function.order.end());
        std::vector<NodeId> pending = function.order;
        std::set<std::string> known;
        const auto isReady = [&](const NodeRecord& node) {
            for (const ValueRef& operand : node.operands)
                if (operand.node.isValid() && waiting.contains(operand.node)) return false;
            if (definesSizes(node)) return true;
            if (node.callee.isValid())
                for (const std::string& symbol :
                     kernelSizes(m_module, m_module.function(node.callee)))
                    if (!areKnown(Dim::symbol(symbol), known)) return false;
            for (const TensorType& type : node.types)
                for (const Dim& dim : type.shape)
                    if (!areKnown(dim, known)) return false;
            return true;
        };
        while (!pending.empty()) {
            std::vector<NodeId> later;
            for (const NodeId id : pending) {
                const NodeRecord& node = m_module.node(id);
                if (!isReady(node)) {
                    later.push_back(id);
                    continue;
                }
                order.push_back(id);
                waiting.erase(id);
                if (definesSizes(node))
                    for (const std::string& symbol : definedSizes(node)) known.insert(symbol);
            }
            if (later.size() == pending.size()) {
                const NodeRecord& node = m_module.node(later.front());
                return atNode(node, DiagnosticCode::DynamicShape,
                              "a size of " + (node.types.empty() ? "it" : node.types[0].text()) +
                                  " is never computed; bind the model's input shapes");
            }
            pending = std::move(later);
        }
        return order;
    }

    bool areKnown(const Dim& dim, const std::set<std::string>& known) const
    {
        for (const std::string& symbol : dim.symbols()) {
            if (known.contains(symbol) || m_writer.knows(Dim::symbol(symbol))) continue;
            const auto quotient = quotientOf(symbol);
            if (!quotient || !areKnown(quotient->first, known) ||
                !areKnown(quotient->second, known))
                return false;
        }
        return true;
    }

    static bool definesSizes(const NodeRecord& node)
    {
        return isOp(node, "bind_dims") || !node.bodies.empty();
    }

    static std::vector<std::string> definedSizes(const NodeRecord& node)
    {
        if (isOp(node, "bind_dims")) return node.attrs.strings("names", {});
        std::vector<std::string> out;
        for (const TensorType& type : node.types)
            for (const Dim& dim : type.shape)
                for (std::string& symbol : dim.symbols()) out.push_back(std::move(symbol));
        return out;
    }

    /// Emits a function's nodes; values die with their last reader, results stay.
    Status addBlock(const GraphFunction& function)
    {
        auto order = orderOf(function);
        if (!order) return order.error();
        std::unordered_map<NodeId, size_t> lastUse;
        for (size_t i = 0; i < order->size(); ++i)
            for (const ValueRef& operand : m_module.node((*order)[i]).operands)
                if (operand.node.isValid()) lastUse[operand.node] = i;
        for (const ValueRef& result : function.results) lastUse[result.node] = order->size();
        std::unordered_set<NodeId> mine(order->begin(), order->end());
        for (size_t i = 0; i < order->size(); ++i) {
            const NodeRecord& node = m_module.node((*order)[i]);
            m_writer.node(labelOf(node));
            if (Status done = addNode(node); !done) return done.error();
            std::set<NodeId> ended{node.id};
            for (const ValueRef& operand : node.operands) ended.insert(operand.node);
            for (const NodeId id : ended) {
                const auto last = lastUse.find(id);
                if (mine.contains(id) && (last == lastUse.end() || last->second == i)) drop(id);
            }
        }
        return kDone;
    }

    void drop(NodeId id)
    {
        for (uint32_t i = 0; i < m_module.node(id).resultCount(); ++i)
            m_writer.emit({kTenonVmDrop, m_registers.at({id, i})});
    }

    /// Ends the results of a body that has been left, captured values aside.
    void dropResults(const GraphFunction& body)
    {
        for (const ValueRef& result : body.results)
            if (m_module.node(result.node).kind != NodeKind::Parameter) drop(result.node);
    }

    /// What an error at run time says about where: the source nodes.
    std::string labelOf(const NodeRecord& node) const
    {
        std::vector<std::string> names;
        for (const SourceId source : node.origin)
            names.push_back(quoted(m_module.sources()[source.value].name));
        if (names.empty()) return {};
        return (names.size() == 1 ? "node " : "nodes ") + join(names, ", ");
    }

    // ---- nodes --------------------------------------------------------------------------------

    Status addNode(const NodeRecord& node)
    {
        if (node.kind == NodeKind::Constant) return addConstant(node);
        if (node.kind == NodeKind::CallTir)
            return node.kernel == kNopKernel ? addView(node) : addCall(node);
        if (isOp(node, "bind_dims")) return addBinding(node);
        if (isOp(node, "if")) return addIf(node);
        if (isOp(node, "loop")) return addLoop(node);
        return atNode(node, DiagnosticCode::UnsupportedOperator,
                      "operator " + quoted(node.op) + " was not lowered to a kernel");
    }

    int64_t newRegister(ValueRef value) { return m_registers[value] = m_writer.newTensor(); }

    Status addConstant(const NodeRecord& node)
    {
        VmCode& code = m_writer.code();
        // Bodies have nodes of their own for the same weights.
        const auto [known, isNew] =
            m_constants.emplace(std::pair(node.constant->bytes().data(), node.constant->typeText()),
                                static_cast<int64_t>(code.constants.size()));
        if (isNew)
            code.constants.push_back(m_parts.addConstant(node));
        else
            m_parts.setTensor({node.id, 0}, code.constants[static_cast<size_t>(known->second)]);
        m_writer.emit({kTenonVmConstant, newRegister({node.id, 0}), known->second});
        return kDone;
    }

    Status addView(const NodeRecord& node)
    {
        m_parts.addTensor({node.id, 0}, TensorRole::Intermediate, readableName(node));
        std::vector<int64_t> words{kTenonVmView, newRegister({node.id, 0}),
                                   m_registers.at(node.operands.at(0))};
        m_writer.appendShape(words, node.types.at(0).shape);
        m_writer.emit(std::move(words));
        return kDone;
    }

    /// What the typing took to be equal.
    void checkMembers(const GraphFunction& kernel)
    {
        for (const NodeId id : kernel.order)
            for (const auto& [a, b] : sizeChecks(m_module, m_module.node(id)))
                m_writer.emit(
                    {kTenonVmExpect, kTenonVmEqual, m_writer.size(a), m_writer.size(b),
                     m_writer.text("sizes " + a.text() + " and " + b.text() + " must be equal")});
    }

    Status addCall(const NodeRecord& node)
    {
        checkMembers(m_module.function(node.callee));
        std::vector<int64_t> tensors;
        for (const ValueRef& operand : node.operands)
            if (operand.node.isValid()) tensors.push_back(m_registers.at(operand));
        for (uint32_t i = 0; i < node.types.size(); ++i) {
            const int64_t reg = newRegister({node.id, i});
            std::vector<int64_t> words{kTenonVmAllocate, reg, vmDtype(node.types[i].dtype)};
            m_writer.appendShape(words, node.types[i].shape);
            m_writer.emit(std::move(words));
            tensors.push_back(reg);
        }
        std::vector<int64_t> sizes;
        for (const std::string& symbol : kernelSizes(m_module, m_module.function(node.callee)))
            sizes.push_back(m_writer.size(Dim::symbol(symbol)));
        const KernelCall& call = m_parts.addCall(node);
        const auto number = static_cast<int64_t>(m_parts.program().calls.size()) - 1;
        std::vector<int64_t> words{kTenonVmCall, call.kernel, number};
        const auto append = [&](const std::vector<int64_t>& registers) {
            words.push_back(static_cast<int64_t>(registers.size()));
            words.insert(words.end(), registers.begin(), registers.end());
        };
        append(tensors);
        append(sizes);
        m_writer.emit(std::move(words));
        return kDone;
    }

    /// Integers of a tensor become sizes.
    Status addBinding(const NodeRecord& node)
    {
        const int64_t from = m_registers.at(node.operands.at(0));
        const std::vector<std::string> names = node.attrs.strings("names", {});
        for (size_t i = 0; i < names.size(); ++i) {
            const int64_t value = m_writer.newScalar();
            m_writer.emit({kTenonVmElement, value, from, static_cast<int64_t>(i)});
            m_writer.emit({kTenonVmExpect, kTenonVmLessEqual, m_writer.constantScalar(0), value,
                           m_writer.text("a computed size is negative, it should be 0 or more")});
            m_writer.define(names[i], value);
        }
        m_parts.addTensor({node.id, 0}, TensorRole::Intermediate, readableName(node));
        m_writer.emit({kTenonVmMove, newRegister({node.id, 0}), from});
        return kDone;
    }

    // ---- control flow -------------------------------------------------------------------------

    /// The parameters of a body from `first` on stand for captured operands.
    void bindCaptures(const GraphFunction& body, size_t first, const NodeRecord& node,
                      size_t firstOperand)
    {
        for (size_t i = first; i < body.params.size(); ++i)
            share({body.params[i], 0}, node.operands.at(firstOperand + i - first));
    }

    void share(ValueRef value, ValueRef with)
    {
        m_registers[value] = m_registers.at(with);
        m_parts.setTensor(value, m_parts.tensorOf(with));
    }

    /// A register of its own for a parameter of a body.
    int64_t addParameter(const GraphFunction& body, size_t index)
    {
        const ValueRef value{body.params.at(index), 0};
        m_parts.addTensor(value, TensorRole::Intermediate, m_module.node(value.node).name);
        return newRegister(value);
    }

    void addResultTensors(const NodeRecord& node)
    {
        for (uint32_t i = 0; i < node.types.size(); ++i) {
            m_parts.addTensor({node.id, i}, TensorRole::Intermediate, readableName(node));
            newRegister({node.id, i});
        }
    }

    /// The shapes that control flow left behind name their sizes.
    void learnResults(const NodeRecord& node)
    {
        for (uint32_t i = 0; i < node.types.size(); ++i) learnFrom({node.id, i});
        for (uint32_t i = 0; i < node.types.size(); ++i)
            checkSizes({node.id, i}, "result " + std::to_string(i));
    }

    Status addIf(const NodeRecord& node)
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

    Status addBranch(const NodeRecord& node, size_t which)
    {
        const GraphFunction& body = m_module.function(node.bodies.at(which));
        const VmWriter::Symbols before = m_writer.symbols();
        bindCaptures(body, 0, node, 1);
        if (Status done = addBlock(body); !done) return done;
        m_writer.node(labelOf(node));
        for (uint32_t i = 0; i < body.results.size(); ++i)
            m_writer.emit(
                {kTenonVmMove, m_registers.at({node.id, i}), m_registers.at(body.results[i])});
        dropResults(body);
        m_writer.restore(before);
        return kDone;
    }

    /// Registers of one loop.
    struct LoopState
    {
        size_t carried = 0;
        int64_t step = 0;
        int64_t condition = 0;
        std::vector<int64_t> lists;
    };

    Status addLoop(const NodeRecord& node)
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

    int64_t beginLoop(const NodeRecord& node, const GraphFunction& body, LoopState& loop)
    {
        const auto readOperand = [&](size_t operand, int64_t absent) {
            const int64_t out = m_writer.newScalar();
            if (node.operands.at(operand).node.isValid())
                m_writer.emit({kTenonVmElement, out, m_registers.at(node.operands[operand]), 0});
            else
                m_writer.emit({kTenonVmArithmetic, out, kTenonVmAdd,
                               m_writer.constantScalar(absent), m_writer.constantScalar(0)});
            return out;
        };
        const int64_t trips = readOperand(0, INT64_MAX);
        loop.condition = readOperand(1, 1);
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

    Status addIteration(const NodeRecord& node, const GraphFunction& body, const LoopState& loop)
    {
        m_writer.emit(
            {kTenonVmScalar, m_registers.at({body.params[0], 0}), vmDtype(kInt64), loop.step});
        m_writer.emit(
            {kTenonVmScalar, m_registers.at({body.params[1], 0}), vmDtype(kBool), loop.condition});
        for (size_t i = 0; i < loop.carried; ++i) learnFrom({body.params[2 + i], 0});
        for (size_t i = 0; i < loop.carried; ++i)
            checkSizes({body.params[2 + i], 0}, "carried value " + std::to_string(i));
        if (Status done = addBlock(body); !done) return done;
        m_writer.node(labelOf(node));
        m_writer.emit({kTenonVmElement, loop.condition, m_registers.at(body.results.at(0)), 0});
        for (size_t i = 0; i < loop.lists.size(); ++i)
            m_writer.emit({kTenonVmListPush, loop.lists[i],
                           m_registers.at(body.results[1 + loop.carried + i])});
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
        dropResults(body);
        m_writer.emit(
            {kTenonVmArithmetic, loop.step, kTenonVmAdd, loop.step, m_writer.constantScalar(1)});
        return kDone;
    }

    void endLoop(const NodeRecord& node, const GraphFunction& body, const LoopState& loop)
    {
        for (size_t i = 0; i < loop.carried; ++i) {
            const int64_t last = m_registers.at({body.params[2 + i], 0});
            m_writer.emit(
                {kTenonVmMove, m_registers.at({node.id, static_cast<uint32_t>(i)}), last});
            m_writer.emit({kTenonVmDrop, last});
        }
        for (size_t i = 0; i < loop.lists.size(); ++i) {
            const auto result = static_cast<uint32_t>(loop.carried + i);
            const TensorType& type = node.types.at(result);
            std::vector<int64_t> words{kTenonVmListStack, m_registers.at({node.id, result}),
                                       loop.lists[i], vmDtype(type.dtype)};
            // Without a single step, sizes that only a step would tell are 0.
            words.push_back(static_cast<int64_t>(type.shape.size()) - 1);
            for (size_t axis = 1; axis < type.shape.size(); ++axis)
                words.push_back(m_writer.knows(type.shape[axis]) ? m_writer.size(type.shape[axis])
                                                                 : m_writer.constantScalar(0));
            m_writer.emit(std::move(words));
        }
        learnResults(node);
    }

    const Module& m_module;
    ProgramParts m_parts;
    VmWriter m_writer;
    std::unordered_map<ValueRef, int64_t> m_registers;
    /// Bytes and type -> constant of the code.
    std::map<std::pair<const std::byte*, std::string>, int64_t> m_constants;
    std::set<std::pair<ValueRef, size_t>> m_learned; ///< (value, axis) that a size was read from
};

} // namespace

Result<ExecutorProgram> buildVmProgram(const Module& lowered,
                                       const std::vector<CompiledKernel>& kernels)
{
    return VmBuilder(lowered, kernels).build();
}

} // namespace tenon::compiler
