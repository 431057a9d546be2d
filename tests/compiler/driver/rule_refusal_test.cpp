// SPDX-License-Identifier: Apache-2.0
// No kernel of the models that matter falls back to plain loops because the rule of its family
// refused it: such a kernel is right, so that no other test sees that it is ten times slower.
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace tenon::compiler {
namespace {

struct Configuration
{
    const char* target;
    int optLevel;
};

constexpr Configuration kConfigurations[] = {
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512", 2},
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=skylake-avx512", 3},
    {"llvm -mtriple=x86_64-linux-gnu -mcpu=haswell", 3},
    {"llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", 2},
    {"llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", 3},
    {"llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c", 3}, // no vectors
};

/// Scheduled only, as for several threads: which rule takes a kernel does not depend on the
/// computer of the test.
CompileOptions scheduling(const Configuration& configuration)
{
    CompileOptions options;
    options.target = configuration.target;
    options.optLevel = configuration.optLevel;
    options.runThreads = 2;
    options.service = schedulingKernelService();
    return options;
}

void expectNoRefusal(const std::shared_ptr<const Loaded>& loaded, const std::string& model)
{
    JobContext job(std::max(1u, std::thread::hardware_concurrency()));
    for (const Configuration& configuration : kConfigurations) {
        const auto result = compile(loaded, scheduling(configuration), job);
        ASSERT_TRUE(result) << model << ": " << result.error().text();
        for (const Diagnostic& warning : refusalWarnings(**result))
            ADD_FAILURE() << model << " at level " << configuration.optLevel << " for "
                          << configuration.target << ": " << warning.text();
    }
}

class ZooRules : public testing::TestWithParam<test::ZooEntry>
{
};

TEST_P(ZooRules, takeEveryKernelOfTheirFamily)
{
    test::ZooOptions small;
    small.nodes = 200; // of the synthetic model, whose kernels repeat
    const auto bytes = std::make_shared<const std::string>(GetParam().make(small));
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "zoo.onnx", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    expectNoRefusal(std::make_shared<const Loaded>(std::move(*loaded)), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooRules, testing::ValuesIn(test::zooEntries()),
                         [](const auto& param) { return std::string(param.param.name); });

class SharedRules : public testing::TestWithParam<const char*>
{
};

TEST_P(SharedRules, takeEveryKernelOfTheirFamily)
{
    TENON_NEED_DATA(GetParam());
    size_t models = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::dataPath(GetParam()))) {
        const std::string path = entry.path() / "model.onnx";
        if (!std::filesystem::exists(path)) continue;
        const std::string name = entry.path().filename();
        auto loaded = loadModel(path, {});
        ASSERT_TRUE(loaded) << name << ": " << loaded.error().text();
        expectNoRefusal(std::make_shared<const Loaded>(std::move(*loaded)), name);
        ++models;
    }
    EXPECT_GT(models, 0u);
}

INSTANTIATE_TEST_SUITE_P(Folders, SharedRules, testing::Values("exported", "models"),
                         [](const auto& param) { return std::string(param.param); });

} // namespace
} // namespace tenon::compiler
