// SPDX-License-Identifier: Apache-2.0
// Lifetimes of a program's tensors, its workspace plan and its storage ids.
#include "compiler/executor/memory.h"
#include "tests/compiler/executor/sample_program.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

/// A chain of `sizes.size()` tensors of these float counts; tensor 0 is the input, the last the
/// output.
ExecutorProgram chain(const std::vector<int64_t>& sizes)
{
    ExecutorProgram program;
    program.kernels = {{.symbol = "k", .function = "f", .parameterCount = 2}};
    for (size_t i = 0; i < sizes.size(); ++i) {
        const int index = static_cast<int>(i);
        program.tensors.push_back({.name = "t" + std::to_string(i),
                                   .dtype = core::kFloat32,
                                   .shape = {sizes[i]},
                                   .role = i == 0 ? TensorRole::Input : TensorRole::Intermediate});
        if (i > 0)
            program.calls.push_back(
                {.name = "c" + std::to_string(i), .kernel = 0, .arguments = {index - 1, index}});
    }
    program.inputs = {0};
    program.outputs = {static_cast<int>(sizes.size()) - 1};
    program.outputNames = {"out"};
    return program;
}

TEST(ProgramMemory, OutputsNeedNoWorkspace)
{
    EXPECT_EQ(planProgram(chain({16, 16}), "greedy_by_size")->workspaceBytes(), 0);
}

TEST(ProgramMemory, PlansNeighboursApartAndReusesTheRest)
{
    const ExecutorProgram program = chain({16, 16, 32, 16, 32, 16});
    const ProgramMemory memory = *planProgram(program, "hill_climb");
    ASSERT_EQ(memory.problem.buffers.size(), 4u);
    EXPECT_EQ(memory.problem.buffers[0].first, 0);
    EXPECT_EQ(memory.problem.buffers[0].last, 1);
    EXPECT_EQ(memory.plan.lowerBoundBytes, 192);
    EXPECT_EQ(memory.workspaceBytes(), 192);
    EXPECT_EQ(memory.bufferOf, (std::vector<int>{-1, 0, 1, 2, 3, -1}));
}

TEST(ProgramMemory, AViewKeepsItsOwnerAlive)
{
    ExecutorProgram program = test::sampleProgram();
    program.tensors[6].shape = {2};
    const ProgramMemory memory = *planProgram(program, "greedy_by_size");
    // A part of `sum` is an output: it lives to the end and the part is copied from the workspace.
    const int buffer = memory.bufferOf[3];
    ASSERT_GE(buffer, 0);
    EXPECT_EQ(memory.bufferOf[6], buffer);
    EXPECT_EQ(memory.problem.buffers[static_cast<size_t>(buffer)].last, 3);
    EXPECT_EQ(memory.workspaceBytes(), 88);
}

TEST(ProgramMemory, OnlyWholeIntermediatesAreWrittenStraightIntoOutputs)
{
    ExecutorProgram program = test::sampleProgram();
    EXPECT_EQ(directOutputs(program), (std::vector<bool>{true, true, false, false}));
    program.outputs = {6, 3, 5, 5};
    EXPECT_EQ(directOutputs(program), (std::vector<bool>{true, false, true, false}));
    program.tensors[6].shape = {2};
    EXPECT_EQ(directOutputs(program), (std::vector<bool>{false, true, true, false}));
}

TEST(ProgramStorage, NeverGivesALiveStorageAway)
{
    const ExecutorProgram program = chain({16, 16, 32, 16, 32, 16, 8, 64});
    const StoragePlan plan = planStorage(program);
    for (const KernelCall& call : program.calls)
        EXPECT_NE(plan.storageOf[static_cast<size_t>(call.arguments[0])],
                  plan.storageOf[static_cast<size_t>(call.arguments[1])])
            << call.name;
    const int input = plan.storageOf[0];
    EXPECT_EQ(std::count(plan.storageOf.begin(), plan.storageOf.end(), input), 1);
    EXPECT_LE(plan.bytes.size(), 3u);
    for (size_t t = 0; t < program.tensors.size(); ++t)
        EXPECT_GE(plan.bytes[static_cast<size_t>(plan.storageOf[t])], program.tensors[t].bytes());
}

} // namespace
} // namespace tenon::compiler
