// SPDX-License-Identifier: Apache-2.0
// LLD in-process: libraries for other machines, errors in words, links from several threads.
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/glue.h"
#include "compiler/codegen/llvm/linker.h"
#include "core/base/file.h"
#include "tests/compiler/executor/sample_program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <thread>

namespace tenon::compiler {
namespace {

LinkPlan planOf(const test::TemporaryFolder& folder, const std::string& triple,
                const std::string& irText)
{
    const std::string object = folder.file("code.o");
    std::ofstream(object, std::ios::binary) << *emitIrText(irText, test::sampleMachine(triple));
    return {.triple = triple, .objects = {object}, .exports = {"shown"}, .folder = folder.path()};
}

core::Status linkAs(OutputFormat format, const LinkPlan& plan, const std::string& path)
{
    const BackEnd& backEnd = *test::sampleMachine(plan.triple).backEnd;
    const core::Result<LinkJob> job = backEnd.objects->linkJob(plan, format);
    return job ? link(*job, path) : job.error();
}

core::Status linkRunnable(const LinkPlan& plan, const std::string& path)
{
    const BackEnd& backEnd = *test::sampleMachine(plan.triple).backEnd;
    return linkAs(path.ends_with(".so") ? OutputFormat::SharedLibrary : backEnd.runnable(), plan,
                  path);
}

constexpr const char* kTwoFunctions = R"(
define i32 @shown() { ret i32 1 }
define i32 @notShown() { ret i32 2 }
)";

TEST(Linker, LinksForOtherMachinesWithoutAToolchain)
{
    for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu", "armv7l-linux-gnueabihf",
                               "riscv64-unknown-linux-gnu", "hexagon"}) {
        const test::TemporaryFolder folder;
        const core::Status status =
            linkRunnable(planOf(folder, triple, kTwoFunctions), folder.file("out.so"));
        EXPECT_TRUE(status) << triple << ": " << status.error().text();
    }
}

TEST(Linker, LinksWasmModulesWithoutImports)
{
    const std::string triple = "wasm32-unknown-unknown";
    const test::TemporaryFolder folder;
    LinkPlan job = planOf(folder, triple, kTwoFunctions);
    const core::Status linked = linkRunnable(job, folder.file("out.wasm"));
    ASSERT_TRUE(linked) << linked.error().text();
    const core::Result<std::string> module = core::readFile(folder.file("out.wasm"));
    ASSERT_TRUE(module);
    EXPECT_NE(module->find("shown"), std::string::npos);
    const core::Status undefined =
        linkRunnable(planOf(folder, triple,
                            "declare i32 @nowhere()\n"
                            "define i32 @shown() {\n  %r = call i32 @nowhere()\n  ret i32 %r\n}\n"),
                     folder.file("out.wasm"));
    ASSERT_FALSE(undefined);
    EXPECT_NE(undefined.error().message.find("undefined symbol: nowhere"), std::string::npos)
        << undefined.error().message;
}

TEST(Linker, NamesUndefinedSymbols)
{
    const test::TemporaryFolder folder;
    const core::Status status =
        linkRunnable(planOf(folder, "x86_64-linux-gnu",
                            "declare i32 @nowhere()\n"
                            "define i32 @shown() {\n  %r = call i32 @nowhere()\n  ret i32 %r\n}\n"),
                     folder.file("out.so"));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, core::DiagnosticCode::LinkFailure);
    EXPECT_NE(status.error().message.find("undefined symbol: nowhere"), std::string::npos)
        << status.error().message;
}

TEST(Linker, RefusesGarbageAndStaysUsable)
{
    const test::TemporaryFolder folder;
    LinkPlan job = planOf(folder, "x86_64-linux-gnu", kTwoFunctions);
    std::ofstream(folder.file("garbage.o")) << "this is no object";
    job.objects.push_back(folder.file("garbage.o"));
    EXPECT_FALSE(linkRunnable(job, folder.file("out.so")));
    job.objects.pop_back();
    EXPECT_TRUE(linkRunnable(job, folder.file("out.so")));
}

// LLD keeps the addresses of a module's symbols when it has freed them, and the link of an object
// wrote there. Blocks of the size in which LLD allocates take the freed memory and show it.
TEST(Linker, WritesNothingIntoSymbolsOfTheLinkBefore)
{
    using Block = std::array<uint8_t, 4096>;
    Block pattern;
    pattern.fill(0x5a);
    const test::TemporaryFolder folder;
    const LinkPlan plan =
        planOf(folder, "wasm32-unknown-unknown",
               "@__heap_base = external global i8\n" // which the linker defines in a module only
               "define ptr @shown() { ret ptr @__heap_base }\n");
    const core::Status module = linkRunnable(plan, folder.file("module"));
    ASSERT_TRUE(module) << module.error().text();
    std::vector<std::unique_ptr<Block>> blocks(1000);
    for (auto& block : blocks) block = std::make_unique<Block>(pattern);
    const core::Status object = linkAs(OutputFormat::Object, plan, folder.file("object.o"));
    ASSERT_TRUE(object) << object.error().text();
    for (const auto& block : blocks) EXPECT_TRUE(*block == pattern);
}

TEST(Linker, WaitsForOneAnother)
{
    std::vector<std::thread> threads;
    std::vector<int> isLinked(4, 0);
    for (size_t i = 0; i < isLinked.size(); ++i)
        threads.emplace_back([&isLinked, i] {
            const test::TemporaryFolder folder;
            const LinkPlan job = planOf(folder, "x86_64-linux-gnu", kTwoFunctions);
            isLinked[i] = linkRunnable(job, folder.file("out.so")) ? 1 : 0;
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(isLinked, std::vector<int>(4, 1));
}

} // namespace
} // namespace tenon::compiler
