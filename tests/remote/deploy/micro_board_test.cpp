// SPDX-License-Identifier: Apache-2.0
// Boards without an operating system: the sample deployed to emulated ones as to any board, with
// instructions where times stand.
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "remote/deploy/deployer.h"
#include "remote/deploy/preflight.h"
#include "remote/measure/made_up_inputs.h"
#include "remote/virtual/virtual_board.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

using core::DiagnosticCode;

class MicroBoard : public testing::Test
{
protected:
    void SetUp() override
    {
        TENON_NEED_TOOL("arm-none-eabi-gcc");
        TENON_NEED_TOOL("qemu-system-arm");
        auto loaded =
            compiler::loadModel(test::sourcePath("resources/sample/digits/model.onnx"), {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        m_loaded = std::make_shared<const compiler::Loaded>(std::move(*loaded));
    }

    core::Result<BuiltModel> build(const std::string& target, compiler::ExecutorKind executor,
                                   compiler::CInterface interface = compiler::CInterface::Structs)
    {
        compiler::CompileOptions options;
        options.target = target;
        options.executor = executor;
        const auto result = compiler::compile(m_loaded, options, m_job);
        if (!result) return result.error();
        const std::string path = m_folder.file("model" + std::to_string(m_count++) + ".elf");
        const auto report = compiler::writeProgram(**result, interface, path);
        if (!report) return report.error();
        return BuiltModel{.path = path, .manifest = report->manifest};
    }

    DeployReportPtr deploy(const std::string& profile, const DeployRequest& request)
    {
        const auto board = makeVirtualBoard("board", *findProfile(profile), "", m_job);
        EXPECT_TRUE(board) << board.error().text();
        Deployer deployer(*board, {});
        return deployer.deploy(request, m_job);
    }

    DeployRequest request(compiler::ExecutorKind executor)
    {
        DeployRequest out;
        out.build = [this, executor](const std::string& target, core::JobContext&) {
            return build(target, executor);
        };
        out.inputs = [](const core::Manifest& manifest) { return madeUpInputs(manifest); };
        out.timing = TimingRequest{.repeat = 3, .perCall = true};
        return out;
    }

    std::shared_ptr<const compiler::Loaded> m_loaded;
    test::TemporaryFolder m_folder;
    core::JobContext m_job;
    int m_count = 0;
};

std::vector<double> numbersOf(const std::vector<core::Tensor>& outputs)
{
    std::vector<double> out;
    for (const core::Tensor& each : outputs)
        for (const double value : each.numbers()) out.push_back(value);
    return out;
}

TEST_F(MicroBoard, RunsAndCountsOnEveryEmulatedCore)
{
    std::vector<double> first;
    for (const char* name :
         {"mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"}) {
        const DeployReportPtr report = deploy(name, request(compiler::ExecutorKind::Aot));
        ASSERT_FALSE(report->error) << name << ": " << report->error->text();
        EXPECT_EQ(report->facts.kernel, "no operating system");
        const std::vector<double> numbers = numbersOf(report->outputs);
        ASSERT_EQ(numbers.size(), 10u);
        if (first.empty()) first = numbers;
        for (size_t i = 0; i < numbers.size(); ++i) EXPECT_NEAR(numbers[i], first[i], 1e-5) << name;
        ASSERT_TRUE(report->timing);
        const Timing& timing = *report->timing;
        EXPECT_TRUE(timing.summaryMs.areInstructions);
        EXPECT_EQ(timing.runsMs.size(), 1u);                 // every other would be the same
        EXPECT_GT(timing.runsMs[0] * 1e6, 800000.0) << name; // more than the model's products
        EXPECT_EQ(timing.callMs.size(), report->manifest.calls.size());
        EXPECT_NEAR(timing.callSumMs, timing.runsMs[0], 0.01) << name;
    }
}

TEST_F(MicroBoard, CountsTheSameInEveryRun)
{
    const DeployReportPtr one = deploy("mps2-an386", request(compiler::ExecutorKind::Aot));
    const DeployReportPtr two = deploy("mps2-an386", request(compiler::ExecutorKind::Aot));
    ASSERT_FALSE(one->error) << one->error->text();
    ASSERT_FALSE(two->error) << two->error->text();
    EXPECT_EQ(one->timing->runsMs, two->timing->runsMs);
    EXPECT_EQ(medianText(one->timing->summaryMs).find("median"), std::string::npos);
    EXPECT_NE(medianText(one->timing->summaryMs).find(" instructions"), std::string::npos);
}

TEST_F(MicroBoard, RunsTheGraphExecutorAndBothInterfacesAlike)
{
    std::vector<double> first;
    for (const auto& [executor, interface] :
         {std::pair{compiler::ExecutorKind::Aot, compiler::CInterface::Structs},
          std::pair{compiler::ExecutorKind::Aot, compiler::CInterface::Packed},
          std::pair{compiler::ExecutorKind::Aot, compiler::CInterface::Unpacked},
          std::pair{compiler::ExecutorKind::Graph, compiler::CInterface::Packed}}) {
        DeployRequest wanted = request(executor);
        wanted.build = [&](const std::string& target, core::JobContext&) {
            return build(target, executor, interface);
        };
        const DeployReportPtr report = deploy("mps2-an386", wanted);
        ASSERT_FALSE(report->error) << report->error->text();
        if (first.empty()) first = numbersOf(report->outputs);
        EXPECT_EQ(numbersOf(report->outputs), first);
    }
}

TEST_F(MicroBoard, RefusesAProgramForAnotherCore)
{
    DeployRequest wanted = request(compiler::ExecutorKind::Aot);
    wanted.target = "c -mcpu=cortex-m55";
    const DeployReportPtr report = deploy("mps2-an386", wanted);
    ASSERT_TRUE(report->error);
    EXPECT_NE(report->error->message.find("this board is a Cortex-M4"), std::string::npos)
        << report->error->message;
}

TEST_F(MicroBoard, SaysBeforeTheRunThatBudgetsAreTooSmall)
{
    const auto built = build("c -mcpu=cortex-m4", compiler::ExecutorKind::Aot);
    ASSERT_TRUE(built) << built.error().text();
    BoardFacts facts{.machine = "cortex-m4", .cpu = "cortex-m4", .cpuText = "Cortex-M4"};
    facts.flashBytes = 65536;
    facts.ramBytes = facts.freeRamBytes = int64_t{1} << 20;
    const Preflight flash = preflight(*built, facts);
    ASSERT_TRUE(flash.error);
    EXPECT_EQ(flash.error->code, DiagnosticCode::OutOfMemory);
    EXPECT_NE(flash.error->message.find("of 64.00 KiB"), std::string::npos) << flash.error->message;
    facts.flashBytes = int64_t{1} << 20;
    EXPECT_FALSE(preflight(*built, facts).error);
    facts.ramBytes = 32768;
    ASSERT_TRUE(preflight(*built, facts).error);
    EXPECT_EQ(preflight(*built, facts).checks.back().subject, "memory");
}

TEST_F(MicroBoard, NamesTheCoresThatProgramsAreLinkedFor)
{
    const auto plain = build("c", compiler::ExecutorKind::Aot);
    ASSERT_FALSE(plain);
    EXPECT_EQ(plain.error().code, DiagnosticCode::UnsupportedTarget);
    EXPECT_NE(plain.error().message.find("cortex-m33, cortex-m55"), std::string::npos)
        << plain.error().message;
}

} // namespace
} // namespace tenon::remote
