// SPDX-License-Identifier: Apache-2.0
// The register of back ends: every target finds its row, every row says enough to be used, and what
// cannot be written is refused with what can.
#include "compiler/codegen/back_end.h"
#include "core/target/target_kind.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

std::string nameFor(const std::string& text)
{
    const BackEnd* backEnd = findBackEnd(*parseTarget(text));
    return backEnd ? std::string(backEnd->name) : "none";
}

TEST(BackEnd, isFoundByKindAndArchitecture)
{
    EXPECT_EQ(nameFor("llvm"), "llvm");
    EXPECT_EQ(nameFor("llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72"), "llvm");
    EXPECT_EQ(nameFor("llvm -mtriple=wasm32-unknown-unknown"), "wasm");
    EXPECT_EQ(nameFor("llvm -mtriple=hexagon-unknown-linux-musl"), "hexagon");
    EXPECT_EQ(nameFor("hexagon -mcpu=v67"), "hexagon");
    EXPECT_EQ(nameFor("c -mcpu=cortex-m4"), "c");
    EXPECT_EQ(nameFor("cuda"), "none");
}

TEST(BackEnd, ofEveryKindThatGeneratesAndNoOther)
{
    for (const TargetKind& kind : allTargetKinds())
        EXPECT_EQ(nameFor(std::string(kind.name)) != "none", kind.state == KindState::Generates)
            << kind.name;
}

TEST(BackEnd, everyRowIsComplete)
{
    for (const BackEnd* each : allBackEnds()) {
        EXPECT_FALSE(each->name.empty());
        EXPECT_TRUE(!each->kind.empty() || !each->architecture.empty()) << each->name;
        ASSERT_FALSE(each->forms.empty()) << each->name;
        for (const ArtifactForm& form : each->forms) EXPECT_FALSE(form.executors.empty());
        EXPECT_TRUE(each->machine && each->facts && each->traits) << each->name;
        EXPECT_NE(each->objects == nullptr, each->sources == nullptr) << each->name;
        EXPECT_EQ(&backEndNamed(each->name), each);
        // What runs without a runtime says what runs it here.
        EXPECT_EQ(standsAlone(each->runnable()), !each->runner.program.empty()) << each->name;
    }
}

TEST(BackEnd, aKindWithoutOneIsRefusedWithThoseThatHaveOne)
{
    const auto machine = machineSpec(*parseTarget("cuda"));
    ASSERT_FALSE(machine);
    EXPECT_EQ(machine.error().code, DiagnosticCode::UnsupportedTarget);
    EXPECT_NE(machine.error().message.find("only for c, hexagon, llvm"), std::string::npos)
        << machine.error().message;
}

std::string refusal(const std::string& target, ExecutorKind executor, OutputFormat format)
{
    const auto form = formFor(*machineSpec(*parseTarget(target)), executor, format);
    return form ? "" : form.error().message;
}

TEST(BackEnd, refusesFormsWithThoseThatItHas)
{
    const std::string wasm = "llvm -mtriple=wasm32-unknown-unknown";
    EXPECT_EQ(refusal("llvm", ExecutorKind::Vm, OutputFormat::SharedLibrary), "");
    EXPECT_NE(refusal("llvm", ExecutorKind::Aot, OutputFormat::WasmModule)
                  .find("llvm -mtriple=wasm32-unknown-unknown\"; end the output in .so, .o, .tar"),
              std::string::npos);
    EXPECT_NE(refusal(wasm, ExecutorKind::Aot, OutputFormat::SharedLibrary)
                  .find("; end the output in .wasm, .o, .tar"),
              std::string::npos);
    EXPECT_NE(refusal(wasm, ExecutorKind::Graph, OutputFormat::WasmModule).find("runs by itself"),
              std::string::npos);
    EXPECT_NE(refusal("hexagon", ExecutorKind::Vm, OutputFormat::Program).find("--shape"),
              std::string::npos);
    EXPECT_NE(refusal("c", ExecutorKind::Aot, OutputFormat::SharedLibrary)
                  .find("end the output in .elf, .tar, .mlf.tar, or name a folder"),
              std::string::npos);
}

} // namespace
} // namespace tenon::compiler
