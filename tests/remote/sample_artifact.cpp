// SPDX-License-Identifier: Apache-2.0
// Compiles the sample once per test; the file is what a user would write.
#include "tests/remote/sample_artifact.h"

#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "remote/session/emulation.h"

namespace tenon::remote {

void SampleArtifact::make(const char* target, const char* file)
{
    auto loaded = compiler::loadModel(test::sourcePath("resources/sample/digits/model.onnx"), {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    compiler::CompileOptions options;
    options.target = target;
    const auto result = compiler::compile(
        std::make_shared<const compiler::Loaded>(std::move(*loaded)), options, m_job);
    ASSERT_TRUE(result) << result.error().text();
    m_calls = (*result)->program.calls.size();
    m_request.artifactPath = m_folder.file(file);
    const auto written = compiler::writeArtifact(**result, m_request.artifactPath);
    ASSERT_TRUE(written) << written.error().text();
    const core::Status found = runHere(m_request, (*result)->target);
    ASSERT_TRUE(found) << found.error().text();
}

void SampleArtifact::expectRunsOnZerosUntilInputsAreSet()
{
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

void SampleArtifact::expectTimesOfEveryCall()
{
    const auto timing = measureArtifact(m_request, {.repeat = 3, .perCall = true}, m_job);
    ASSERT_TRUE(timing) << timing.error().text();
    ASSERT_EQ(timing->runsMs.size(), 3u);
    EXPECT_GT(timing->runsMs[0], 0);
    ASSERT_EQ(timing->callMs.size(), m_calls);
    for (const double ms : timing->callMs) EXPECT_GE(ms, 0);
    EXPECT_FALSE(timing->hygiene.warnings.empty());
}

} // namespace tenon::remote
