// SPDX-License-Identifier: Apache-2.0
// RV32IMC without an operating system: a target, a virtual board, a project and a board on a line,
// as those of Cortex-M are.
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace tenon::cli {
namespace {

using nlohmann::json;

const std::string kTarget = " --target 'c -mcpu=rv32imc' ";

class RiscVBoard : public testing::Test
{
protected:
    void SetUp() override
    {
        for (const char* tool : {"make", "riscv64-unknown-elf-gcc", "qemu-system-riscv32"}) {
            TENON_NEED_TOOL(tool);
        }
        TENON_NEED(std::filesystem::exists("/usr/lib/picolibc/riscv64-unknown-elf/picolibc.specs"),
                   "picolibc-riscv64-unknown-elf", "picolibc-riscv64-unknown-elf is not installed");
    }
    void TearDown() override
    {
        if (m_isEmulated) shell("sh " + path("rv") + "/emulate.sh off " + path("line"));
    }

    std::string sample() const { return test::sourcePath("resources/sample/digits"); }
    std::string model() const { return sample() + "/model.onnx "; }
    std::string path(const std::string& name) const { return m_folder.file(name); }
    Outcome on(const std::string& words) const
    {
        return tenon(words + " --config " + path("config") + " 2>&1");
    }

    test::TemporaryFolder m_folder;
    bool m_isEmulated = false;
};

/// Integers of a core without float unit are those of every other: each output of every data set.
TEST_F(RiscVBoard, ComputesKeywordSpottingInIntegersAsItsDataSetSays)
{
    TENON_NEED_DATA("models/mlperftiny-kws-int8");
    const std::string kws = test::dataPath("models/mlperftiny-kws-int8");
    const Outcome added = on("board add rv --virtual riscv-virt");
    ASSERT_EQ(added.code, 0) << added.output;
    EXPECT_NE(added.output.find("RV32IMC"), std::string::npos) << added.output;
    for (const std::string& where : {kTarget, std::string(" --board rv")}) {
        const Outcome verified = on("verify " + kws + where);
        EXPECT_EQ(verified.code, 0) << verified.output;
        EXPECT_NE(verified.output.find("1 passed, 0 failed"), std::string::npos) << verified.output;
    }
    const Outcome once = tenon("bench " + kws + "/model.onnx --json" + kTarget + "2>/dev/null");
    const Outcome again = tenon("bench " + kws + "/model.onnx --json" + kTarget + "2>/dev/null");
    const json counted = json::parse(once.output, nullptr, false);
    ASSERT_TRUE(counted.contains("instructions")) << once.output;
    EXPECT_GT(counted["instructions"], 2728786); // its products
    EXPECT_EQ(counted["instructions"], json::parse(again.output)["instructions"]);
}

TEST_F(RiscVBoard, ServesItsProjectOverALine)
{
    const Outcome made =
        tenon("project create " + model() + path("rv") + " --template baremetal-riscv 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    m_isEmulated = true;
    const std::string input = " --inputs " + sample() + "/test_data_set_0/input_0.pb --outputs ";
    const Outcome fed = tenon("project run " + path("rv") + input + path("fed") + " 2>&1");
    ASSERT_EQ(fed.code, 0) << fed.output;
    const Outcome served =
        tenon("project run " + path("rv") + " --server" + input + path("served") + " 2>&1");
    ASSERT_EQ(served.code, 0) << served.output;
    EXPECT_NE(served.output.find("workspace 49,152 B, stack peak"), std::string::npos)
        << served.output;
    EXPECT_EQ(shell("cmp " + path("fed/output_0.npy") + " " + path("served/output_0.npy")).code, 0);

    ASSERT_EQ(on("board add rv --serial " + path("line") + " --project " + path("rv") +
                 " --no-probe --flash-size 4MiB --ram-size 4MiB")
                  .code,
              0);
    const Outcome verified = on("verify " + sample() + " --board rv");
    EXPECT_EQ(verified.code, 0) << verified.output;
    const Outcome probed = on("board probe rv");
    EXPECT_NE(probed.output.find("rv32imc"), std::string::npos) << probed.output;
}

TEST_F(RiscVBoard, ThatStopsSaysWhereAndWhy)
{
    const Outcome made =
        tenon("project create " + model() + path("rv") + " --template baremetal-riscv 2>&1");
    ASSERT_EQ(made.code, 0) << made.output;
    m_isEmulated = true;
    ASSERT_EQ(shell("sed -i 's/    uint32_t high, low, again;/&\\n    static int calls;\\n    if "
                    "(++calls == 2) *(volatile int*)0x08000000 = 1;/' " +
                    path("rv/timer.h"))
                  .code,
              0);
    ASSERT_EQ(on("board add rv --serial " + path("line") + " --project " + path("rv") +
                 " --no-probe --flash-size 4MiB --ram-size 4MiB")
                  .code,
              0);
    const Outcome stopped = on("run " + model() + "--board rv");
    EXPECT_NE(stopped.code, 0);
    EXPECT_NE(stopped.output.find("the board stopped with a trap: a write where there is no "
                                  "memory, address 0x08000000, at 0x"),
              std::string::npos)
        << stopped.output;
}

TEST_F(RiscVBoard, IsMeasuredByItsLinkedImage)
{
    const Outcome sizes = tenon("footprint " + model() + kTarget + "--json 2>&1");
    ASSERT_EQ(sizes.code, 0) << sizes.output;
    const json all = json::parse(sizes.output, nullptr, false);
    ASSERT_EQ(all["executors"].size(), 3u) << sizes.output;
    for (const json& each : all["executors"]) {
        EXPECT_FALSE(each.contains("not_measured")) << each;
        EXPECT_GT(each["ram"]["stack"], 0) << each;
    }
}

TEST(RiscVBoardWithoutItsTools, IsNoProjectOfAnotherCore)
{
    const test::TemporaryFolder folder;
    const Outcome refused =
        tenon("project create " + test::sourcePath("resources/sample/digits/model.onnx ") +
              folder.file("x") + " --template baremetal-riscv --target 'c -mcpu=cortex-m4' 2>&1");
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.output.find("use --template baremetal-mps2"), std::string::npos)
        << refused.output;
    EXPECT_FALSE(std::filesystem::exists(folder.file("x")));
}

TEST(RiscVBoardWithoutItsTools, NamesTheirPackages)
{
    const std::string model = test::sourcePath("resources/sample/digits/model.onnx ");
    const Outcome refused =
        shell("PATH=/nonexistent '" TENON_PROGRAM "' run " + model + kTarget + "2>&1");
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(
        refused.output.find("install gcc-riscv64-unknown-elf and picolibc-riscv64-unknown-elf"),
        std::string::npos)
        << refused.output;
}

} // namespace
} // namespace tenon::cli
