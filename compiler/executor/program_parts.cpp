// SPDX-License-Identifier: Apache-2.0
// Tensors, constants and calls of a program.
#include "compiler/executor/program_parts.h"

#include "compiler/executor/call_method.h"
#include "compiler/ops/node_work.h"
#include "compiler/ops/op.h"
#include "compiler/passes/fuse/kernel_sizes.h"
#include "compiler/schedule/beyond_images.h"
#include "core/base/text.h"
#include "core/ir/kernel_title.h"
#include "core/ir/tir/division.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr const char* kFunctionPrefix = "tvmgen_default_";

} // namespace

std::string readableName(const NodeRecord& node)
{
    const std::string_view prefix = kFunctionPrefix;
    return node.name.starts_with(prefix) ? node.name.substr(prefix.size()) : node.name;
}

std::string resultName(const GraphFunction& function, size_t result)
{
    return result < function.resultNames.size() ? function.resultNames[result]
                                                : "output" + std::to_string(result);
}

ProgramParts::ProgramParts(const Module& module, const std::vector<CompiledKernel>& kernels)
    : m_module(module)
    , m_kernels(kernels)
    , m_bounds(boundsOf(module.main()))
{
    m_program.bounds = m_bounds;
    for (const CompiledKernel& kernel : kernels) {
        m_kernelIndex[kernel.name] = static_cast<int>(m_program.kernels.size());
        m_program.kernels.push_back(
            {.symbol = kernel.symbol,
             .function = {},
             .parameterCount = static_cast<int>(kernel.unscheduled->params.size()),
             .textHash = kernel.tirHash,
             .sizeCount = static_cast<int>(kernel.unscheduled->sizes.size()) +
                          patchSizeCount(*kernel.unscheduled)});
    }
}

std::string ProgramParts::uniqueName(std::string name)
{
    if (name.empty()) name = "t";
    if (m_names.insert(name).second) return name;
    for (int i = 1;; ++i)
        if (std::string candidate = name + "_" + std::to_string(i);
            m_names.insert(candidate).second)
            return candidate;
}

int ProgramParts::addTensor(ValueRef value, TensorRole role, const std::string& name)
{
    const TensorType& type = m_module.type(value);
    ProgramTensor tensor;
    tensor.name = uniqueName(name);
    tensor.dtype = type.dtype;
    for (const Dim& dim : type.shape) {
        tensor.shape.push_back(dim.constant().value_or(-1));
        if (!constantShape(type.shape)) tensor.dims.push_back(dim.text());
    }
    tensor.mostBytes = mostElements(type.shape, m_bounds).value_or(0) * type.dtype.bytes();
    tensor.role = role;
    m_program.tensors.push_back(std::move(tensor));
    return m_tensors[value] = static_cast<int>(m_program.tensors.size()) - 1;
}

int ProgramParts::addConstant(const NodeRecord& node)
{
    std::vector<int>& alike = m_constantsOfType[node.constant->typeText()];
    const std::span<const std::byte> bytes = node.constant->bytes();
    const auto known = std::find_if(alike.begin(), alike.end(), [&](int tensor) {
        const auto there = m_program.tensors[static_cast<size_t>(tensor)].constant.bytes();
        return there.data() == bytes.data() || std::ranges::equal(there, bytes);
    });
    if (known != alike.end()) {
        setTensor({node.id, 0}, *known);
        return *known;
    }
    const int tensor =
        addTensor({node.id, 0}, TensorRole::Constant, "p" + std::to_string(m_constants++));
    alike.push_back(tensor);
    m_program.tensors[static_cast<size_t>(tensor)].constant = *node.constant;
    return tensor;
}

int ProgramParts::useKernel(const std::string& kernel, int call)
{
    const int index = m_kernelIndex.at(kernel);
    std::string& function = m_program.kernels[static_cast<size_t>(index)].function;
    if (function.empty())
        function = kFunctionPrefix + m_program.calls.at(static_cast<size_t>(call)).name + "_chunk";
    return index;
}

namespace {

/// The share of parameter `param` that some member of the function reads.
double readShareOf(const Module& module, const GraphFunction& function, NodeId param)
{
    double most = 0;
    for (const NodeId member : function.order) {
        const NodeRecord& node = module.node(member);
        for (size_t i = 0; i < node.operands.size(); ++i)
            if (node.operands[i].node == param) most = std::max(most, readShare(module, node, i));
    }
    return most > 0 ? most : 1; // nobody is known to read it
}

} // namespace

/// A kernel that looks up rows or cuts out a part reads no more of anything than it writes; one
/// whose window steps over elements does not read them; an input that is given twice is read once.
void ProgramParts::addMovedBytes(const GraphFunction& function, KernelCall& call) const
{
    const auto tensorOf = [&](int argument) -> const ProgramTensor& {
        return m_program.tensors[static_cast<size_t>(argument)];
    };
    const auto outputs = call.arguments.end() - call.outputCount;
    double written = 0;
    for (auto output = outputs; output != call.arguments.end(); ++output)
        written += static_cast<double>(tensorOf(*output).bytes());
    const bool isPart = std::any_of(function.order.begin(), function.order.end(), [&](NodeId id) {
        return factsOf(m_module.node(id)).readsPart;
    });
    const auto inputs = static_cast<size_t>(outputs - call.arguments.begin());
    const bool isMatched = function.params.size() == inputs;
    std::set<int> seen;
    double read = 0;
    for (size_t i = 0; i < inputs; ++i) {
        if (!seen.insert(call.arguments[i]).second) continue;
        const ProgramTensor& tensor = tensorOf(call.arguments[i]);
        double bytes = static_cast<double>(tensor.bytes());
        if (isPart) bytes = std::min(written, bytes);
        if (isMatched) bytes *= readShareOf(m_module, function, function.params[i]);
        read += bytes;
        if (tensor.role == TensorRole::Constant) call.weightBytes += bytes;
    }
    call.movedBytes = read + written;
}

void ProgramParts::addWork(const GraphFunction& function, KernelCall& call) const
{
    if (!kernelSizes(m_module, function).empty()) return; // nobody can tell before the run
    for (const NodeId member : function.order) {
        const NodeRecord& node = m_module.node(member);
        call.flops += costOf(m_module, node).flops;
        call.leastFlops += leastFlops(m_module, node);
    }
    addMovedBytes(function, call);
}

/// Nodes of the model behind the integer divisions of a kernel, quoted.
std::vector<std::string> ProgramParts::dividersOf(const NodeRecord& call) const
{
    std::vector<SourceId> sources;
    for (const NodeId id : m_module.function(call.callee).order) {
        const NodeRecord& member = m_module.node(id);
        if (factsOf(member).divides)
            sources.insert(sources.end(), member.origin.begin(), member.origin.end());
    }
    if (sources.empty()) sources = call.origin;
    std::vector<std::string> out;
    for (const SourceId source : sources) {
        const SourceNode& node = m_module.sources()[source.value];
        std::string text =
            quoted(node.name) + (node.op == "Range" ? ", a Range whose delta is 0" : "");
        if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
    }
    if (out.empty()) out.push_back(quoted(readableName(call)));
    return out;
}

const KernelCall& ProgramParts::addCall(const NodeRecord& node)
{
    KernelCall call;
    const auto kernel = m_kernelIndex.find(node.kernel);
    CHECK(kernel != m_kernelIndex.end()) << "no kernel " << node.kernel;
    call.kernel = kernel->second;
    call.name = uniqueName(readableName(node));
    call.title = kernelTitle(m_module, node);
    // Several calls share a kernel; it is known by the name of the first.
    std::string& function = m_program.kernels[static_cast<size_t>(call.kernel)].function;
    if (function.empty()) function = kFunctionPrefix + call.name;
    for (const ValueRef& operand : node.operands) {
        if (!operand.node.isValid()) continue;
        call.arguments.push_back(m_tensors.at(operand));
    }
    for (uint32_t i = 0; i < node.types.size(); ++i)
        call.arguments.push_back(
            addTensor({node.id, i}, TensorRole::Intermediate, readableName(node)));
    call.outputCount = static_cast<int>(node.types.size());
    call.node = node.id;
    call.sources = node.origin;
    for (const SourceId source : node.origin)
        call.fromNodes.push_back(m_module.sources()[source.value].name);
    call.method = methodOf(m_module, m_module.function(node.callee).order);
    call.plainReason = plainReason(m_module, m_module.function(node.callee).order);
    const CompiledKernel& compiled = m_kernels[static_cast<size_t>(call.kernel)];
    if (tir::mayDivideByZero(compiled.unscheduled->body)) call.dividers = dividersOf(node);
    call.refusal = compiled.refusal;
    addWork(m_module.function(node.callee), call);
    m_program.calls.push_back(std::move(call));
    return m_program.calls.back();
}

} // namespace tenon::compiler
