// SPDX-License-Identifier: Apache-2.0
// What RISC-V does with numbers that become bytes.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/kernel_object.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(RiscvBytes, RoundAndSaturateWithoutBranches)
{
    const auto function = tir::parsePrimFunc(R"(@T.prim_func
def main(a: T.Buffer((16,), "float32"), y: T.Buffer((16,), "int8")):
    for i in T.serial(16):
        y[i] = T.Cast("int8", T.min(T.max(T.round(a[i] / T.float32(0.3)) + T.Cast("float32", T.int8(-5)), T.float32(-128)), T.float32(127)))
)");
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

} // namespace
} // namespace tenon::compiler
