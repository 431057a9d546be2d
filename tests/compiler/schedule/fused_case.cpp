// SPDX-License-Identifier: Apache-2.0
// Operator chains lowered into one function.
#include "tests/compiler/schedule/fused_case.h"

#include "compiler/ops/op.h"
#include "compiler/te/te.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"

#include <map>

namespace tenon::test {
namespace {

using namespace core;
using namespace compiler;

Result<tir::PrimFunc> lowerMain(Module module)
{
    std::map<ValueRef, te::TensorRef> tensors;
    te::Tensors inputs, outputs;
    const GraphFunction function = module.main();
    for (const NodeId id : function.params) {
        const TensorType& type = module.type({id, 0});
        std::vector<te::Expr> shape;
        for (const Dim& extent : type.shape) shape.emplace_back(extent.value());
        inputs.push_back(te::placeholder("p" + std::to_string(inputs.size()), shape, type.dtype));
        tensors[{id, 0}] = inputs.back();
    }
    for (const NodeId id : function.order) {
        NodeRecord node = module.node(id);
        auto types = inferTypes(module, node);
        if (!types) return types.error();
        node.types = *std::move(types);
        module.setNode(node);
        Types operands;
        te::Tensors in;
        for (const ValueRef& operand : node.operands) {
            operands.push_back(module.type(operand));
            in.push_back(tensors.at(operand));
        }
        const auto out = lowerOp({node.op, node.attrs, operands, node.types}, in);
        if (!out) return out.error();
        for (uint32_t r = 0; r < out->size(); ++r) tensors[{id, r}] = (*out)[r];
        outputs = *out;
    }
    return te::createPrimFunc("main", inputs, outputs);
}

} // namespace

Result<tir::PrimFunc> fusedKernel(const std::string& text)
{
    const size_t line = text.find('\n');
    const size_t last = text.rfind("\n%");
    const std::string name = text.substr(last + 1, text.find(' ', last) - last - 1);
    auto module = parseModule("def @main(" + text.substr(0, line) + ") {\n" +
                              text.substr(line + 1) + "  return " + name + "\n}\n");
    if (!module) return module.error();
    return lowerMain(*std::move(module));
}

Result<tir::PrimFunc> exampleKernel(const std::string& example)
{
    const size_t arrow = example.find("=>");
    auto module =
        parseModule("def @main(" + std::string(trimmed(example.substr(0, arrow))) +
                    ") {\n  %result = " + std::string(trimmed(example.substr(arrow + 2))) +
                    "\n  return %result\n}\n");
    if (!module) return module.error();
    return lowerMain(*std::move(module));
}

std::string list(const std::vector<int64_t>& numbers)
{
    std::vector<std::string> out;
    for (const int64_t number : numbers) out.push_back(std::to_string(number));
    return core::join(out, ", ");
}

} // namespace tenon::test
