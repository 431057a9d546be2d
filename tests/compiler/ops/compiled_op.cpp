// SPDX-License-Identifier: Apache-2.0
// Kernels are scheduled for the processor at hand and two threads.
#include "tests/compiler/ops/compiled_op.h"

#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/schedule/lower.h"
#include "compiler/schedule/rules.h"
#include "core/target/target.h"
#include "tests/compiler/ops/op_case.h"
#include "tests/support/jit_kernel.h"

#include <random>

namespace tenon::test {

using namespace compiler;
using namespace core;

namespace {

PrimFuncPtr kernelOf(const std::string& example)
{
    const auto module = exampleModule(example);
    CHECK(module) << example << "\n" << module.error().text();
    const auto function = lowered(*module, module->node(module->main().order[0]));
    CHECK(function) << function.error().text();
    return *function;
}

} // namespace

Tensor normal(std::vector<int64_t> shape, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> spread;
    std::vector<float> values(static_cast<size_t>(elementCount(shape)));
    for (float& v : values) v = spread(random);
    return Tensor::of(kFloat32, std::move(shape), values);
}

Tensor evaluated(const std::string& example, const std::vector<Tensor>& inputs)
{
    const JobContext job;
    auto result = evaluate(*kernelOf(example), inputs, job);
    CHECK(result) << result.error().text();
    return (*result)[0];
}

Tensor compiled(const std::string& example, const std::vector<Tensor>& inputs,
                const std::string& rule)
{
    const auto machine = machineSpec(*parseTarget("llvm -mcpu=native"));
    CHECK(machine);
    auto facts = targetFacts(*machine);
    CHECK(facts);
    facts->threads = 2;
    const auto kernel = scheduleKernel(*kernelOf(example), *facts);
    CHECK(kernel) << kernel.error().text();
    CHECK(kernel->rule == rule) << kernel->rule;
    const auto flat = lowerToLoops(kernel->function);
    CHECK(flat) << flat.error().text();
    auto result = runCompiled(*flat, inputs, "llvm -mcpu=native", 2);
    CHECK(result) << result.error().text();
    return (*result)[0];
}

std::string typeText(const std::string& name, const std::vector<int64_t>& shape)
{
    return name + ": " + TensorType{kFloat32, Shape(shape.begin(), shape.end())}.text();
}

std::string layoutMove(const Tensor& value, const std::string& from, const std::string& to)
{
    return typeText("%x", value.shape()) + " => layout_transform(%x, dst_layout=\"" + to +
           "\", src_layout=\"" + from + "\")";
}

} // namespace tenon::test
