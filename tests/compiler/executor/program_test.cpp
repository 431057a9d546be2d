// SPDX-License-Identifier: Apache-2.0
// The rules of a program: each broken one is found.
#include "compiler/executor/program.h"
#include "tests/compiler/executor/sample_program.h"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::compiler {
namespace {

TEST(Program, AcceptsTheSample) { EXPECT_NO_THROW(verifyProgram(test::sampleProgram())); }

TEST(Program, FindsEveryBrokenRule)
{
    const std::pair<const char*, std::function<void(ExecutorProgram&)>> cases[] = {
        {"two tensors are named x", [](ExecutorProgram& p) { p.tensors[1].name = "x"; }},
        {"value and role disagree", [](ExecutorProgram& p) { p.tensors[2].constant = {}; }},
        {"ends behind sum", [](ExecutorProgram& p) { p.tensors[6].shape = {7}; }},
        {"two calls are named", [](ExecutorProgram& p) { p.calls[1].name = p.calls[0].name; }},
        {"before it is written", [](ExecutorProgram& p) { std::swap(p.calls[0], p.calls[1]); }},
        {"writes an input", [](ExecutorProgram& p) { p.calls[2].arguments[2] = 1; }},
        {"an output is never written", [](ExecutorProgram& p) { p.calls.pop_back(); }},
        {"parameterCount", [](ExecutorProgram& p) { p.kernels[0].parameterCount = 4; }},
    };
    for (const auto& [saying, change] : cases) {
        ExecutorProgram program = test::sampleProgram();
        change(program);
        try {
            verifyProgram(program);
            ADD_FAILURE() << "accepted: " << saying;
        } catch (const core::InternalError& error) {
            EXPECT_NE(std::string(error.what()).find(saying), std::string::npos) << error.what();
        }
    }
}

} // namespace
} // namespace tenon::compiler
