// SPDX-License-Identifier: Apache-2.0
// Folding with several threads: the same constants in the same order, and none after a stop.
#include "compiler/passes/passes.h"
#include "core/ir/graph_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// Groups of many sizes, small and large ones in turn.
Module sample()
{
    std::string text = "def @main(%x: Tensor[(1, 1), float32]) {\n";
    std::string results;
    const int64_t sizes[] = {3, 1030, 40, 900, 1, 200, 64, 1100, 7};
    int number = 0;
    for (const int64_t size : sizes) {
        const std::string n = std::to_string(number++);
        const std::string type = "Tensor[(" + std::to_string(size) + ", 600), float32]";
        text += "  %w" + n + " = rand(" + n + ") : " + type + "\n";
        text += "  %t" + n + " = transpose(%w" + n + ", axes=[1, 0])\n";
        text += "  %s" + n + " = multiply(%t" + n + ", %t" + n + ")\n";
        text += "  %y" + n + " = add(%s" + n + ", %x)\n";
        results += (results.empty() ? "%y" : ", %y") + n;
    }
    Module module = std::move(*parseModule(text + "  return " + results + "\n}\n"));
    CHECK(inferMissingTypes(module)) << "the text is typed wrongly";
    return module;
}

Result<Patches> folded(const Module& module, JobContext& job)
{
    PassContext context;
    context.job = &job;
    return runFoldConstant(module, context);
}

TEST(FoldConstant, GivesTheSameWithAnyNumberOfThreads)
{
    const Module module = sample();
    JobContext one(1);
    const auto wanted = folded(module, one);
    ASSERT_TRUE(wanted) << wanted.error().text();
    EXPECT_EQ(wanted->size(), 9u);
    for (const unsigned threads : {2u, 5u}) {
        JobContext job(threads);
        const auto got = folded(module, job);
        ASSERT_TRUE(got) << got.error().text();
        ASSERT_EQ(got->size(), wanted->size());
        for (size_t i = 0; i < got->size(); ++i) {
            const Patch& a = (*wanted)[i];
            const Patch& b = (*got)[i];
            EXPECT_EQ(a.reason, b.reason);
            EXPECT_EQ(a.erase, b.erase);
            ASSERT_EQ(a.nodes.size(), b.nodes.size());
            for (size_t k = 0; k < a.nodes.size(); ++k) {
                EXPECT_EQ(a.nodes[k].id, b.nodes[k].id);
                EXPECT_EQ(a.nodes[k].constant->hash(), b.nodes[k].constant->hash());
            }
        }
    }
}

TEST(FoldConstant, StopsBetweenGroups)
{
    const Module module = sample();
    for (const unsigned threads : {1u, 3u}) {
        JobContext job(threads);
        job.requestStop();
        const auto stopped = folded(module, job);
        ASSERT_FALSE(stopped);
        EXPECT_EQ(stopped.error().code, DiagnosticCode::Cancelled);
    }
}

/// A constant joined with itself so many times.
std::string doubled(int64_t elements, int times, const std::string& with)
{
    std::string text = "def @main(%x: Tensor[(1), float32]) {\n  %0 = rand(1) : Tensor[(" +
                       std::to_string(elements) + "), float32]\n";
    for (int i = 0; i < times; ++i) {
        const std::string before = "%" + std::to_string(i);
        text += "  %" + std::to_string(i + 1) + " = concatenate(" + before + ", " +
                (with.empty() ? before : with) + ", axis=0)\n";
    }
    return text + "  %y = add(%" + std::to_string(times) + ", %x)\n  return %y\n}\n";
}

Module typedText(const std::string& text)
{
    Result<Module> module = parseModule(text);
    CHECK(module) << module.error().text();
    CHECK(inferMissingTypes(*module)) << "the text is typed wrongly";
    return std::move(*module);
}

int64_t foldedBytes(const Module& module)
{
    JobContext job(1);
    const auto patches = folded(module, job);
    CHECK(patches) << patches.error().text();
    int64_t bytes = 0;
    for (const Patch& patch : *patches)
        for (const NodeRecord& node : patch.nodes)
            if (node.constant) bytes += static_cast<int64_t>(node.constant->bytes().size());
    return bytes;
}

TEST(FoldConstant, LeavesWhatGrowsTooMuchToTheRun)
{
    EXPECT_EQ(foldedBytes(typedText(doubled(1024, 4, ""))), 4096 << 4);
    const int64_t most = foldedBytes(typedText(doubled(1024, 15, "")));
    EXPECT_GT(most, 1 << 20);
    EXPECT_LE(most, 64 << 20);
    EXPECT_LE(foldedBytes(typedText(doubled(1024, 40, ""))), 64 << 20);
}

TEST(FoldConstant, RefusesModelsThatComputeFarMoreThanTheyHold)
{
    const auto error = [](const std::string& text) {
        const auto trace = runPasses(typedText(text), PassContext{}, {});
        return trace ? std::string() : trace.error().text();
    };
    const auto refused = [&](const std::string& text) {
        return error(text).find("out-of-memory") != std::string::npos &&
               error(text).find("from constants alone") != std::string::npos;
    };
    EXPECT_TRUE(refused(doubled(1024, 22, "")));
    EXPECT_TRUE(refused(doubled(1024, 45, "")));
    EXPECT_TRUE(refused("def @main(%x: Tensor[(1), float32]) {\n"
                        "  %0 = rand(1) : Tensor[(1), float32]\n"
                        "  %1 = tile(%0, reps=[2000000000])\n"
                        "  %y = add(%1, %x)\n  return %y\n}\n"));
    EXPECT_TRUE(refused("def @main(%x: Tensor[(1), float32]) {\n"
                        "  %0 = rand(1) : Tensor[(1), float32]\n"
                        "  %1 = broadcast_to(%0, shape=[40000, 40000])\n"
                        "  %2 = sum(%1)\n  %y = add(%2, %x)\n  return %y\n}\n"));
    // A causal mask from a few numbers.
    EXPECT_EQ(error("def @main(%x: Tensor[(1), float32]) {\n"
                    "  %0 = rand(1) : Tensor[(1), float32]\n"
                    "  %1 = broadcast_to(%0, shape=[512, 512])\n"
                    "  %y = add(%1, %x)\n  return %y\n}\n"),
              "");
}

} // namespace
} // namespace tenon::compiler
