// SPDX-License-Identifier: Apache-2.0
// The lowered main function as an ExecutorProgram: one tensor per value, one call per call_tir,
// views for reshapes.
#include "compiler/executor/build_program.h"

#include "compiler/executor/program_parts.h"

namespace tenon::compiler {
namespace {

class ProgramBuilder
{
public:
    ProgramBuilder(const Module& module, const std::vector<CompiledKernel>& kernels)
        : m_module(module)
        , m_parts(module, kernels)
    {
    }

    Result<ExecutorProgram> build()
    {
        const GraphFunction& main = m_module.main();
        ExecutorProgram& program = m_parts.program();
        for (const NodeId id : main.params)
            program.inputs.push_back(
                m_parts.addTensor({id, 0}, TensorRole::Input, m_module.node(id).name));
        for (const NodeId id : main.order)
            if (Status done = addNode(m_module.node(id)); !done) return done.error();
        for (size_t i = 0; i < main.results.size(); ++i) {
            program.outputs.push_back(m_parts.tensorOf(main.results[i]));
            program.outputNames.push_back(resultName(main, i));
        }
        verifyProgram(program);
        return std::move(program);
    }

private:
    Status addNode(const NodeRecord& node)
    {
        for (const TensorType& type : node.types)
            if (!constantShape(type.shape))
                return makeError(DiagnosticCode::DynamicShape,
                                 "shape " + shapeText(type.shape) +
                                     " is not constant; bind its dimensions with --shape NAME=..."
                                     " or use --executor vm",
                                 {.node = node.name});
        if (node.kind == NodeKind::Constant) {
            m_parts.addConstant(node);
            return kDone;
        }
        if (node.kind == NodeKind::CallTir) {
            if (node.kernel == kNopKernel)
                addView(node);
            else
                m_parts.addCall(node);
            return kDone;
        }
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "operator `" + node.op + "` was not lowered to a kernel",
                         {.node = node.name, .op = node.op});
    }

    /// A reshape standing alone moves nothing: its result is the operand's memory under another
    /// shape.
    void addView(const NodeRecord& node)
    {
        CHECK(node.operands.size() == 1 &&
              m_module.type(node.operands[0]).bytes() == node.types.at(0).bytes())
            << "alias of another size at " << node.name;
        const int tensor =
            m_parts.addTensor({node.id, 0}, TensorRole::Intermediate, readableName(node));
        m_parts.program().tensors[static_cast<size_t>(tensor)].viewOf =
            m_parts.tensorOf(node.operands[0]);
    }

    const Module& m_module;
    ProgramParts m_parts;
};

} // namespace

Result<ExecutorProgram> buildProgram(const Module& lowered,
                                     const std::vector<CompiledKernel>& kernels)
{
    return ProgramBuilder(lowered, kernels).build();
}

std::string vmReason(const Module& lowered)
{
    for (const auto& [id, function] : lowered.functions()) {
        if (function->attrs.integer("primitive", 0) != 0) continue;
        if (id != lowered.mainId()) return "it has control flow";
        for (const std::vector<NodeId>& nodes : {function->params, function->order})
            for (const NodeId node : nodes)
                for (const TensorType& type : lowered.node(node).types)
                    if (!constantShape(type.shape))
                        return "the shape " + shapeText(type.shape) + " is known at run time only";
    }
    return {};
}

} // namespace tenon::compiler
