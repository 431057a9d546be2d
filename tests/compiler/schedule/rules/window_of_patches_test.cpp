// SPDX-License-Identifier: Apache-2.0
// Depthwise layers on any number of patches, which are cut in the layer's own loops.
#include "compiler/schedule/rules.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/schedule/support.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using namespace core;
using namespace compiler;

/// An image of n rows as patches of 8 and what windows of 3 x 3 reach around them.
constexpr const char* kDepthwise = R"(@T.prim_func
def main(n: T.int64, a: T.Buffer((1, 2, n, 6, 4), "float32"), w: T.Buffer((2, 1, 3, 3, 1, 4), "float32"), conv: T.Buffer(((n + 7) // 8, 2, 8, 6, 4), "float32")):
    T.func_attr({"anchor": "conv", "kind": "depthwise_conv2d_nchwc"})
    with T.block("root"):
        cut = T.alloc_buffer(((n + 7) // 8, 2, 10, 8, 4), "float32")
        for p in T.serial((n + 7) // 8):
            for c in T.serial(2):
                for h in T.serial(10):
                    for x in T.serial(8):
                        for l in T.serial(4):
                            with T.block("cut"):
                                vp = T.axis.spatial((n + 7) // 8, p)
                                vc = T.axis.spatial(2, c)
                                vh = T.axis.spatial(10, h)
                                vx = T.axis.spatial(8, x)
                                vl = T.axis.spatial(4, l)
                                T.block_attr({"tag": "injective"})
                                cut[vp, vc, vh, vx, vl] = T.if_then_else(vp * 8 + vh - 1 >= 0 and vp * 8 + vh - 1 < n and vx >= 1 and vx < 7, a[0, vc, vp * 8 + vh - 1, vx - 1, vl], T.float32(0))
        for p in T.serial((n + 7) // 8):
            for c in T.serial(2):
                for h in T.serial(8):
                    for x in T.serial(6):
                        for l in T.serial(4):
                            for kh in T.serial(3):
                                for kw in T.serial(3):
                                    with T.block("conv"):
                                        vp = T.axis.spatial((n + 7) // 8, p)
                                        vc = T.axis.spatial(2, c)
                                        vh = T.axis.spatial(8, h)
                                        vx = T.axis.spatial(6, x)
                                        vl = T.axis.spatial(4, l)
                                        vkh = T.axis.reduce(3, kh)
                                        vkw = T.axis.reduce(3, kw)
                                        T.block_attr({"dilation": [1, 1], "kernel_size": [3, 3], "out_block": 4, "strides": [1, 1], "tag": "depthwise_conv2d_nchwc"})
                                        with T.init():
                                            conv[vp, vc, vh, vx, vl] = T.float32(0)
                                        conv[vp, vc, vh, vx, vl] = conv[vp, vc, vh, vx, vl] + cut[vp, vc, vh + vkh, vx + vkw, vl] * w[vc, 0, vkh, vkw, 0, vl]
)";

TEST(WindowOfPatches, CutsThemForAFewChannelsAtATime)
{
    const auto function = tir::parsePrimFunc(kDepthwise);
    ASSERT_TRUE(function) << function.error().text();
    for (const int bytes : {64, 16, 4}) {
        const auto kernel = scheduleKernel(
            *function, {.vectorBytes = bytes, .vectorRegisters = 32, .hasFma = true});
        ASSERT_TRUE(kernel) << kernel.error().text();
        EXPECT_EQ(kernel->refusal, "");
        EXPECT_EQ(kernel->rule, "window_of_patches");
        for (const int64_t size : {1, 8, 21})
            EXPECT_EQ(test::scheduleDifference(*function, kernel->function, size), "")
                << size << "\n"
                << tir::print(kernel->function);
    }
}

} // namespace
} // namespace tenon
