// SPDX-License-Identifier: Apache-2.0
// Every operator scheduled and compiled for this computer gives what the interpreter gives.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/evaluate/interpreter.h"
#include "compiler/ops/op.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "core/target/target.h"
#include "tests/compiler/ops/op_case.h"
#include "tests/support/jit_kernel.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

struct Way
{
    std::string target;
    int threads = 1; ///< more than one share every loop that can be, be it ever so short
};

const std::vector<Way>& ways()
{
    static const std::vector<Way> kWays = {{"llvm -mcpu=native"},
                                           {"llvm -mcpu=native", 2},
#ifdef __x86_64__
                                           {"llvm -mcpu=x86-64"}
#endif
    };
    return kWays;
}

void expectClose(const Tensor& wanted, const Tensor& got, Accuracy accuracy,
                 const std::string& what)
{
    ASSERT_EQ(wanted.size(), got.size()) << what;
    for (int64_t i = 0; i < wanted.size(); ++i) {
        const double a = wanted.number(i), b = got.number(i);
        if (a == b || (std::isnan(a) && std::isnan(b))) continue;
        ASSERT_NE(accuracy, Accuracy::Exact) << what << "element " << i << ": " << a << ", " << b;
        ASSERT_LE(std::abs(a - b), 2e-5 * std::max(1.0, std::abs(a))) << what << "element " << i;
    }
}

/// With these inputs, or with random ones where there are none.
void expectCompiledAgrees(const std::string& example, Accuracy accuracy,
                          std::vector<Tensor> inputs = {})
{
    const auto module = test::exampleModule(example);
    ASSERT_TRUE(module) << example << "\n" << module.error().text();
    const auto function = test::lowered(*module, module->node(module->main().order[0]));
    ASSERT_TRUE(function) << function.error().text();
    if (inputs.empty()) inputs = test::randomInputs(*module, 11);
    const auto wanted = interpret(**function, inputs);
    ASSERT_TRUE(wanted) << wanted.error().text();
    for (const auto& [target, threads] : ways()) {
        const auto parsed = parseTarget(target);
        ASSERT_TRUE(parsed) << parsed.error().text();
        const auto machine = machineSpec(*parsed);
        ASSERT_TRUE(machine) << machine.error().text();
        auto facts = targetFacts(*machine);
        ASSERT_TRUE(facts) << facts.error().text();
        facts->threads = static_cast<unsigned>(threads);
        if (threads > 1) facts->forkCycles = 0;
        const auto kernel = scheduleKernel(**function, *facts);
        ASSERT_TRUE(kernel) << kernel.error().text() << "\n" << tir::print(**function);
        const std::string what = target + " on " + std::to_string(threads) + " thread(s), rule " +
                                 kernel->rule + " " + example + "\n";
        const auto scheduled = interpret(kernel->function, inputs);
        ASSERT_TRUE(scheduled) << what << scheduled.error().text();
        const auto flat = lowerToLoops(kernel->function);
        ASSERT_TRUE(flat) << what << flat.error().text();
        const auto got = test::runCompiled(*flat, inputs, target, threads);
        // The baseline processor cannot convert float16; that is refused by name.
        if (!got && got.error().code == DiagnosticCode::UnsupportedDtype &&
            target == "llvm -mcpu=x86-64" && example.find("float16") != std::string::npos)
            continue;
        ASSERT_TRUE(got) << what << got.error().text();
        for (size_t r = 0; r < wanted->size(); ++r) {
            expectClose((*wanted)[r], (*scheduled)[r], accuracy, "scheduled for " + what);
            expectClose((*wanted)[r], (*got)[r], accuracy, "compiled for " + what);
        }
    }
}

class CompiledOp : public ::testing::TestWithParam<const OpDef*>
{
};

TEST_P(CompiledOp, AgreesWithTheInterpreter)
{
    expectCompiledAgrees(std::string(GetParam()->example), GetParam()->accuracy);
}

INSTANTIATE_TEST_SUITE_P(Ops, CompiledOp, ::testing::ValuesIn(allOps().begin(), allOps().end()),
                         [](const auto& param) {
                             std::string name(param.param->name);
                             for (char& c : name)
                                 if (c == '.') c = '_';
                             return name;
                         });

/// 5^3 is 125, not what is left of 124.99999999999997.
TEST(CompiledOps, RaiseIntegersToThePower)
{
    std::vector<int32_t> bases, exponents;
    for (int32_t base = -20; base <= 20; ++base)
        for (int32_t exponent = 0; std::pow(std::abs(base), exponent) < 1e9 && exponent < 20;
             ++exponent) {
            bases.push_back(base);
            exponents.push_back(exponent);
        }
    const auto count = static_cast<int64_t>(bases.size());
    const std::string operand = ": Tensor[(" + std::to_string(count) + ",), int32]";
    expectCompiledAgrees(
        "%a" + operand + ", %b" + operand + " => power(%a, %b)", Accuracy::Exact,
        {Tensor::of(kInt32, {count}, bases), Tensor::of(kInt32, {count}, exponents)});
}

/// The way with two threads is one: most operators have a loop that they share.
TEST(CompiledOps, ShareLoopsBetweenTwoThreads)
{
    TargetFacts facts;
    facts.threads = 2;
    facts.forkCycles = 0;
    size_t shared = 0;
    for (const OpDef* op : allOps()) {
        const auto module = test::exampleModule(std::string(op->example));
        ASSERT_TRUE(module) << op->name;
        const auto function = test::lowered(*module, module->node(module->main().order[0]));
        ASSERT_TRUE(function) << op->name;
        const auto kernel = scheduleKernel(**function, facts);
        ASSERT_TRUE(kernel) << op->name << ": " << kernel.error().text();
        shared += tir::print(kernel->function).find("T.parallel(") != std::string::npos;
    }
    EXPECT_GT(2 * shared, allOps().size());
}

/// Geometries whose loops do not divide by vectors and tiles.
constexpr const char* kOddCases[] = {
    "%x: Tensor[(1, 3, 13, 17), float32], %w: Tensor[(7, 3, 3, 3), float32] => nn.conv2d(%x, %w, "
    "padding=[1, 1, 1, 1])",
    "%x: Tensor[(2, 6, 9, 11), float32], %w: Tensor[(6, 1, 5, 5), float32] => nn.conv2d(%x, %w, "
    "groups=6, padding=[2, 2, 2, 2], strides=[2, 2])",
    "%x: Tensor[(1, 2, 11, 23, 16), float32], %w: Tensor[(1, 2, 3, 3, 16, 48), float32] => "
    "nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW16c\", kernel_layout=\"OIHW16i48o\", "
    "out_layout=\"NCHW16c\", padding=[1, 1, 1, 1], strides=[2, 2])",
    "%x: Tensor[(1, 3, 19, 19, 1), float32], %w: Tensor[(2, 3, 3, 3, 1, 16), float32] => "
    "nn.contrib_conv2d_NCHWc(%x, %w, data_layout=\"NCHW1c\", kernel_layout=\"OIHW1i16o\", "
    "out_layout=\"NCHW16c\", padding=[0, 1, 1, 0], strides=[2, 2])",
    "%x: Tensor[(1, 2, 15, 13, 8), float32], %w: Tensor[(2, 1, 3, 3, 1, 8), float32] => "
    "nn.contrib_depthwise_conv2d_NCHWc(%x, %w, data_layout=\"NCHW8c\", groups=16, "
    "kernel_layout=\"OIHW1i8o\", out_layout=\"NCHW8c\", padding=[1, 1, 1, 1], dilation=[2, 1])",
    "%x: Tensor[(1, 5, 7, 9), float32], %w: Tensor[(5, 3, 2, 2), float32] => "
    "nn.conv2d_transpose(%x, %w, strides=[2, 2])",
    "%x: Tensor[(1, 4, 6, 7), float32], %w: Tensor[(4, 3, 3, 4), float32] => "
    "nn.conv2d_transpose(%x, %w, padding=[1, 0, 1, 2], strides=[3, 2], dilation=[1, 2], groups=2)",
    "%a: Tensor[(1, 2, 5, 14), float32], %b: Tensor[(1, 2, 5, 14), float32], "
    "%c: Tensor[(1, 2, 5, 13), float32] => join_phases(%a, %b, %c, strides=[1, 3])",
    "%a: Tensor[(1, 2, 6, 11), float32], %b: Tensor[(1, 2, 6, 10), float32], "
    "%c: Tensor[(1, 2, 5, 11), float32], %d: Tensor[(1, 2, 5, 10), float32] => "
    "join_phases(%a, %b, %c, %d, strides=[2, 2])",
    "%a: Tensor[(1, 2, 5, 9, 8), float32], %b: Tensor[(1, 2, 4, 9, 8), float32], "
    "%c: Tensor[(1, 2, 4, 9, 8), float32] => join_phases(%a, %b, %c, strides=[3, 1])",
    "%x: Tensor[(3, 37), float32], %w: Tensor[(29, 37), float32] => nn.dense(%x, %w)",
    "%x: Tensor[(1, 100), float32], %w: Tensor[(3, 100, 16), float32] => nn.contrib_dense_pack(%x, "
    "%w, weight_layout=\"NK16n\")",
    "%a: Tensor[(3, 21, 19), float32], %b: Tensor[(3, 19, 33), float32] => nn.matmul(%a, %b)",
    "%a: Tensor[(2, 17, 9), float32], %b: Tensor[(1, 23, 17), float32] => nn.matmul(%a, %b, "
    "transpose_a=1, transpose_b=1)",
    "%x: Tensor[(1, 3, 15, 17), float32] => nn.max_pool2d(%x, ceil_mode=1, padding=[1, 1, 1, 1], "
    "pool_size=[3, 3], strides=[2, 2])",
    "%x: Tensor[(1, 2, 14, 11, 16), float32] => nn.avg_pool2d(%x, layout=\"NCHW16c\", padding=[1, "
    "0, 1, 1], pool_size=[3, 2], strides=[1, 2])",
    "%x: Tensor[(1, 3, 7, 7, 16), float32] => nn.global_avg_pool2d(%x, layout=\"NCHW16c\")",
    "%x: Tensor[(5, 37), float32] => nn.softmax(%x)",
    "%x: Tensor[(2, 3, 64), float32] => nn.layer_norm(%x)",
    "%q: Tensor[(1, 2, 13, 32), float32], %k: Tensor[(1, 2, 37, 32), float32], "
    "%v: Tensor[(1, 2, 37, 48), float32], %m: Tensor[(1, 1, 1, 37), float32] => "
    "nn.attention(%q, %k, %v, %m, extents=[1, 2, 13, 37, 32, 48], out_axes=[0, 2, 1, 3], "
    "scale=0.5f)",
    "%q: Tensor[(2, 17, 3, 2, 20), float32], %k: Tensor[(2, 17, 3, 2, 20), float32], "
    "%v: Tensor[(2, 17, 3, 2, 20), float32], %m: Tensor[(17, 17), float32] => nn.attention("
    "%q, %k, %v, %m, extents=[2, 2, 17, 17, 20, 20], k_axes=[0, 2, -1, 1, 3], "
    "k_begin=[0, 0, 1, 0, 0], q_axes=[0, 2, -1, 1, 3], q_begin=[0, 0, 0, 0, 0], "
    "v_axes=[0, 2, -1, 1, 3], v_begin=[0, 0, 2, 0, 0])",
    "%q: Tensor[(3, 1, 64, 64), float32], %k: Tensor[(3, 1, 64, 96), float32], "
    "%v: Tensor[(3, 1, 96, 64), float32] => nn.attention(%q, %k, %v, "
    "extents=[3, 1, 64, 96, 64, 64], k_axes=[0, 1, 3, 2], scale=0.125f)",
    "%x: Tensor[(2, 7, 19), float32] => nn.log_softmax(%x, axis=1)",
    "%x: Tensor[(3, 41, 5), float32] => mean(%x, axis=[1], keepdims=1)",
    "%x: Tensor[(1003,), float32] => max(%x)",
    "%x: Tensor[(4, 33), float32] => argmax(%x, axis=[1])",
    "%x: Tensor[(1, 3, 9, 10), float32] => image.resize2d(%x, method=\"cubic\", size=[21, 7])",
    "%x: Tensor[(1, 3, 9, 10), float32] => image.resize2d(%x, method=\"nearest\", size=[18, 20])",
    "%a: Tensor[(1, 5, 9), float32], %b: Tensor[(1, 3, 9), float32], %c: Tensor[(1, 18, 9), "
    "float32] => concatenate(%a, %b, %c, axis=1)",
    "%x: Tensor[(1, 48, 5, 7), float32] => layout_transform(%x, dst_layout=\"NCHW16c\", "
    "src_layout=\"NCHW\")",
    "%x: Tensor[(1, 48, 5, 7), uint8] => layout_transform(%x, dst_layout=\"NCHW16c\", "
    "src_layout=\"NCHW\")",
    "%x: Tensor[(2, 24, 6, 19), int8] => layout_transform(%x, dst_layout=\"NCHW8c\", "
    "src_layout=\"NCHW\")",
    "%x: Tensor[(1, 3, 3, 21, 16), int8] => layout_transform(%x, dst_layout=\"NCHW\", "
    "src_layout=\"NCHW16c\")",
    "%x: Tensor[(1, 3, 5, 9, 8), uint8] => layout_transform(%x, dst_layout=\"NCHW\", "
    "src_layout=\"NCHW8c\")",
    "%x: Tensor[(3, 40, 37), uint8] => transpose(%x, axes=[0, 2, 1])",
    "%x: Tensor[(7, 13, 11), float32] => transpose(%x, axes=[2, 0, 1])",
    "%x: Tensor[(4, 19), float32], %i: Tensor[(3, 2), int32] => take(%x, %i, axis=1)",
    "%x: Tensor[(77,), float32] => cast(%x, dtype=T.float16)",
    "%x: Tensor[(3, 25), float16], %y: Tensor[(25,), float16] => multiply(%x, %y)",
    "%x: Tensor[(3, 25), int8], %y: Tensor[(25,), int8] => subtract(%x, %y)",
    "%x: Tensor[(3, 25), float64] => tanh(%x)",
};

class OddCase : public ::testing::TestWithParam<const char*>
{
};

TEST_P(OddCase, AgreesWithTheInterpreter) { expectCompiledAgrees(GetParam(), Accuracy::Rounding); }

INSTANTIATE_TEST_SUITE_P(Ops, OddCase, ::testing::ValuesIn(kOddCases));

} // namespace
} // namespace tenon::compiler
