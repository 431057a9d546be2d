// SPDX-License-Identifier: Apache-2.0
// Glue text compiles for every architecture and names what it exports.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/ir_text.h"
#include "tests/compiler/executor/sample_program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

TEST(IrText, QuotesWhateverANameHolds)
{
    EXPECT_EQ(irSymbol("a b\"c\\\n"), "@\"a b\\22c\\5C\\0A\"");
    EXPECT_EQ(irDtype(core::kBfloat16), "%DType { i8 4, i8 16, i16 1 }");
    IrText ir;
    EXPECT_EQ(ir.addNumbers({}), "null");
    const std::string text = ir.addString("é");
    EXPECT_EQ(ir.text(), text + " = private unnamed_addr constant [3 x i8] c\"\\C3\\A9\\00\"\n");
}

TEST(Glue, ExportsWhatLoadersLookFor)
{
    const ExecutorProgram program = test::sampleProgram();
    const std::vector<std::string> graph = glueExports(program, ExecutorKind::Graph);
    const std::vector<std::string> aot = glueExports(program, ExecutorKind::Aot);
    const auto has = [](const std::vector<std::string>& names, const char* name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    EXPECT_TRUE(has(graph, "tvmgen_default_fused_add"));
    EXPECT_TRUE(has(graph, "_lookup_linked_param"));
    EXPECT_TRUE(has(aot, "tvmgen_default___tvm_main__"));
    EXPECT_TRUE(has(aot, "tvmgen_default___tenon_profile__"));
    EXPECT_TRUE(has(aot, "get_c_metadata"));
    EXPECT_TRUE(has(aot, "__TVMBackendAllocWorkspace"));
    EXPECT_FALSE(has(aot, "tvmgen_default_fused_add"));
}

TEST(Glue, CompilesForEveryArchitecture)
{
    const ExecutorProgram program = test::sampleProgram();
    const ProgramMemory memory = *planProgram(program, "greedy_by_size");
    for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu", "armv7l-linux-gnueabihf"}) {
        const MachineSpec machine = test::sampleMachine(triple);
        const core::Result<std::string> aot = emitIrText(aotGlueText(program, memory), machine);
        ASSERT_TRUE(aot) << aot.error().text();
        EXPECT_EQ(aot->substr(0, 4), "\x7f"
                                     "ELF");
        EXPECT_TRUE(emitIrText(graphGlueText(program, planStorage(program)), machine));
    }
}

TEST(Glue, IsTheSameTextEveryTime)
{
    const ExecutorProgram program = test::sampleProgram();
    const ProgramMemory memory = *planProgram(program, "hill_climb");
    EXPECT_EQ(aotGlueText(program, memory), aotGlueText(program, memory));
}

} // namespace
} // namespace tenon::compiler
