// SPDX-License-Identifier: Apache-2.0
// What RISC-V does with numbers that become bytes.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// Quantized where it is a byte, and dequantized at once where it is a float.
std::string quantized(const std::string& type)
{
    const std::string bytes =
        "T.Cast(\"int8\", T.min(T.max(T.round(a[i] / T.float32(0.3)) + T.Cast(\"float32\", "
        "T.int8(-5)), T.float32(-128)), T.float32(127)))";
    const std::string floats =
        "T.Cast(\"float32\", T.Cast(\"int32\", " + bytes + ") - T.int32(-5)) * T.float32(0.3)";
    return "@T.prim_func\ndef main(a: T.Buffer((16,), \"float32\"), y: T.Buffer((16,), \"" + type +
           "\")):\n    for i in T.serial(16):\n        y[i] = " +
           (type == "int8" ? bytes : floats) + "\n";
}

void expectNoBranches(const std::string& type)
{
    const auto function = tir::parsePrimFunc(quantized(type));
    ASSERT_TRUE(function) << function.error().text();
    const auto machine =
        machineSpec(*parseTarget("llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c"));
    ASSERT_TRUE(machine) << machine.error().text();
    const auto text = emitKernel({*function, "kernel"}, *machine, EmitForm::Assembly);
    ASSERT_TRUE(text) << text.error().text();
    for (const char* instruction : {"fmax.s", "fmin.s", "fcvt.l.s"})
        EXPECT_NE(text->find(instruction), std::string::npos) << *text;
    for (const char* instruction : {"flt.s", "fabs.s", "rtz"})
        EXPECT_EQ(text->find(instruction), std::string::npos) << *text;
}

TEST(RiscvBytes, RoundAndSaturateWithoutBranches) { expectNoBranches("int8"); }

TEST(RiscvBytes, RoundWhatIsAFloatAgainWithoutBranches) { expectNoBranches("float32"); }

} // namespace
} // namespace tenon::compiler
