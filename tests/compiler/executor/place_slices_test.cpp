// SPDX-License-Identifier: Apache-2.0
// placeSlices() on a program whose third call copies the second half of a value.
#include "compiler/executor/memory.h"
#include "compiler/executor/place_slices.h"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::compiler {
namespace {

ProgramTensor floats(const char* name, int64_t count)
{
    return {.name = name, .dtype = core::kFloat32, .shape = {count}};
}

/// x -> a, which s takes a piece of; y is computed of the piece.
ExecutorProgram sliced()
{
    ExecutorProgram program;
    program.tensors = {floats("x", 32), floats("a", 32), floats("s", 16), floats("y", 16)};
    program.tensors[0].role = TensorRole::Input;
    program.kernels = {{.symbol = "f", .function = "f", .parameterCount = 2},
                       {.symbol = "s", .function = "s", .parameterCount = 2},
                       {.symbol = "g", .function = "g", .parameterCount = 2}};
    program.calls = {{.name = "fa", .kernel = 0, .arguments = {0, 1}, .fromNodes = {"fa"}},
                     {.name = "cut", .kernel = 1, .arguments = {1, 2}, .fromNodes = {"cut"}},
                     {.name = "gy", .kernel = 2, .arguments = {2, 3}, .fromNodes = {"gy"}}};
    program.inputs = {0};
    program.outputs = {3};
    program.outputNames = {"y"};
    return program;
}

TEST(PlaceSlices, AreReadWhereTheyAre)
{
    ExecutorProgram program = sliced();
    placeSlices(program, {{"cut", 64}});
    ASSERT_EQ(program.calls.size(), 2u);
    EXPECT_EQ(program.memoryOwner(2), 1);
    EXPECT_EQ(program.memoryOffset(2), 64);
    EXPECT_EQ(program.calls[0].fromNodes, (std::vector<std::string>{"fa", "cut"}));
    // The piece keeps the whole alive.
    const ProgramMemory memory = *planProgram(program, "greedy_by_size");
    ASSERT_EQ(memory.problem.buffers.size(), 1u);
    EXPECT_EQ(memory.problem.buffers[0].last, 1);
}

TEST(PlaceSlices, OfPlacedPartsAreFoundFromTheirBeginning)
{
    ExecutorProgram program = sliced();
    program.tensors.push_back(floats("whole", 64));
    program.tensors[1].viewOf = 4;
    program.tensors[1].viewOffsetBytes = 128;
    placeSlices(program, {{"cut", 64}});
    EXPECT_EQ(program.memoryOwner(2), 4);
    EXPECT_EQ(program.memoryOffset(2), 192);
}

TEST(PlaceSlices, OthersKeepTheirCall)
{
    const auto kept = [](int64_t offset, const std::function<void(ExecutorProgram&)>& change) {
        ExecutorProgram program = sliced();
        change(program);
        placeSlices(program, {{"cut", offset}});
        return program.calls.size() == 3;
    };
    const auto nothing = [](ExecutorProgram&) {};
    EXPECT_FALSE(kept(0, nothing));
    EXPECT_TRUE(kept(32, nothing));                                                 // not aligned
    EXPECT_TRUE(kept(64, [](ExecutorProgram& p) { p.calls[1].arguments[0] = 0; })); // of an input
    EXPECT_TRUE(kept(64, [](ExecutorProgram& p) {
        p.outputs = {3, 2}, p.outputNames = {"y", "s"};
    }));
    EXPECT_TRUE(kept(64, [](ExecutorProgram& p) { // has a place in a concatenation
        p.tensors.push_back(floats("joined", 64));
        p.tensors[2].viewOf = 4;
    }));
    EXPECT_TRUE(kept(64, [](ExecutorProgram& p) { p.calls[1].name = "other"; }));
}

} // namespace
} // namespace tenon::compiler
