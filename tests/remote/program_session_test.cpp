// SPDX-License-Identifier: Apache-2.0
// Hexagon programs under QEMU: runs, times per call, and what cannot run.
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "core/base/file.h"
#include "remote/measure/emulation.h"
#include "remote/measure/program_session.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

/// The sample as a program in a folder of its own, and how to run it here.
class HexagonProgram : public testing::Test
{
protected:
    void make()
    {
        auto loaded =
            compiler::loadModel(test::sourcePath("resources/sample/digits/model.onnx"), {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        compiler::CompileOptions options;
        options.target = "hexagon";
        const auto result = compiler::compile(
            std::make_shared<const compiler::Loaded>(std::move(*loaded)), options, m_job);
        ASSERT_TRUE(result) << result.error().text();
        m_calls = (*result)->program.calls.size();
        m_request.artifactPath = m_folder.file("model.elf");
        const auto written = compiler::writeArtifact(**result, m_request.artifactPath, "digits");
        ASSERT_TRUE(written) << written.error().text();
        const core::Status found = runHere(m_request, (*result)->target);
        ASSERT_TRUE(found) << found.error().text();
    }

    core::JobContext m_job;
    test::TemporaryFolder m_folder;
    RunRequest m_request;
    size_t m_calls = 0;
};

TEST_F(HexagonProgram, RunsOnZerosUntilInputsAreSet)
{
    TENON_NEED_TOOL("qemu-hexagon");
    ASSERT_NO_FATAL_FAILURE(make());
    const auto session = LocalSession::open(m_request, m_job);
    ASSERT_TRUE(session) << session.error().text();
    const auto onZeros = (*session)->run(m_job);
    ASSERT_TRUE(onZeros) << onZeros.error().text();
    const std::vector<float> ones(1024, 1.0f);
    ASSERT_TRUE((*session)->setInputs(
        {{"image", core::Tensor::of(core::kFloat32, {1, 1, 32, 32}, ones)}}, m_job));
    const auto onOnes = (*session)->run(m_job);
    ASSERT_TRUE(onOnes) << onOnes.error().text();
    ASSERT_EQ((*onOnes)[0].size(), 10);
    EXPECT_NE((*onOnes)[0].numbers(), (*onZeros)[0].numbers());
    double sum = 0;
    for (const double value : (*onOnes)[0].numbers()) sum += value;
    EXPECT_NEAR(sum, 1, 1e-5); // probabilities
}

TEST_F(HexagonProgram, TimesEveryCallAndRunsLongEnough)
{
    TENON_NEED_TOOL("qemu-hexagon");
    ASSERT_NO_FATAL_FAILURE(make());
    const auto timing = measureArtifact(m_request, {.repeat = 3, .perCall = true}, m_job);
    ASSERT_TRUE(timing) << timing.error().text();
    ASSERT_EQ(timing->runsMs.size(), 3u);
    EXPECT_GT(timing->runsMs[0], 0);
    ASSERT_EQ(timing->callMs.size(), m_calls);
    for (const double ms : timing->callMs) EXPECT_GE(ms, 0);
    EXPECT_FALSE(timing->hygiene.warnings.empty());
    const auto longer = measureArtifact(m_request, {.repeat = 1, .minRepeatMs = 20}, m_job);
    ASSERT_TRUE(longer) << longer.error().text();
    EXPECT_EQ(longer->runsMs.size(), 1u);
}

TEST_F(HexagonProgram, SaysWhatFails)
{
    TENON_NEED_TOOL("qemu-hexagon");
    ASSERT_NO_FATAL_FAILURE(make());
    RunRequest broken = m_request;
    broken.artifactPath = m_folder.file("broken.elf");
    ASSERT_TRUE(core::writeFileAtomically(broken.artifactPath, "no program"));
    EXPECT_EQ(runArtifact(broken, m_job).error().code, core::DiagnosticCode::BadArtifact);
    // The program's own words: its file names are one too few.
    auto bytes = core::readFile(m_request.artifactPath);
    ASSERT_TRUE(bytes);
    ASSERT_TRUE(core::writeFileAtomically(broken.artifactPath, *bytes));
    broken.emulator = {"false"};
    EXPECT_EQ(runArtifact(broken, m_job).error().code, core::DiagnosticCode::BoardFailure);
    broken.emulator = m_request.emulator;
    broken.emulator.push_back(m_request.artifactPath); // sees four files
    const auto failed = runArtifact(broken, m_job);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("wants three files"), std::string::npos)
        << failed.error().text();
}

TEST(HexagonEmulator, RunsVersionsUpTo67)
{
    TENON_NEED_TOOL("qemu-hexagon");
    for (const char* text : {"hexagon", "hexagon -mcpu=v67",
                             "llvm -mtriple=hexagon-unknown-linux-musl -mcpu=hexagonv66"})
        EXPECT_TRUE(emulatorFor(*core::parseTarget(text))) << text;
    for (const char* text :
         {"hexagon -mcpu=v68", "llvm -mtriple=hexagon-unknown-linux-musl -mcpu=hexagonv73"}) {
        const auto emulator = emulatorFor(*core::parseTarget(text));
        ASSERT_FALSE(emulator) << text;
        EXPECT_EQ(emulator.error().code, core::DiagnosticCode::UnsupportedTarget);
        EXPECT_NE(emulator.error().message.find("versions up to v67"), std::string::npos);
    }
}

} // namespace
} // namespace tenon::remote
