// SPDX-License-Identifier: Apache-2.0
// Joins become views where their parts may lie anywhere, and stay calls where not.
#include "compiler/executor/memory.h"
#include "compiler/executor/place_joins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tenon::compiler {
namespace {

ProgramTensor tensor(const std::string& name, int64_t floats,
                     TensorRole role = TensorRole::Intermediate)
{
    return {.name = name, .dtype = core::kFloat32, .shape = {floats}, .role = role};
}

/// a = f(x), b = g(x), c = join(a, b), d = join(c, a2), y = h(d); a2 = f(x) again.
ExecutorProgram nested()
{
    ExecutorProgram program;
    program.tensors = {tensor("x", 16, TensorRole::Input),
                       tensor("a", 16),
                       tensor("b", 32),
                       tensor("c", 48),
                       tensor("a2", 16),
                       tensor("d", 64),
                       tensor("y", 64)};
    program.kernels = {{.symbol = "f", .function = "f", .parameterCount = 2},
                       {.symbol = "j", .function = "j", .parameterCount = 3}};
    program.calls = {{.name = "fa", .kernel = 0, .arguments = {0, 1}, .fromNodes = {"fa"}},
                     {.name = "fb", .kernel = 0, .arguments = {0, 2}, .fromNodes = {"fb"}},
                     {.name = "jc", .kernel = 1, .arguments = {1, 2, 3}, .fromNodes = {"jc"}},
                     {.name = "fa2", .kernel = 0, .arguments = {0, 4}, .fromNodes = {"fa2"}},
                     {.name = "jd", .kernel = 1, .arguments = {3, 4, 5}, .fromNodes = {"jd"}},
                     {.name = "fy", .kernel = 0, .arguments = {5, 6}, .fromNodes = {"fy"}}};
    program.inputs = {0};
    program.outputs = {6};
    program.outputNames = {"y"};
    return program;
}

std::vector<std::string> names(const ExecutorProgram& program)
{
    std::vector<std::string> out;
    for (const KernelCall& call : program.calls) out.push_back(call.name);
    return out;
}

TEST(PlaceJoins, PartsBecomeViewsOfTheResultAndJoinsNest)
{
    ExecutorProgram program = nested();
    placeJoins(program, {{"jc", 1}, {"jd", 1}});
    EXPECT_EQ(names(program), (std::vector<std::string>{"fa", "fb", "fa2", "fy"}));
    EXPECT_EQ(program.memoryOwner(2), 5);
    EXPECT_EQ(program.memoryOffset(2), 64);
    EXPECT_EQ(program.memoryOffset(4), 192);
    EXPECT_EQ(program.calls[1].fromNodes, (std::vector<std::string>{"fb", "jc"}));
    EXPECT_EQ(program.calls[2].fromNodes, (std::vector<std::string>{"fa2", "jd"}));
    // The parts keep the joined tensor alive.
    const ProgramMemory memory = *planProgram(program, "greedy_by_size");
    ASSERT_EQ(memory.problem.buffers.size(), 1u);
    EXPECT_EQ(memory.problem.buffers[0].first, 0);
    EXPECT_EQ(memory.problem.buffers[0].last, 3);
}

TEST(PlaceJoins, PartsInAnotherShapeArePlacedAndPartsOfThemAreNot)
{
    const auto joined = [](int64_t floats, int64_t offset) {
        ExecutorProgram program = nested();
        ProgramTensor view = tensor("shape of a", floats);
        view.viewOf = 1;
        view.viewOffsetBytes = offset;
        program.tensors.push_back(view);
        program.calls[2].arguments[0] = 7;
        program.tensors[3].shape = {32 + floats};
        program.tensors[5].shape = {48 + floats};
        placeJoins(program, {{"jc", 1}});
        return program;
    };
    const ExecutorProgram whole = joined(16, 0);
    EXPECT_EQ(names(whole), (std::vector<std::string>{"fa", "fb", "fa2", "jd", "fy"}));
    EXPECT_EQ(whole.memoryOwner(1), 3);
    EXPECT_EQ(whole.memoryOwner(7), 3);
    EXPECT_EQ(whole.memoryOffset(2), 64);
    EXPECT_EQ(names(joined(8, 0)), names(nested()));
    EXPECT_EQ(names(joined(8, 32)), names(nested()));
}

TEST(PlaceJoins, OtherCallsStay)
{
    ExecutorProgram program = nested();
    placeJoins(program, {});
    EXPECT_EQ(names(program), names(nested()));
}

TEST(PlaceJoins, AllButFreePartsKeepTheirCall)
{
    const auto kept = [](const std::function<void(ExecutorProgram&)>& change) {
        ExecutorProgram program = nested();
        change(program);
        placeJoins(program, {{"jc", 1}, {"jd", 1}});
        const std::vector<std::string> all = names(program);
        return std::count(all.begin(), all.end(), "jc") == 1;
    };
    EXPECT_FALSE(kept([](ExecutorProgram&) {}));
    EXPECT_TRUE(kept([](ExecutorProgram& p) {
        p.outputs = {6, 1}, p.outputNames = {"y", "a"};
    })) << "a part is an output";
    EXPECT_TRUE(kept([](ExecutorProgram& p) {
        p.tensors[1].shape = {8}; // the second part would start within a vector
        p.tensors[3].shape = {40};
        p.tensors[5].shape = {56};
    })) << "a part would not be aligned";
    EXPECT_TRUE(kept([](ExecutorProgram& p) {
        p.calls[2].arguments = {0, 2, 3};
    })) << "a part is an input";
    EXPECT_TRUE(kept([](ExecutorProgram& p) {
        p.calls[2].arguments = {1, 1, 3};
        p.tensors[3].shape = {32};
        p.tensors[5].shape = {48};
    })) << "a part stands twice";
}

} // namespace
} // namespace tenon::compiler
