// SPDX-License-Identifier: Apache-2.0
// Hexagon programs under QEMU: runs, times per call, and what cannot run.
#include "core/base/file.h"
#include "remote/session/emulation.h"
#include "remote/session/program_session.h"
#include "tests/remote/sample_artifact.h"

namespace tenon::remote {
namespace {

class HexagonProgram : public SampleArtifact
{
protected:
    void make() { SampleArtifact::make("hexagon", "model.elf"); }
};

TEST_F(HexagonProgram, RunsOnZerosUntilInputsAreSet)
{
    TENON_NEED_TOOL("qemu-hexagon");
    ASSERT_NO_FATAL_FAILURE(make());
    expectRunsOnZerosUntilInputsAreSet();
}

TEST_F(HexagonProgram, TimesEveryCallAndRunsLongEnough)
{
    TENON_NEED_TOOL("qemu-hexagon");
    ASSERT_NO_FATAL_FAILURE(make());
    expectTimesOfEveryCall();
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
