// SPDX-License-Identifier: Apache-2.0
// WebAssembly modules in Node: runs, times per call, and what does not fit.
#include "core/base/file.h"
#include "remote/session/emulation.h"
#include "remote/session/wasm_session.h"
#include "tests/remote/sample_artifact.h"

namespace tenon::remote {
namespace {

class WasmModule : public SampleArtifact
{
protected:
    void make()
    {
        SampleArtifact::make("llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128", "model.wasm");
    }
};

TEST_F(WasmModule, RunsOnZerosUntilInputsAreSet)
{
    TENON_NEED_TOOL("node");
    ASSERT_NO_FATAL_FAILURE(make());
    expectRunsOnZerosUntilInputsAreSet();
}

TEST_F(WasmModule, TimesEveryCall)
{
    TENON_NEED_TOOL("node");
    ASSERT_NO_FATAL_FAILURE(make());
    expectTimesOfEveryCall();
}

TEST_F(WasmModule, SaysWhatDoesNotFit)
{
    TENON_NEED_TOOL("node");
    ASSERT_NO_FATAL_FAILURE(make());
    const auto session = LocalSession::open(m_request, m_job);
    ASSERT_TRUE(session) << session.error().text();
    const core::Tensor small = core::Tensor::of(core::kFloat32, {1}, std::vector<float>{1});
    EXPECT_EQ((*session)->setInputs({{"nothing", small}}, m_job).error().code,
              core::DiagnosticCode::UnknownName);
    EXPECT_EQ((*session)->setInputs({{"image", small}}, m_job).error().code,
              core::DiagnosticCode::ShapeMismatch);
    // A module that says what is in it but cannot be instantiated.
    auto bytes = core::readFile(m_request.artifactPath);
    ASSERT_TRUE(bytes);
    RunRequest broken = m_request;
    broken.artifactPath = m_folder.file("broken.wasm");
    const size_t name = bytes->find("_initialize");
    ASSERT_NE(name, std::string::npos);
    (*bytes)[name] = 'x';
    ASSERT_TRUE(core::writeFileAtomically(broken.artifactPath, *bytes));
    const auto failed = runArtifact(broken, m_job);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, core::DiagnosticCode::BoardFailure) << failed.error().text();
    EXPECT_NE(failed.error().message.find("_initialize"), std::string::npos)
        << failed.error().text();
    ASSERT_TRUE(core::writeFileAtomically(broken.artifactPath, "no module"));
    EXPECT_EQ(runArtifact(broken, m_job).error().code, core::DiagnosticCode::BadArtifact);
}

TEST_F(WasmModule, StopsWhenAskedOrLate)
{
    TENON_NEED_TOOL("node");
    ASSERT_NO_FATAL_FAILURE(make());
    RunRequest late = m_request;
    late.timeout = std::chrono::milliseconds(0); // over before it starts
    EXPECT_EQ(runArtifact(late, m_job).error().code, core::DiagnosticCode::TimedOut);
    core::JobContext stopped;
    stopped.requestStop();
    EXPECT_EQ(runArtifact(m_request, stopped).error().code, core::DiagnosticCode::Cancelled);
}

} // namespace
} // namespace tenon::remote
