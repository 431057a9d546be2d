// SPDX-License-Identifier: Apache-2.0
// A board's cores: what is compiled for it shares its loops, and as many threads run as there are.
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/target_cores.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/base/option_code.h"
#include "core/base/processors.h"
#include "core/base/temporary_folder.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/session/emulation.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

const std::string kPi = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";

std::shared_ptr<const Loaded> resnet()
{
    static const auto bytes = std::make_shared<const std::string>(
        test::makeResnet18({.imageSize = 96, .channelDivisor = 4}));
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "zoo.onnx", {});
    CHECK(loaded) << loaded.error().text();
    return std::make_shared<const Loaded>(std::move(*loaded));
}

CompileResultPtr compiled(const std::string& target, unsigned threads = 0, bool isScheduled = true)
{
    CompileOptions options{.target = target, .runThreads = threads};
    if (isScheduled) options.service = schedulingKernelService();
    JobContext job(2);
    auto result = compile(resnet(), options, job);
    CHECK(result) << result.error().text();
    return *result;
}

std::string loops(const CompileResult& result)
{
    std::string out;
    for (const CompiledKernel& kernel : result.kernels) out += kernel.scheduledText;
    return out;
}

bool isShared(const CompileResult& result)
{
    return loops(result).find("T.parallel") != std::string::npos;
}

TEST(Threads, comeFromTheTarget)
{
    const auto four = compiled(kPi + " -num-cores=4");
    EXPECT_EQ(four->facts.threads, 4u);
    EXPECT_TRUE(isShared(*four));
    EXPECT_EQ(loops(*four), loops(*compiled(kPi, 4)));
    EXPECT_FALSE(isShared(*compiled(kPi + " -num-cores=1")));
    EXPECT_FALSE(isShared(*compiled(kPi + " -num-cores=4", 1)));
    EXPECT_EQ(compiled("raspberry-pi/4b-aarch64")->facts.threads, 4u);
    EXPECT_EQ(compiled("llvm -mcpu=native")->facts.threads, usableProcessors());
}

TEST(Threads, areOneAndSaidSoWhereNobodyKnows)
{
    const auto result = compiled(kPi);
    EXPECT_EQ(result->facts.threads, 1u);
    ASSERT_EQ(result->remarks.size(), 1u);
    EXPECT_EQ(result->remarks[0].code, OptionCode::ThreadCount);
    EXPECT_TRUE(compiled(kPi + " -num-cores=2")->remarks.empty());
}

TEST(Threads, doNotDependOnWhichComputerCompiles)
{
    // A target that happens to be this processor is another computer all the same.
    const MachineSpec here = hostMachine();
    const auto there =
        parseTarget("llvm -mtriple=" + here.triple + " -mcpu=" + here.cpu + " -num-cores=3");
    ASSERT_TRUE(there);
    const auto spec = machineSpec(*there);
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_FALSE(spec->isThisComputer);
    EXPECT_EQ(chooseThreads(*there, {.thisComputer = 64}).count, 3u);
}

/// On a board emulated here: two threads take their share of the loops.
TEST(Threads, runOnAnEmulatedBoard)
{
    TENON_NEED_TOOL("qemu-aarch64");
    TENON_NEED(usableProcessors() > 1, "processors", "this computer has one processor");
    const auto result = compiled(kPi + " -num-cores=2", 0, false);
    auto folder = TemporaryFolder::make("tenon-threads-");
    ASSERT_TRUE(folder);
    remote::RunRequest request{.artifactPath = folder->file("model.so"), .threads = 2};
    const auto report = writeArtifact(*result, request.artifactPath);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(report->manifest.threads, 2u);
    ASSERT_TRUE(remote::runHere(request, result->target));
    request.inputs = *remote::madeUpInputs(report->manifest);
    JobContext job;
    const auto timing =
        remote::measureArtifact(request, {.number = 3, .repeat = 3, .pin = false}, job);
    ASSERT_TRUE(timing) << timing.error().text();
    EXPECT_EQ(timing->threads, 2u);
    EXPECT_EQ(timing->threadsRan, 2u);
    request.threads = 64; // more than there are, and nobody asked for so many
    const auto many = remote::measureArtifact(request, {.repeat = 1, .pin = false}, job);
    ASSERT_TRUE(many) << many.error().text();
    EXPECT_EQ(many->threads, usableProcessors());
}

TEST(Threads, completeATargetFromItsBoard)
{
    const std::string pi = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72";
    const std::string pi4 = pi + " -num-cores=4";
    for (const char* target : {"c -mcpu=cortex-m4", "llvm -mtriple=wasm32-unknown-unknown"})
        EXPECT_FALSE(lacksCores(*parseTarget(target)));
    EXPECT_EQ(withCores(pi, 4), pi4);
    EXPECT_EQ(withCores(pi4, 2), pi4);
    EXPECT_EQ(withCores(pi, 0), pi);
    EXPECT_EQ(withCores(pi, 100000), pi + " -num-cores=256");
    EXPECT_EQ(withCores("c -mcpu=cortex-m4", 4), "c -mcpu=cortex-m4");
    EXPECT_EQ(withCores("no target", 4), "no target");
    const std::string json = R"({"kind": "llvm", "mtriple": "riscv64-linux-gnu"})";
    EXPECT_EQ(parseTarget(withCores(json, 2))->intOption("num-cores", 0), 2);
}

} // namespace
} // namespace tenon::compiler
