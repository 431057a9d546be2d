// SPDX-License-Identifier: Apache-2.0
// Loads and stores among instructions as GNU's assembler encodes them.
#include "tests/benchmarks/aarch64_access.h"

#include <gtest/gtest.h>

namespace {

struct Encoded
{
    uint32_t word;
    const char* text;
    int access;
};

TEST(Aarch64Access, tellsLoadsAndStoresFromOtherInstructions)
{
    const Encoded kEncoded[] = {
        {0xa9bf7bfd, "stp x29, x30, [sp, #-16]!", kStore},
        {0xa8c17bfd, "ldp x29, x30, [sp], #16", kLoad},
        {0xf945e611, "ldr x17, [x16, #3016]", kLoad},
        {0x3902429f, "strb wzr, [x20, #144]", kStore},
        {0xc8dffc22, "ldar x2, [x1]", kLoad},
        {0xc89ffc1f, "stlr xzr, [x0]", kStore},
        {0xb980081a, "ldrsw x26, [x0, #8]", kLoad},
        {0x79c05743, "ldrsh w3, [x26, #42]", kLoad},
        {0x3dc04bfd, "ldr q29, [sp, #288]", kLoad},
        {0x3d801bff, "str q31, [sp, #96]", kStore},
        {0x3c95805f, "stur q31, [x2, #-168]", kStore},
        {0xad40f83f, "ldp q31, q30, [x1, #16]", kLoad},
        {0xbc1c82de, "stur s30, [x22, #-56]", kStore},
        {0x4d40ce9f, "ld1r {v31.2d}, [x20]", kLoad},
        {0x4c00a39c, "st1 {v28.16b, v29.16b}, [x28]", kStore},
        {0xa540a000, "ld1w {z0.s}, p0/z, [x0]", kLoad},
        {0xe540e000, "st1w {z0.s}, p0, [x0]", kStore},
        {0xf9800084, "prfm pldl3keep, [x4]", kNoAccess},
        {0x4e7eccff, "fmla v31.2d, v7.2d, v30.2d", kNoAccess},
        {0x65a20020, "fmla z0.s, p0/m, z1.s, z2.s", kNoAccess},
        {0x912f2210, "add x16, x16, #0xbc8", kNoAccess},
        {0xd61f0220, "br x17", kNoAccess},
    };
    for (const Encoded& encoded : kEncoded)
        EXPECT_EQ(aarch64_access(encoded.word), encoded.access) << encoded.text;
}

} // namespace
