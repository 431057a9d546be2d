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

} // namespace
} // namespace tenon::compiler
