// SPDX-License-Identifier: Apache-2.0
// Last words of a core in words for people.
#include "remote/micro/board_words.h"
#include "remote/micro/fault_text.h"

#include <gtest/gtest.h>

namespace tenon::remote {
namespace {

TEST(FaultText, readsTheRegistersThatACoreSays)
{
    const auto fault = parseFault(
        "fault cfsr=00008200 hfsr=40000000 addr=f0000000 pc=00001234 lr=00000567 sp=20000ff0");
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->cfsr, 0x8200u);
    EXPECT_EQ(fault->sp, 0x20000ff0u);
    EXPECT_EQ(faultText(*fault, "tvmgen_default_conv"),
              "the board stopped with a bus fault: an access where there is no memory, address "
              "0xf0000000, at 0x00001234 in tvmgen_default_conv (CFSR 0x00008200, HFSR 0x40000000, "
              "LR 0x00000567, SP 0x20000ff0); look for memory that the board lacks: pools, the "
              "stack, the linker script's map");
}

TEST(FaultText, tellsOverflowsOfTheStackBeforeWhatFollowsFromThem)
{
    const CoreFault fault{.cfsr = 1u << 12 | 1u << 9, .hfsr = 1u << 30};
    const std::string text = faultText(fault, {});
    EXPECT_NE(text.find("could not be saved on the stack"), std::string::npos) << text;
    EXPECT_EQ(text.find(" at 0x"), std::string::npos) << text; // its pc was not saved
    EXPECT_NE(faultText({}, {}).find("the core does not say why"), std::string::npos);
}

TEST(FaultText, takesNothingElseForAFault)
{
    for (const char* line :
         {"", "fault", "fault cfsr=0000820", "no fault cfsr=00008200",
          "fault cfsr=00008200 hfsr=40000000 addr=f0000000 pc=0000123x lr=00000567 sp=20000ff0"})
        EXPECT_FALSE(parseFault(line)) << line;
}

TEST(BoardWords, nameTheCoreAndItsSettings)
{
    const MicroBoard board{"image",
                           {{"cpuid", "410fc241"},
                            {"clock_hz", "16500000"},
                            {"icache", "1"},
                            {"dcache", "0"},
                            {"wait_states", "5"}}};
    EXPECT_EQ(coreOf(board), "cortex-m4");
    EXPECT_EQ(settingsOf(board), "16.50 MHz, instruction cache on, data cache off, wait states 5");
    EXPECT_EQ(coreOf({"", {{"cpuid", "411cc210"}}}), "");
    EXPECT_EQ(settingsOf({}), "");
}

TEST(FaultText, TellsTrapsOfRiscV)
{
    const auto fault = parseFault("fault mcause=00000005 addr=f0000000 pc=80001234 sp=80700000");
    ASSERT_TRUE(fault);
    EXPECT_EQ(faultText(*fault, "conv"),
              "the board stopped with a trap: a read where there is no memory, address 0xf0000000, "
              "at 0x80001234 in conv (mcause 0x00000005, SP 0x80700000); look for memory that the "
              "board lacks: pools, the stack, the linker script's map");
    const auto unknown = parseFault("fault mcause=0000000b addr=00000000 pc=80001234 sp=80700000");
    ASSERT_TRUE(unknown);
    EXPECT_NE(faultText(*unknown, "").find("the core does not say why"), std::string::npos);
    EXPECT_FALSE(parseFault("fault mcause=00000005 addr=f0000000 pc=8000"));
    const MicroBoard board{.words = {{"misa", "40001104"}, {"clock_hz", "16000000"}}};
    EXPECT_EQ(coreOf(board), "rv32imc");
    EXPECT_EQ(settingsOf(board), "16 MHz");
}

} // namespace
} // namespace tenon::remote
