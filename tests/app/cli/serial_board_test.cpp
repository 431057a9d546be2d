// SPDX-License-Identifier: Apache-2.0
// Boards at the end of a serial line: a pseudo terminal with the server behind it, on this computer
// and on an emulated Cortex-M, used as every other board is.
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/tool.h"
#include "tests/app/cli/program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

using nlohmann::json;

class SerialBoard : public testing::Test
{
protected:
    void TearDown() override
    {
        for (const std::string& project : m_projects)
            shell("sh " + project + "/emulate.sh off " + port());
    }

    std::string sample() const { return test::sourcePath("resources/sample/digits"); }
    std::string model() const { return sample() + "/model.onnx "; }
    std::string path(const std::string& name) const { return m_folder.file(name); }
    std::string port() const { return path("line"); }

    Outcome on(const std::string& words) const
    {
        return tenon(words + " --config " + path("config") + " 2>&1");
    }

    void create(const std::string& name, const std::string& options)
    {
        const Outcome made =
            tenon("project create " + model() + path(name) + " " + options + " 2>&1");
        ASSERT_EQ(made.code, 0) << made.output;
        m_projects.push_back(path(name));
    }
    Outcome add(const std::string& name, const std::string& options = {}) const
    {
        return on("board add " + name + " --serial " + port() + " --project " + path(name) + " " +
                  options);
    }
    /// A program of this computer at the port, in place of a board.
    void emulate(const std::string& program) const
    {
        EXPECT_EQ(shell("sh " + path("host") + "/emulate.sh host " + program + " " + port()).code,
                  0);
    }
    /// A line of a project's file becomes another.
    void change(const std::string& file, const std::string& from, const std::string& to) const
    {
        const auto text = core::readFile(path(file));
        ASSERT_TRUE(text && text->find(from) != std::string::npos) << file;
        ASSERT_TRUE(core::writeFileAtomically(path(file), core::replaced(*text, from, to)));
    }

    /// Deploys, runs and verifies there; emulated with `target`, the same bytes come. Without
    /// `isBrought` the model's server runs there already.
    void expectBoard(const std::string& name, const std::string& target, bool isBrought)
    {
        const Outcome deployed =
            on("deploy " + model() + " --board " + name + " --repeat 3 --json");
        ASSERT_EQ(deployed.code, 0) << deployed.output;
        const json told = json::parse(deployed.output);
        EXPECT_EQ(told["sent_bytes"] > 1000, isBrought) << deployed.output;
        EXPECT_GT(told["bench"]["median_ms"], 0);
        EXPECT_GT(told["bench"]["layers"].size(), 2u);
        const std::string input = " --inputs " + sample() + "/test_data_set_0/input_0.pb";
        const Outcome ran = on("run " + model() + input + " --board " + name + " --outputs " +
                               path("there") + " --json");
        ASSERT_EQ(ran.code, 0) << ran.output;
        if (target.empty()) return expectVerified(name);
        const Outcome here = tenon("run " + model() + input + " --target '" + target +
                                   "' --outputs " + path("here") + " 2>&1");
        ASSERT_EQ(here.code, 0) << here.output;
        EXPECT_EQ(*core::readFile(path("there/output_0.npy")),
                  *core::readFile(path("here/output_0.npy")));
        expectVerified(name);
    }
    void expectVerified(const std::string& name) const
    {
        const Outcome verified = on("verify " + sample() + " --board " + name);
        EXPECT_EQ(verified.code, 0) << verified.output;
    }

    test::TemporaryFolder m_folder;
    std::vector<std::string> m_projects;
};

TEST_F(SerialBoard, IsDeployedToAsEveryBoard)
{
    for (const char* tool : {"make", "cc", "objcopy", "python3"}) {
        TENON_NEED_TOOL(tool);
    }
    create("host", "--template crt-host");
    std::ofstream(path("host/notes.txt")) << "the board's own";
    change("host/board.h", "host=1", "clock_hz=48000000 wait_states=2");
    ASSERT_EQ(shell("touch " + path("file")).code, 0);
    const Outcome none =
        on("board add none --serial " + path("file") + " --project " + path("host"));
    EXPECT_NE(none.output.find("is no serial port"), std::string::npos) << none.output;

    ASSERT_EQ(add("host", "--no-probe --flash-size 4MiB --ram-size 4MiB").code, 0);
    const json listed = json::parse(on("board list --json").output)["boards"][1];
    EXPECT_EQ(listed["kind"], "serial");
    EXPECT_EQ(listed["address"], port() + " at 115200 baud");
    EXPECT_EQ(listed["target"], "c -keys=cpu");
    expectBoard("host", "", true);

    // What runs there already is not brought again.
    const Outcome again = on("deploy " + model() + " --board host --no-bench --json");
    ASSERT_EQ(again.code, 0) << again.output;
    EXPECT_EQ(json::parse(again.output)["sent_bytes"], 0);
    const Outcome probed = on("board probe host");
    EXPECT_NE(probed.output.find("48 MHz, wait states 2"), std::string::npos) << probed.output;
    const Outcome tested = on("board test host");
    EXPECT_EQ(tested.code, 0) << tested.output;
    EXPECT_NE(tested.output.find("host works"), std::string::npos) << tested.output;

    // Every tensor comes over the line, in as many images as its memory needs.
    const Outcome compared = on("compare " + model() + " --inputs " + sample() +
                                "/test_data_set_0 --board host --piece 16KiB --json");
    ASSERT_EQ(compared.code, 0) << compared.output;
    const json comparison = json::parse(compared.output);
    EXPECT_EQ(comparison["place"], "on board `host`");
    EXPECT_GT(comparison["builds"], 2);
    for (const json& tensor : comparison["tensors"]) {
        EXPECT_FALSE(tensor["cumulative"]["is_outside"]) << tensor;
        EXPECT_TRUE(tensor.contains("isolated")) << tensor;
    }
}

TEST_F(SerialBoard, OfAnEmulatedCortexMIsABoard)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    create("m4", "--template baremetal-mps2");
    ASSERT_EQ(add("m4", "--no-probe --profile mps2-an386").code, 0);
    ASSERT_EQ(shell("cd " + path("m4") +
                    " && make -s server && sh emulate.sh mps2-an386 build/server.elf " + port())
                  .code,
              0);
    const Outcome probed = on("board probe m4");
    EXPECT_NE(probed.output.find("Cortex-M4"), std::string::npos) << probed.output;
    EXPECT_NE(probed.output.find("25 MHz"), std::string::npos) << probed.output;
    expectBoard("m4", "c -mcpu=cortex-m4", false);

    // The server hands out what it is asked for, in images that the board is flashed with.
    std::ofstream(path("small.txt"))
        << "def @main(%x: Tensor[(1, 4, 4, 4), float32]) -> Tensor[(1, 4, 1, 1), float32] {\n"
           "  %0 = nn.relu(%x) : Tensor[(1, 4, 4, 4), float32]\n"
           "  %1 = nn.global_avg_pool2d(%0) : Tensor[(1, 4, 1, 1), float32]\n"
           "  return %1 as \"y\"\n}\n";
    const Outcome compared = on("compare " + path("small.txt") + " --board m4 --json");
    ASSERT_EQ(compared.code, 0) << compared.output;
    const size_t begin = std::min(compared.output.find('{'), compared.output.size());
    const json comparison =
        json::parse(compared.output.substr(begin), nullptr, false); // notes first
    ASSERT_TRUE(comparison.contains("tensors")) << compared.output;
    EXPECT_EQ(comparison["place"], "on board `m4`");
    EXPECT_FALSE(comparison["tensors"].empty());
    for (const json& tensor : comparison["tensors"]) {
        EXPECT_FALSE(tensor["cumulative"]["is_outside"]) << tensor;
        EXPECT_TRUE(tensor.contains("isolated")) << tensor;
    }

    const Outcome other = on("run " + model() + " --board m4 --target 'c -mcpu=cortex-m7'");
    EXPECT_NE(other.code, 0);
    EXPECT_NE(other.output.find("compile for the board's -mcpu"), std::string::npos)
        << other.output;
}

TEST_F(SerialBoard, ThatStopsSaysWhereAndWhy)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    create("m4", "--template baremetal-mps2");
    ASSERT_EQ(add("m4", "--no-probe --profile mps2-an386").code, 0);
    change("m4/timer.h", "static uint64_t nanoseconds(void)\n{",
           "static uint64_t nanoseconds(void)\n{\n    static int calls;\n"
           "    if (++calls == 2) __asm volatile(\"udf #0\");");
    const Outcome stopped = on("run " + model() + " --board m4");
    EXPECT_NE(stopped.code, 0);
    EXPECT_NE(stopped.output.find("the board stopped with a usage fault: an instruction that the "
                                  "core does not have"),
              std::string::npos)
        << stopped.output;
    EXPECT_NE(stopped.output.find("CFSR 0x00010000"), std::string::npos) << stopped.output;

    change("m4/timer.h", "\"udf #0\"", "\"ldr r0, =0xf0000000\\n\\tldr r0, [r0]\" ::: \"r0\"");
    const Outcome lost = on("run " + model() + " --board m4");
    EXPECT_NE(lost.output.find("bus fault: an access where there is no memory, address 0xf0000000"),
              std::string::npos)
        << lost.output;
}

TEST_F(SerialBoard, WhoseStackOverflowsIsFoundOut)
{
    for (const char* tool : {"make", "cc", "objcopy", "python3"}) {
        TENON_NEED_TOOL(tool);
    }
    create("host", "--template crt-host");
    ASSERT_EQ(add("host", "--no-probe").code, 0);
    change("host/Makefile", "FLAGS := -std=c99", "FLAGS := -DSTACK_BYTES=512 -std=c99");
    const Outcome over = on("run " + model() + " --board host");
    EXPECT_NE(over.code, 0);
    EXPECT_NE(over.output.find("the stack overflowed: all of its 512 bytes"), std::string::npos)
        << over.output;
}

TEST_F(SerialBoard, OfAnEmulatedCortexMWhoseStackOverflowsIsFoundOut)
{
    for (const char* tool : {"make", "arm-none-eabi-gcc", "qemu-system-arm"}) {
        TENON_NEED_TOOL(tool);
    }
    create("m4", "--template baremetal-mps2");
    ASSERT_EQ(add("m4", "--no-probe --profile mps2-an386").code, 0);
    change("m4/Makefile", "FLAGS := -std=c99", "FLAGS := -DSTACK_BYTES=256 -std=c99");
    const Outcome over = on("run " + model() + " --board m4");
    EXPECT_NE(over.code, 0);
    EXPECT_NE(over.output.find("the stack overflowed: all of its 256 bytes"), std::string::npos)
        << over.output;
}

TEST_F(SerialBoard, ThatIsSilentGetsAChecklist)
{
    for (const char* tool : {"make", "cc", "objcopy", "python3"}) {
        TENON_NEED_TOOL(tool);
    }
    create("host", "--template crt-host");
    const Outcome absent =
        on("board add gone --serial " + path("gone") + " --project " + path("host"));
    EXPECT_EQ(absent.code, 0) << absent.output; // flashing may bring the port
    EXPECT_NE(absent.output.find("is the board plugged in"), std::string::npos) << absent.output;

    // A flash command that brings nothing, to a line where nobody is.
    ASSERT_EQ(add("host", "--no-probe --flash true").code, 0);
    std::ofstream(path("mute.sh")) << "#!/bin/sh\nexec sleep 1000\n";
    std::ofstream(path("chatty.sh")) << "#!/bin/sh\nwhile echo hello from another program; do "
                                        "sleep 0.1; done\n";
    std::ofstream(path("noisy.sh"))
        << "#!/bin/sh\nwhile printf '\\377\\375\\003\\001\\200\\010'; do sleep 0.1; done\n";
    const auto says = [&](const std::string& program) {
        EXPECT_EQ(shell("chmod +x " + path(program)).code, 0);
        emulate(path(program));
        return on("run " + model() + " --board host").output;
    };
    const std::string mute = says("mute.sh"), chatty = says("chatty.sh"), noisy = says("noisy.sh");
    EXPECT_NE(mute.find("nothing came: has the board power"), std::string::npos) << mute;
    EXPECT_NE(chatty.find("hello from another program"), std::string::npos) << chatty;
    EXPECT_NE(chatty.find("another program's image runs on it"), std::string::npos) << chatty;
    EXPECT_NE(noisy.find("is the speed (baud) that of the board?"), std::string::npos) << noisy;
}

TEST_F(SerialBoard, WhosePortIsBusyNamesWhoHasIt)
{
    for (const char* tool : {"make", "cc", "objcopy", "python3", "flock"}) {
        TENON_NEED_TOOL(tool);
    }
    create("host", "--template crt-host");
    ASSERT_EQ(add("host", "--no-probe").code, 0);
    emulate("/bin/cat");
    const Outcome busy =
        shell("flock " + port() + " sh -c '" TENON_PROGRAM " board probe host --config " +
              path("config") + " 2>&1; true'");
    EXPECT_NE(busy.output.find("is busy: "), std::string::npos) << busy.output;
    EXPECT_NE(busy.output.find("(process "), std::string::npos) << busy.output;
}

TEST_F(SerialBoard, WithAnotherImageIsNotTaken)
{
    for (const char* tool : {"make", "cc", "objcopy", "python3"}) {
        TENON_NEED_TOOL(tool);
    }
    create("host", "--template crt-host");
    ASSERT_EQ(add("host", "--no-probe --flash true").code, 0);
    change("host/board.h", "host=1", "host=2"); // another image than that of a model from now on
    ASSERT_EQ(shell("make -s -C " + path("host") + " server").code, 0);
    emulate(path("host") + "/build/server");
    const Outcome wrong = on("run " + model() + " --board host --executor graph");
    EXPECT_NE(wrong.code, 0);
    EXPECT_NE(wrong.output.find("the board runs another image"), std::string::npos) << wrong.output;
}

/// Said before anything is compiled or linked, with what is largest.
TEST_F(SerialBoard, OrEmulatedOneIsTooSmallForSomeModels)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    std::ofstream(path("large.txt"))
        << "def @main(%x: Tensor[(1, 64, 64, 64), float32]) -> Tensor[(1, 64, 64, 64), float32] "
           "{\n  %0 = nn.relu(%x) : Tensor[(1, 64, 64, 64), float32]\n"
           "  return %0 as \"y\"\n}\n";
    const Outcome large = tenon("compile " + path("large.txt") +
                                " --target 'c -mcpu=cortex-m55' -o " + path("m.elf") + " 2>&1");
    EXPECT_NE(large.code, 0);
    EXPECT_NE(large.output.find("does not fit mps3-an547"), std::string::npos) << large.output;
    EXPECT_NE(large.output.find("2,097,152 B of 524,288 B of RAM"), std::string::npos)
        << large.output;
    EXPECT_NE(large.output.find("of the memory `x` takes 1,048,576 B"), std::string::npos)
        << large.output;
    EXPECT_EQ(large.output.find("takes 0 B"), std::string::npos) << large.output;
    EXPECT_FALSE(std::filesystem::exists(path("m.elf")));
}

/// Each is said with the package that has it, before anything else is tried.
TEST_F(SerialBoard, OrEmulatedOneWithoutItsToolsNamesTheirPackages)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    const auto without = [&](const std::string& words) {
        return shell("PATH=/nonexistent '" TENON_PROGRAM "' " + words + " 2>&1");
    };
    const std::string m4 = model() + "--target 'c -mcpu=cortex-m4' ";
    for (const std::string& words :
         {"compile " + m4 + "-o " + path("m.elf"), "run " + m4, "bench " + m4, "footprint " + m4}) {
        const Outcome refused = without(words);
        EXPECT_NE(refused.code, 0) << words;
        EXPECT_NE(refused.output.find("install gcc-arm-none-eabi and libnewlib-arm-none-eabi"),
                  std::string::npos)
            << refused.output;
    }
    // One of them alone is not enough.
    shell("mkdir -p " + path("bin") + " && ln -sf \"$(command -v arm-none-eabi-gcc)\" " +
          path("bin"));
    const Outcome half = shell("PATH=" + path("bin") + " '" TENON_PROGRAM "' compile " + m4 +
                               "-o " + path("m.elf") + " 2>&1");
    EXPECT_NE(half.output.find("arm-none-eabi-objcopy is not installed; install gcc-arm-none-eabi"),
              std::string::npos)
        << half.output;
    const Outcome board = without("board add --virtual mps2-an386 --config " + path("config"));
    EXPECT_NE(board.code, 0);
    EXPECT_NE(board.output.find("qemu-system-arm gcc-arm-none-eabi"), std::string::npos)
        << board.output;
}

TEST_F(SerialBoard, IsRefusedWhereItMakesNoSense)
{
    create("host", "--template crt-host");
    EXPECT_NE(on("board add a --serial " + port()).output.find("needs a project"),
              std::string::npos);
    EXPECT_NE(on("board add a --serial " + port() + " --project " + path("none"))
                  .output.find("holds no project"),
              std::string::npos);
    const Outcome slow = add("host", "--no-probe --baud 12345");
    EXPECT_NE(slow.output.find("no speed of 12345 baud"), std::string::npos) << slow.output;
    const Outcome size = add("host", "--no-probe --flash-size lots");
    EXPECT_NE(size.output.find("is no size of memory"), std::string::npos) << size.output;
    const Outcome core = add("host", "--no-probe --target 'c -mcpu=cortex-m4'");
    EXPECT_NE(core.output.find("the board's project is for"), std::string::npos) << core.output;

    // A model that is too large for the board is refused before it is brought there.
    ASSERT_EQ(add("host", "--no-probe --flash-size 8KiB --ram-size 8KiB --flash false").code, 0);
    emulate("/bin/cat");
    const Outcome large = on("run " + model() + " --board host");
    EXPECT_NE(large.output.find("of 8.00 KiB"), std::string::npos) << large.output;
    EXPECT_EQ(large.output.find("flashing"), std::string::npos) << large.output;
}

} // namespace
} // namespace tenon::cli
