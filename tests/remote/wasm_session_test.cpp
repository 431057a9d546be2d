// SPDX-License-Identifier: Apache-2.0
// WebAssembly modules in Node: runs, times per call, and what does not fit.
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "core/base/file.h"
#include "remote/measure/emulation.h"
#include "remote/measure/wasm_session.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

/// The sample as a module of its own folder, and how to run it here.
class WasmModule : public testing::Test
{
protected:
    void make()
    {
        auto loaded =
            compiler::loadModel(test::sourcePath("resources/sample/digits/model.onnx"), {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        compiler::CompileOptions options;
        options.target = "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128";
        const auto result = compiler::compile(
            std::make_shared<const compiler::Loaded>(std::move(*loaded)), options, m_job);
        ASSERT_TRUE(result) << result.error().text();
        m_calls = (*result)->program.calls.size();
        m_request.artifactPath = m_folder.file("model.wasm");
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

TEST_F(WasmModule, RunsOnZerosUntilInputsAreSet)
{
    TENON_NEED_TOOL("node");
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

TEST_F(WasmModule, TimesEveryCall)
{
    TENON_NEED_TOOL("node");
    ASSERT_NO_FATAL_FAILURE(make());
    const auto timing = measureArtifact(m_request, {.repeat = 3, .perCall = true}, m_job);
    ASSERT_TRUE(timing) << timing.error().text();
    EXPECT_EQ(timing->runsMs.size(), 3u);
    ASSERT_EQ(timing->callMs.size(), m_calls);
    for (const double ms : timing->callMs) EXPECT_GE(ms, 0);
    EXPECT_FALSE(timing->hygiene.warnings.empty());
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
