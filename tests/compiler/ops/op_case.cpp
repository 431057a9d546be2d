// SPDX-License-Identifier: Apache-2.0
// Small graph texts through inference, lowering and evaluation.
#include "tests/compiler/ops/op_case.h"

#include "compiler/evaluate/evaluate.h"
#include "compiler/evaluate/interpreter.h"
#include "compiler/ops/op.h"
#include "compiler/te/te.h"
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/tir/text.h"

#include <charconv>
#include <cmath>
#include <map>
#include <random>

namespace tenon::test {
namespace {

using namespace core;
using namespace compiler;

std::string elementText(const Tensor& tensor, int64_t i)
{
    if (!tensor.dtype().isFloat()) return std::to_string(tensor.integer(i));
    if (tensor.dtype() == kFloat64) return exact(tensor.number(i));
    const double value = tensor.number(i);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char buffer[48];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
    return std::string(buffer, end.ptr);
}

bool isClose(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b)) ||
           std::abs(a - b) <= 2e-6 * std::max(1.0, std::abs(a));
}

/// Both evaluators; CHECKs that they agree.
Result<std::vector<Tensor>> evaluateBoth(const tir::PrimFunc& function,
                                         const std::vector<Tensor>& inputs)
{
    const JobContext job;
    auto slow = interpret(function, inputs);
    auto fast = evaluate(function, inputs, job);
    if (!slow) return slow.error();
    if (!fast) return fast.error();
    for (size_t r = 0; r < slow->size(); ++r) {
        const Tensor &a = (*slow)[r], &b = (*fast)[r];
        CHECK(a.dtype() == b.dtype() && a.shape() == b.shape()) << "evaluators differ in type";
        for (int64_t i = 0; i < a.size(); ++i)
            CHECK(isClose(a.number(i), b.number(i)))
                << "element " << i << ": interpret gives " << a.number(i) << ", evaluate "
                << b.number(i) << " in\n"
                << tir::print(function);
    }
    return slow;
}

} // namespace

Result<Module> inferred(Module module)
{
    const GraphFunction function = module.main();
    for (const NodeId id : function.order) {
        NodeRecord node = module.node(id);
        auto types = inferTypes(module, node);
        if (!types) return types.error();
        node.types = *std::move(types);
        module.setNode(std::move(node));
    }
    return module;
}

Result<Module> exampleModule(const std::string& example)
{
    const size_t arrow = example.find("=>");
    if (arrow == std::string::npos)
        return makeError(DiagnosticCode::BadText, "an example needs =>");
    auto module =
        parseModule("def @main(" + std::string(trimmed(example.substr(0, arrow))) +
                    ") {\n  %result = " + std::string(trimmed(example.substr(arrow + 2))) +
                    "\n  return %result\n}\n");
    if (!module) return module.error();
    return inferred(*std::move(module));
}

std::vector<Tensor> randomInputs(const Module& module, unsigned seed)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> real(-1, 1);
    std::vector<Tensor> inputs;
    for (const NodeId id : module.main().params) {
        const TensorType& type = module.type({id, 0});
        inputs.push_back(
            Tensor::make(type.dtype, *constantShape(type.shape), [&](std::span<std::byte> bytes) {
                const int64_t count = static_cast<int64_t>(bytes.size()) / type.dtype.bytes();
                for (int64_t i = 0; i < count; ++i)
                    if (type.dtype.isFloat())
                        storeNumber(type.dtype, bytes, i, real(random));
                    else
                        storeInteger(
                            type.dtype, bytes, i,
                            static_cast<int64_t>(random() % (type.dtype.isBool() ? 2 : 3)));
            }));
    }
    return inputs;
}

Result<PrimFuncPtr> lowered(const Module& module, const NodeRecord& node)
{
    const Types operands = operandTypes(module, node);
    te::Tensors in, given;
    for (const TensorType& type : operands) {
        in.push_back(nullptr);
        if (type.dtype == kHandle) continue;
        std::vector<te::Expr> shape;
        for (const Dim& extent : type.shape) shape.emplace_back(extent.value());
        in.back() = te::placeholder("p" + std::to_string(given.size()), shape, type.dtype);
        given.push_back(in.back());
    }
    const auto out = lowerOp({node.op, node.attrs, operands, node.types}, in);
    if (!out) return out.error();
    auto function = te::createPrimFunc("main", given, *out);
    if (!function) return function.error();
    if (const Status ok = tir::verify(*function); !ok) return ok.error();
    return std::make_shared<const tir::PrimFunc>(*std::move(function));
}

std::string runBody(const std::string& body)
{
    const auto errorText = [](const Diagnostic& error) {
        return "error " + std::string(codeText(error.code)) + ": " + error.message + "\n";
    };
    const size_t line = body.rfind("\n%");
    const std::string last = body.substr(line == std::string::npos ? 0 : line + 1);
    const std::string name = last.substr(0, last.find_first_of(" :"));
    const auto parsed = parseModule("def @main() {\n" + body + "return " + name + "\n}\n");
    if (!parsed) return errorText(parsed.error());
    const auto module = inferred(*parsed);
    if (!module) return errorText(module.error());

    std::map<ValueRef, Tensor> values;
    std::string text;
    for (const NodeId id : module->main().order) {
        const NodeRecord& node = module->node(id);
        std::vector<Tensor> results;
        if (node.kind == NodeKind::Constant) {
            results = {*node.constant};
        } else {
            std::vector<Tensor> inputs;
            for (const ValueRef& operand : node.operands)
                if (operand.node.isValid()) inputs.push_back(values.at(operand));
            const auto function = lowered(*module, node);
            if (!function) return errorText(function.error());
            auto got = evaluateBoth(**function, inputs);
            if (!got) return errorText(got.error());
            results = *std::move(got);
        }
        text.clear();
        for (uint32_t r = 0; r < results.size(); ++r) {
            values[{id, r}] = results[r];
            std::vector<std::string> elements;
            for (int64_t i = 0; i < results[r].size(); ++i)
                elements.push_back(elementText(results[r], i));
            text += results[r].typeText() + ": " + join(elements, " ") + "\n";
        }
    }
    return text;
}

} // namespace tenon::test
