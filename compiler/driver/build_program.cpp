// SPDX-License-Identifier: Apache-2.0
// The lowered main function as an ExecutorProgram: one tensor per value, one call per call_tir,
// views for reshapes.
#include "compiler/driver/compile.h"
#include "compiler/ops/op.h"

#include <map>
#include <set>
#include <unordered_map>

namespace tenon::compiler {
namespace {

constexpr const char* kFunctionPrefix = "tvmgen_default_";

/// LowerToTIR names calls tvmgen_default_fused_...; inside one program the prefix says nothing.
std::string readableName(const NodeRecord& node)
{
    const std::string_view prefix = kFunctionPrefix;
    return node.name.starts_with(prefix) ? node.name.substr(prefix.size()) : node.name;
}

class ProgramBuilder
{
public:
    ProgramBuilder(const Module& module, const std::vector<CompiledKernel>& kernels)
        : m_module(module)
    {
        for (const CompiledKernel& kernel : kernels) {
            m_kernelIndex[kernel.name] = static_cast<int>(m_program.kernels.size());
            m_program.kernels.push_back({kernel.symbol,
                                         {},
                                         static_cast<int>(kernel.unscheduled->params.size()),
                                         0,
                                         kernel.tirHash});
        }
    }

    Result<ExecutorProgram> build()
    {
        const GraphFunction& main = m_module.main();
        for (const NodeId id : main.params) {
            auto tensor = addTensor({id, 0}, TensorRole::Input, m_module.node(id).name);
            if (!tensor) return tensor.error();
            m_program.inputs.push_back(*tensor);
        }
        for (const NodeId id : main.order)
            if (Status done = addNode(m_module.node(id)); !done) return done.error();
        for (size_t i = 0; i < main.results.size(); ++i) {
            m_program.outputs.push_back(m_tensors.at(main.results[i]));
            m_program.outputNames.push_back(
                i < main.resultNames.size() ? main.resultNames[i] : "output" + std::to_string(i));
        }
        verifyProgram(m_program);
        return std::move(m_program);
    }

private:
    std::string uniqueName(std::string name)
    {
        if (name.empty()) name = "t";
        if (m_names.insert(name).second) return name;
        for (int i = 1;; ++i)
            if (std::string candidate = name + "_" + std::to_string(i);
                m_names.insert(candidate).second)
                return candidate;
    }

    Result<int> addTensor(ValueRef value, TensorRole role, const std::string& name)
    {
        const TensorType& type = m_module.type(value);
        const auto shape = constantShape(type.shape);
        if (!shape)
            return makeError(DiagnosticCode::DynamicShape,
                             "shape " + shapeText(type.shape) +
                                 " is not constant; bind its dimensions with --shape NAME=...",
                             {.node = m_module.node(value.node).name});
        ProgramTensor tensor;
        tensor.name = uniqueName(name);
        tensor.dtype = type.dtype;
        tensor.shape = *shape;
        tensor.role = role;
        m_program.tensors.push_back(std::move(tensor));
        const int index = static_cast<int>(m_program.tensors.size()) - 1;
        m_tensors[value] = index;
        return index;
    }

    Status addNode(const NodeRecord& node)
    {
        if (node.kind == NodeKind::Constant) {
            auto tensor =
                addTensor({node.id, 0}, TensorRole::Constant, "p" + std::to_string(m_constants++));
            if (!tensor) return tensor.error();
            m_program.tensors[static_cast<size_t>(*tensor)].constant = *node.constant;
            return kDone;
        }
        if (node.kind == NodeKind::CallTir)
            return node.kernel == kNopKernel ? addView(node) : addCall(node);
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "operator `" + node.op + "` was not lowered to a kernel",
                         {.node = node.name, .op = node.op});
    }

    /// A reshape standing alone moves nothing: its result is the operand's memory under another
    /// shape.
    Status addView(const NodeRecord& node)
    {
        CHECK(node.operands.size() == 1 &&
              m_module.type(node.operands[0]).bytes() == node.types.at(0).bytes())
            << "alias of another size at " << node.name;
        const int source = m_tensors.at(node.operands[0]);
        auto tensor = addTensor({node.id, 0}, TensorRole::Intermediate, readableName(node));
        if (!tensor) return tensor.error();
        m_program.tensors[static_cast<size_t>(*tensor)].viewOf = source;
        return kDone;
    }

    Status addCall(const NodeRecord& node)
    {
        KernelCall call;
        const auto kernel = m_kernelIndex.find(node.kernel);
        CHECK(kernel != m_kernelIndex.end()) << "no kernel " << node.kernel;
        call.kernel = kernel->second;
        call.name = uniqueName(readableName(node));
        // Several calls share a kernel; it is known by the name of the first.
        std::string& function = m_program.kernels[static_cast<size_t>(call.kernel)].function;
        if (function.empty()) function = kFunctionPrefix + call.name;
        for (const ValueRef& operand : node.operands) {
            if (!operand.node.isValid()) continue;
            call.arguments.push_back(m_tensors.at(operand));
        }
        for (uint32_t i = 0; i < node.types.size(); ++i) {
            auto tensor = addTensor({node.id, i}, TensorRole::Intermediate, readableName(node));
            if (!tensor) return tensor.error();
            call.arguments.push_back(*tensor);
        }
        call.outputCount = static_cast<int>(node.types.size());
        call.sources = node.origin;
        for (const SourceId source : node.origin)
            call.fromNodes.push_back(m_module.sources()[source.value].name);
        for (const NodeId member : m_module.function(node.callee).order)
            call.flops += costOf(m_module, m_module.node(member)).flops;
        for (const int argument : call.arguments)
            call.movedBytes +=
                static_cast<double>(m_program.tensors[static_cast<size_t>(argument)].bytes());
        m_program.calls.push_back(std::move(call));
        return kDone;
    }

    const Module& m_module;
    ExecutorProgram m_program;
    std::map<std::string, int> m_kernelIndex;
    std::unordered_map<ValueRef, int> m_tensors;
    std::set<std::string> m_names;
    int m_constants = 0;
};

} // namespace

Result<ExecutorProgram> buildProgram(const Module& lowered,
                                     const std::vector<CompiledKernel>& kernels)
{
    return ProgramBuilder(lowered, kernels).build();
}

} // namespace tenon::compiler
