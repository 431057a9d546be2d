// SPDX-License-Identifier: Apache-2.0
// Lowering to flat loops: text of each kind of statement, and the result computes the same.
#include "compiler/schedule/beyond_images.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/support.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(LowerToLoops, IsAsWritten)
{
    test::expectGolden("tests/compiler/schedule/lower_to_loops.txt", [](const test::GoldenCase& c) {
        const auto before = tir::parsePrimFunc(c.input);
        if (!before) return before.error().text() + "\n";
        const auto lowered = lowerToLoops(*before);
        if (!lowered) return lowered.error().text() + "\n";
        // Of patches, what lies beyond the image is left out.
        if (patchSizeCount(*before) == 0) {
            EXPECT_EQ(test::difference(*before, *lowered), "") << c.title;
        }
        return tir::print(*lowered);
    });
}

} // namespace
} // namespace tenon::compiler
