// SPDX-License-Identifier: Apache-2.0
// Floats that become blocks of bytes are transposed in squares of vectors, where there are any.
#include "compiler/schedule/rules.h"
#include "tests/compiler/schedule/fused_case.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(Crossing, CopiesSquaresOnlyIntoVectors)
{
    const auto copies = [](int vectorBytes) {
        const auto kernel = test::fusedKernel(
            "%x: Tensor[(1, 8, 16, 16), float32], %s: Tensor[(), float32], %z: Tensor[(), int8]\n"
            "%q = qnn.quantize(%x, %s, %z)\n"
            "%y = layout_transform(%q, dst_layout=\"NCHW8c\", src_layout=\"NCHW\")\n");
        CHECK(kernel) << kernel.error().text();
        const auto scheduled = scheduleKernel(*kernel, TargetFacts{.vectorBytes = vectorBytes});
        CHECK(scheduled) << scheduled.error().text();
        EXPECT_EQ(test::scheduleDifference(*kernel, scheduled->function), "") << vectorBytes;
        std::string steps;
        for (const TraceStep& step : scheduled->trace) steps += step.text() + "\n";
        return steps.find("cache_read") != std::string::npos;
    };
    EXPECT_TRUE(copies(16));
    EXPECT_FALSE(copies(4)) << "a word of bytes";
}

} // namespace
} // namespace tenon::compiler
