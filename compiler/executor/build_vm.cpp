// SPDX-License-Identifier: Apache-2.0
// Blocks and nodes of a VM program.
#include "compiler/executor/vm_builder.h"
#include "compiler/ops/ops.h"
#include "compiler/passes/fuse/item_kernels.h"
#include "compiler/passes/fuse/kernel_sizes.h"
#include "compiler/passes/fuse/patch_grid.h"
#include "compiler/passes/rewrite.h"
#include "core/base/text.h"
#include "runtime/include/tenon/vm_code.h"

#include <unordered_set>

namespace tenon::compiler {
namespace {

Dim itemsOfCall(const NodeRecord& node)
{
    const auto items = parseDim(node.attrs.string(kItemsAttr, "1"));
    CHECK(items) << "a call of each item does not say how many there are";
    return *items;
}

} // namespace

VmBuilder::VmBuilder(const Module& module, const std::vector<CompiledKernel>& kernels)
    : m_module(module)
    , m_bounds(boundsOf(module.main()))
    , m_parts(module, kernels)
{
}

Result<VmProgram> VmBuilder::build(std::string_view planner)
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
    checkBounds(main.params);
    if (Status done = addBlock(main); !done) return done.error();
    for (size_t i = 0; i < main.results.size(); ++i) {
        program.outputs.push_back(m_parts.tensorOf(main.results[i]));
        program.outputNames.push_back(resultName(main, i));
        m_writer.code().outputRegisters.push_back(m_registers.at(main.results[i]));
    }
    m_writer.emit({kTenonVmEnd});
    auto memory = m_arena.finish(m_writer, planner, lastCall() + 1, program.tensors.size());
    if (!memory) return memory.error();
    program.vm = std::make_shared<const VmCode>(std::move(m_writer.code()));
    verifyProgram(program);
    return VmProgram{std::move(program), *std::move(memory)};
}

/// Emits a function's nodes; values die with their last reader, results stay.
Status VmBuilder::addBlock(const GraphFunction& function)
{
    auto order = orderOf(function);
    if (!order) return order.error();
    if (m_depth > 0) findEscaping(function, *order);
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

void VmBuilder::drop(NodeId id)
{
    for (uint32_t i = 0; i < m_module.node(id).resultCount(); ++i) {
        m_writer.emit({kTenonVmDrop, m_registers.at({id, i})});
        m_arena.drop({id, i}, lastCall());
    }
}

/// What an error at run time says about where: the source nodes.
std::string VmBuilder::labelOf(const NodeRecord& node) const
{
    std::vector<std::string> names;
    for (const SourceId source : node.origin)
        names.push_back(quoted(m_module.sources()[source.value].name));
    if (names.empty()) return {};
    return (names.size() == 1 ? "node " : "nodes ") + join(names, ", ");
}

Status VmBuilder::addNode(const NodeRecord& node)
{
    if (node.kind == NodeKind::Constant) return addConstant(node);
    if (node.kind == NodeKind::CallTir)
        return node.kernel == kNopKernel ? addView(node) : addCall(node);
    if (isOp(node, bindDimsOp)) return addBinding(node);
    if (node.op == "if") return addIf(node);
    if (node.op == "loop") return addLoop(node);
    return errorAt(node, DiagnosticCode::UnsupportedOperator,
                   "operator " + quoted(node.op) + " was not lowered to a kernel");
}

Status VmBuilder::addConstant(const NodeRecord& node)
{
    VmCode& code = m_writer.code();
    // Bodies have nodes of their own for the same weights.
    const int tensor = m_parts.addConstant(node);
    const auto [known, isNew] =
        m_constants.emplace(tensor, static_cast<int64_t>(code.constants.size()));
    if (isNew) code.constants.push_back(tensor);
    m_writer.emit({kTenonVmConstant, newRegister({node.id, 0}), known->second});
    return kDone;
}

Status VmBuilder::addView(const NodeRecord& node)
{
    const int tensor =
        m_parts.addTensor({node.id, 0}, TensorRole::Intermediate, readableName(node));
    std::vector<int64_t> words{kTenonVmView, newRegister({node.id, 0}),
                               m_registers.at(node.operands.at(0))};
    m_writer.appendShape(words, node.types.at(0).shape);
    m_writer.emit(std::move(words));
    m_arena.share({node.id, 0}, node.operands[0], tensor);
    return kDone;
}

Status VmBuilder::addCall(const NodeRecord& node)
{
    checkMembers(m_module.function(node.callee));
    const KernelCall& call = m_parts.addCall(node);
    std::vector<int64_t> tensors;
    for (const ValueRef& operand : node.operands)
        if (operand.node.isValid()) tensors.push_back(m_registers.at(operand));
    for (uint32_t i = 0; i < node.types.size(); ++i) {
        addResult(node, i);
        tensors.push_back(m_registers.at({node.id, i}));
    }
    // Of the nodes in one kernel, those that may be at fault.
    if (!call.dividers.empty()) m_writer.node(dividerLabel(call.dividers));
    if (node.attrs.has(kItemsAttr))
        emitCallEach(node, call.kernel, tensors);
    else
        emitCall(node, call.kernel, tensors);
    return kDone;
}

/// Memory for a result: planned where its largest size is known and its end too.
void VmBuilder::addResult(const NodeRecord& node, uint32_t index)
{
    const ValueRef value{node.id, index};
    const TensorType& type = node.types[index];
    const bool isPlanned =
        !m_escaping.contains(node.id) && mostElements(type.shape, m_bounds).has_value();
    const int tensor = m_parts.tensorOf(value);
    const ProgramTensor& facts = m_parts.program().tensors[static_cast<size_t>(tensor)];
    std::vector<int64_t> words{isPlanned ? kTenonVmPlace : kTenonVmAllocate, newRegister(value),
                               vmDtype(type.dtype)};
    if (isPlanned) words.insert(words.end(), {0, facts.bytes()});
    m_writer.appendShape(words, type.shape);
    // The sizes' arithmetic stands before the instruction.
    constexpr size_t kOffsetWord = 3;
    if (isPlanned)
        m_arena.place(value, facts, tensor, static_cast<size_t>(m_writer.here()) + kOffsetWord,
                      lastCall());
    else
        m_arena.takeAtRunTime();
    m_writer.emit(std::move(words));
}

void VmBuilder::emitCall(const NodeRecord& node, int kernel, const std::vector<int64_t>& tensors)
{
    std::vector<int64_t> words{kTenonVmCall, kernel, lastCall(),
                               static_cast<int64_t>(tensors.size())};
    words.insert(words.end(), tensors.begin(), tensors.end());
    const std::vector<std::string> symbols = kernelSizes(m_module, m_module.function(node.callee));
    std::vector<int64_t> sizes;
    for (const std::string& symbol : symbols) sizes.push_back(m_writer.size(Dim::symbol(symbol)));
    if (const std::vector<int64_t> images = imageSizes(node); !images.empty()) {
        sizes.insert(sizes.end(), images.begin(), images.end());
        sizes.push_back(m_writer.size(Dim(0))); // its first patch
    }
    words.push_back(static_cast<int64_t>(sizes.size()));
    words.insert(words.end(), sizes.begin(), sizes.end());
    m_writer.emit(std::move(words));
}

/// Registers of the rows and columns of the images that the call computes patches of, if it does.
std::vector<int64_t> VmBuilder::imageSizes(const NodeRecord& node)
{
    std::vector<int64_t> out;
    for (const std::string& size : node.attrs.strings(kImageSizesAttr, {}))
        out.push_back(m_writer.size(*parseDim(size)));
    return out;
}

/// The kernel computes one item: the dimensions up to the last open one count items' rows.
void VmBuilder::emitCallEach(const NodeRecord& node, int kernel,
                             const std::vector<int64_t>& tensors)
{
    const Dim items = itemsOfCall(node);
    std::vector<int64_t> kernels;
    for (const std::string& chunk : node.attrs.strings(kChunkKernelsAttr, {}))
        kernels.push_back(m_parts.useKernel(chunk, lastCall()));
    kernels.push_back(kernel);
    std::vector<int64_t> steps = node.attrs.integers(kChunkItemsAttr, {});
    steps.push_back(1);
    std::vector<int64_t> words{kTenonVmCallEach, lastCall(), m_writer.size(items)};
    for (const std::vector<int64_t>& list : {kernels, steps, tensors, itemBytes(node)}) {
        words.push_back(static_cast<int64_t>(list.size()));
        words.insert(words.end(), list.begin(), list.end());
    }
    const std::vector<int64_t> sizes = imageSizes(node);
    words.push_back(static_cast<int64_t>(sizes.size()));
    words.insert(words.end(), sizes.begin(), sizes.end());
    m_writer.emit(std::move(words));
}

/// Bytes of one item of each operand and result; 0 for what all items share.
std::vector<int64_t> VmBuilder::itemBytes(const NodeRecord& node) const
{
    const Dim items = itemsOfCall(node);
    std::vector<int64_t> out;
    const auto add = [&](const TensorType& type) {
        if (constantShape(type.shape)) return out.push_back(0);
        out.push_back(elementCount(*constantShape(itemType(type, items, 1).shape)) *
                      type.dtype.bytes());
    };
    for (const ValueRef& operand : node.operands)
        if (operand.node.isValid()) add(m_module.type(operand));
    for (const TensorType& type : node.types) add(type);
    return out;
}

/// Integers of a tensor become sizes.
Status VmBuilder::addBinding(const NodeRecord& node)
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
    const int tensor =
        m_parts.addTensor({node.id, 0}, TensorRole::Intermediate, readableName(node));
    m_writer.emit({kTenonVmMove, newRegister({node.id, 0}), from});
    m_arena.share({node.id, 0}, node.operands[0], tensor);
    return kDone;
}

Result<VmProgram> buildVmProgram(const Module& lowered, const std::vector<CompiledKernel>& kernels,
                                 std::string_view planner)
{
    return VmBuilder(lowered, kernels).build(planner);
}

} // namespace tenon::compiler
