// SPDX-License-Identifier: Apache-2.0
// Concatenations of several images: without a copy, and with the same numbers, as everywhere else.
#include "compiler/driver/compile.h"
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/load_model.h"
#include "core/base/file.h"
#include "remote/session/local_board.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::remote {
namespace {

using compiler::ExecutorKind;
using core::Tensor;

/// Branches with their parts read again, one whole in another, and parts that are joined twice.
constexpr const char* kBranches = R"(def @main(%x: Tensor[(3, 16, 6, 7), float32]) {
  %w1 = rand(1) : Tensor[(16, 16, 1, 1), float32]
  %w3 = rand(2) : Tensor[(32, 16, 3, 3), float32]
  %wd = rand(3) : Tensor[(16, 1, 3, 3), float32]
  %w5 = rand(4) : Tensor[(48, 64, 3, 3), float32]
  %a = nn.conv2d(%x, %w1)
  %a1 = nn.relu(%a)
  %b = nn.conv2d(%x, %w3, padding=[1, 1, 1, 1])
  %c = nn.conv2d(%a1, %wd, padding=[1, 1, 1, 1], groups=16)
  %c1 = sigmoid(%c)
  %d = concatenate(%a1, %b, axis=1)
  %e = concatenate(%d, %c1, axis=1)
  %f = nn.conv2d(%e, %w5, padding=[1, 1, 1, 1])
  %g = nn.max_pool2d(%d, pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1])
  %h = concatenate(%f, %g, axis=1)
  %i = concatenate(%h, %c1, %f, axis=1)
  return %i, %g
})";

Tensor waves(const std::vector<int64_t>& shape)
{
    std::vector<float> values;
    for (int64_t i = 0; i < core::elementCount(shape); ++i)
        values.push_back(static_cast<float>(std::sin(static_cast<double>(i * i) * 0.37)));
    return Tensor::of<float>(core::kFloat32, shape, values);
}

class JoinedRun : public testing::Test
{
protected:
    void SetUp() override
    {
        const std::string path = m_folder.file("branches.txt");
        ASSERT_TRUE(core::writeFileAtomically(path, kBranches));
        auto loaded = compiler::loadModel(path, {});
        ASSERT_TRUE(loaded) << loaded.error().text();
        m_loaded = std::make_shared<const compiler::Loaded>(*std::move(loaded));
    }
    compiler::CompileResultPtr compile(ExecutorKind executor, int optLevel)
    {
        compiler::CompileOptions options;
        options.optLevel = optLevel;
        options.executor = executor;
        auto result = compiler::compile(m_loaded, options, m_job);
        CHECK(result) << result.error().text();
        return *result;
    }
    std::vector<Tensor> run(const compiler::CompileResult& result)
    {
        const auto report = compiler::writeArtifact(result, m_folder.file("m.so"));
        CHECK(report) << report.error().text();
        auto got = runArtifact({.artifactPath = m_folder.file("m.so"),
                                .inputs = {{"x", m_x}},
                                .threads = 2,
                                .poison = true},
                               m_job);
        CHECK(got) << got.error().text();
        return *got;
    }

    const Tensor m_x = waves({3, 16, 6, 7});
    test::TemporaryFolder m_folder;
    std::shared_ptr<const compiler::Loaded> m_loaded;
    core::JobContext m_job;
};

TEST_F(JoinedRun, ComputesTheSameOnEveryExecutor)
{
    const auto wanted = compiler::evaluateGraph(m_loaded->module, {{"x", m_x}}, m_job);
    ASSERT_TRUE(wanted) << wanted.error().text();
    for (const ExecutorKind executor : {ExecutorKind::Aot, ExecutorKind::Graph, ExecutorKind::Vm})
        for (const int level : {0, 3}) {
            const std::vector<Tensor> got = run(*compile(executor, level));
            ASSERT_EQ(got.size(), 2u);
            for (size_t i = 0; i < 2; ++i)
                for (size_t k = 0; k < static_cast<size_t>(got[i].size()); ++k)
                    ASSERT_NEAR(got[i].as<float>()[k], (*wanted)[i].as<float>()[k], 1e-3)
                        << "level " << level << ", output " << i << ", element " << k;
        }
}

TEST_F(JoinedRun, CopiesOnlyWhatHasNoPlace)
{
    const auto copies = [&](ExecutorKind executor) {
        int count = 0;
        for (const compiler::KernelCall& call : compile(executor, 3)->program.calls)
            count += call.title.text().starts_with("concat");
        return count;
    };
    EXPECT_EQ(copies(ExecutorKind::Graph), 4);
    EXPECT_EQ(copies(ExecutorKind::Aot), 1); // the last, in another layout and of joined parts
}

} // namespace
} // namespace tenon::remote
