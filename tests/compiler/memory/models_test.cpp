// SPDX-License-Identifier: Apache-2.0
// Every model at hand: the exact planner proves that its plan is the lower bound, byte for byte.
#include "compiler/driver/planning_problem.h"
#include "compiler/frontend/load_model.h"
#include "core/base/file.h"
#include "tests/support/environment.h"
#include "tests/zoo/zoo.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace tenon::compiler {
namespace {

void expectPlanAtBound(const std::string& path, const ImportOptions& options)
{
    auto loaded = loadModel(path, options);
    ASSERT_TRUE(loaded) << path << ": " << loaded.error().text();
    CompileOptions compileOptions;
    compileOptions.target = "llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"; // on every computer
    JobContext job;
    const auto problem =
        planningProblem(std::make_shared<const Loaded>(std::move(*loaded)), compileOptions, job);
    ASSERT_TRUE(problem) << path << ": " << problem.error().text();
    const auto plan = planMemory("exact", *problem, {.nodes = 20000}); // checks the plan, too
    ASSERT_TRUE(plan) << path << ": " << plan.error().text();
    EXPECT_EQ(plan->totalBytes(), lowerBound(*problem)) << path;
    EXPECT_TRUE(plan->isOptimal) << path;
}

/// The shapes of the first test case, as the notes beside the model say.
ImportOptions notedShapes(const std::filesystem::path& folder)
{
    ImportOptions options;
    const auto text = core::readFile((folder / "meta.json").string());
    if (!text) return options;
    const auto notes = nlohmann::json::parse(*text);
    const auto inputs = nlohmann::json::json_pointer("/sets/0/inputs");
    if (!notes.contains(inputs)) return options;
    for (const auto& input : notes[inputs])
        if (!input["shape"].empty())
            options.shapes[input["name"]] = input["shape"].get<std::vector<int64_t>>();
    return options;
}

void expectPlansAtBound(const std::string& collection)
{
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(collection))
        if (std::filesystem::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    EXPECT_FALSE(folders.empty()) << collection;
    for (const std::filesystem::path& folder : folders)
        expectPlanAtBound((folder / "model.onnx").string(), notedShapes(folder));
}

TEST(ModelPlans, OfTheSampleIsTheLowerBound)
{
    expectPlanAtBound(test::sourcePath("resources/sample/digits/model.onnx"), {});
}

TEST(ModelPlans, OfTheZooAreTheLowerBound)
{
    const test::TemporaryFolder folder;
    for (const test::ZooEntry& entry : test::zooEntries()) {
        const std::string path = folder.file(entry.name + std::string(".onnx"));
        ASSERT_TRUE(core::writeFileAtomically(path, entry.make({})));
        expectPlanAtBound(path, {});
    }
}

TEST(ModelPlans, OfExportedModelsAreTheLowerBound)
{
    TENON_NEED_DATA("exported")
    expectPlansAtBound(test::dataPath("exported"));
}

TEST(ModelPlans, OfTrainedModelsAreTheLowerBound)
{
    TENON_NEED_DATA("models")
    expectPlansAtBound(test::dataPath("models"));
}

} // namespace
} // namespace tenon::compiler
