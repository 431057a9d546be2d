// SPDX-License-Identifier: Apache-2.0
// Golden cases: shape rule, values and errors of the operators, every file beside this one.
#include "tests/compiler/ops/op_case.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace tenon::test {
namespace {

class OpCases : public ::testing::TestWithParam<std::string>
{
};

TEST_P(OpCases, Hold)
{
    expectGolden("tests/compiler/ops/" + GetParam() + ".txt",
                 [](const GoldenCase& one) { return runBody(one.input); });
}

INSTANTIATE_TEST_SUITE_P(Ops, OpCases, ::testing::ValuesIn(goldenFilesIn("tests/compiler/ops")),
                         [](const auto& param) { return param.param; });

} // namespace
} // namespace tenon::test
