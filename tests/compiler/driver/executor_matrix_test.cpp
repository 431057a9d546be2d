// SPDX-License-Identifier: Apache-2.0
// Every back end with every executor: each form is written, or refused and nothing is left; what
// runs here gives the reference's result. A new back end needs no line.
#include "compiler/codegen/back_end.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "core/tensor/tensor.h"
#include "remote/session/emulation.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <tuple>

namespace tenon::compiler {
namespace {

const std::string kSample = "resources/sample/digits";

using Cell = std::tuple<const BackEnd*, ExecutorKind>;

class ExecutorMatrix : public testing::TestWithParam<Cell>
{
protected:
    const BackEnd& backEnd() const { return *std::get<0>(GetParam()); }
    ExecutorKind executor() const { return std::get<1>(GetParam()); }

    Result<CompileResultPtr> compiled() const
    {
        auto loaded = loadModel(test::sourcePath(kSample) + "/model.onnx", {});
        CHECK(loaded) << loaded.error().text();
        CompileOptions options;
        options.target = backEnd().kind.empty()
                             ? "llvm -mtriple=" + std::string(backEnd().architecture) + "-unknown"
                             : std::string(backEnd().kind);
        if (backEnd().sources)
            options.target += " -mcpu=cortex-m4"; // programs are linked for cores
        options.executor = executor();
        JobContext job(2);
        return compile(std::make_shared<const Loaded>(std::move(*loaded)), options, job);
    }
    static Status write(const CompileResult& result, const std::string& path)
    {
        const auto report = writeProgram(result, CInterface::Packed, path);
        return report ? kDone : Status(report.error());
    }
};

TEST_P(ExecutorMatrix, WritesItsFormsAndRefusesTheOthers)
{
    if (backEnd().sources) TENON_NEED_TOOL("arm-none-eabi-gcc");
    const auto result = compiled();
    if (!result) {
        EXPECT_FALSE(backEnd().runs(executor())) << result.error().text();
        EXPECT_EQ(result.error().code, DiagnosticCode::UnsupportedFeature);
        return;
    }
    ASSERT_EQ((*result)->machine.backEnd, &backEnd());
    for (const ArtifactForm& form : backEnd().forms) {
        const test::TemporaryFolder folder;
        const std::string path = folder.file("model" + std::string(suffixOf(form.format)));
        const Status done = write(**result, path);
        EXPECT_EQ(done.operator bool(), form.runs(executor())) << formatName(form.format);
        EXPECT_EQ(std::filesystem::exists(path), done.operator bool());
    }
}

void expectTheReference(const std::vector<Tensor>& outputs)
{
    const auto wanted = readTensorFile(test::sourcePath(kSample) + "/test_data_set_0/output_0.pb");
    ASSERT_TRUE(wanted && outputs.size() == 1);
    const auto got = outputs[0].as<float>(), reference = wanted->tensor.as<float>();
    ASSERT_EQ(got.size(), reference.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], reference[i], 1e-4f);
}

TEST_P(ExecutorMatrix, RunsHere)
{
    const ArtifactForm& form = backEnd().forms.front();
    if (!isRunnable(form.format) || !form.runs(executor())) return; // as the other test says
    if (!backEnd().runner.program.empty()) TENON_NEED_TOOL(std::string(backEnd().runner.program));
    if (backEnd().sources) TENON_NEED_TOOL("arm-none-eabi-gcc");
    const auto result = compiled();
    ASSERT_TRUE(result) << result.error().text();
    const test::TemporaryFolder folder;
    remote::RunRequest request;
    request.artifactPath = folder.file("model" + std::string(suffixOf(form.format)));
    ASSERT_TRUE(write(**result, request.artifactPath));
    ASSERT_TRUE(remote::runHere(request, (*result)->target));
    const auto input = readTensorFile(test::sourcePath(kSample) + "/test_data_set_0/input_0.pb");
    ASSERT_TRUE(input) << input.error().text();
    const ExecutorProgram& program = (*result)->program;
    request.inputs = {
        {program.tensors[static_cast<size_t>(program.inputs[0])].name, input->tensor}};
    JobContext job;
    const auto outputs = remote::runArtifact(request, job);
    ASSERT_TRUE(outputs) << outputs.error().text();
    expectTheReference(*outputs);
}

INSTANTIATE_TEST_SUITE_P(All, ExecutorMatrix,
                         testing::Combine(testing::ValuesIn(allBackEnds().begin(),
                                                            allBackEnds().end()),
                                          testing::ValuesIn(kAllExecutors)),
                         [](const auto& tested) {
                             return std::string(std::get<0>(tested.param)->name) + "_" +
                                    std::string(executorName(std::get<1>(tested.param)));
                         });

} // namespace
} // namespace tenon::compiler
