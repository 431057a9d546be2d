// SPDX-License-Identifier: Apache-2.0
// Links from assembly and LLVM IR lines to TIR lines, read from the line tables in the text.
#include "compiler/driver/kernel_text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

TEST(KernelText, assemblyLinesCarryTheLineOfTheirLoc)
{
    const auto lines = linkAssembly(
        "\t.text\n\t.file\t\"k\"\nk:\n.Lfunc_begin0:\n\t.loc\t0 3 0\n\tvmovups\t(%rdi), %zmm0\n"
        ".LBB0_1:\n\t.loc\t0 7 0 is_stmt 0\n\tvaddps\t%zmm0, %zmm1, %zmm0\n\t.cfi_endproc\n"
        "\t.section\t.debug_abbrev,\"\",@progbits\n\t.byte\t1\n");
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0].text, "k:");
    EXPECT_EQ(lines[1].tirLine, 3);
    EXPECT_EQ(lines[2].text, ".LBB0_1:");
    EXPECT_EQ(lines[3].tirLine, 7);
}

TEST(KernelText, irLinesLoseTheirMetadataButKeepTheLink)
{
    const auto lines = linkLlvmIr(
        "define void @k() {\n  %1 = load float, ptr %x, align 4, !dbg !8\n  ret void\n}\n"
        "!8 = !DILocation(line: 5, scope: !3)\n");
    ASSERT_GE(lines.size(), 4u);
    EXPECT_EQ(lines[1].text, "  %1 = load float, ptr %x, align 4");
    EXPECT_EQ(lines[1].tirLine, 5);
    EXPECT_EQ(lines[2].tirLine, 0);
}

} // namespace
} // namespace tenon::compiler
