// SPDX-License-Identifier: Apache-2.0
// Target strings: every form parses to the same values, prints canonically, and errors name the
// key.
#include "core/target/target.h"
#include "core/target/target_kind.h"
#include "core/target/target_tag.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

struct Case
{
    const char* input;
    const char* canonical;
};

const Case kCases[] = {
    {"llvm", "llvm -keys=cpu"},
    {"llvm -mcpu=native", "llvm -keys=cpu -mcpu=native"},
    {"llvm -mcpu=skylake-avx512", "llvm -keys=cpu -mcpu=skylake-avx512"},
    {"llvm -mcpu=znver4", "llvm -keys=cpu -mcpu=znver4"},
    {"llvm -device=arm_cpu -mtriple=aarch64-linux-gnu -mattr=+neon,+fp-armv8,+crc",
     "llvm -keys=arm_cpu,cpu -device=arm_cpu -mattr=+neon,+fp-armv8,+crc "
     "-mtriple=aarch64-linux-gnu"},
    {"llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72",
     "llvm -keys=arm_cpu,cpu -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu"},
    {"llvm -mtriple=armv7l-linux-gnueabihf -mfloat-abi=hard -mattr=+neon",
     "llvm -keys=arm_cpu,cpu -mattr=+neon -mfloat-abi=hard -mtriple=armv7l-linux-gnueabihf"},
    {"llvm -mtriple=riscv64-unknown-linux-gnu -mcpu=generic-rv64 -mattr=+v",
     "llvm -keys=cpu -mattr=+v -mcpu=generic-rv64 -mtriple=riscv64-unknown-linux-gnu"},
    {"llvm -mtriple=aarch64-linux-android",
     "llvm -keys=arm_cpu,cpu -mtriple=aarch64-linux-android"},
    {"llvm -mtriple=arm64-apple-macos", "llvm -keys=arm_cpu,cpu -mtriple=arm64-apple-macos"},
    {"llvm -mtriple=wasm32", "llvm -keys=cpu -mtriple=wasm32"},
    {"hexagon", "hexagon -keys=hexagon,cpu"},
    {"hexagon -mcpu=v68", "hexagon -keys=hexagon,cpu -mcpu=v68"},
    {"c -mcpu=cortex-m4", "c -keys=arm_cpu,cpu -mcpu=cortex-m4"},
    {"c -keys=arm_cpu -mcpu=cortex-m4 -march=armv7e-m -mfloat-abi=hard -mfpu=fpv4-sp-d16 "
     "-runtime=c -system-lib",
     "c -keys=arm_cpu -march=armv7e-m -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 "
     "-runtime=c -system-lib=1"},
    {"cuda -arch=sm_80",
     "cuda -keys=cuda,gpu -arch=sm_80 -max_num_threads=1024 -thread_warp_size=32"},
    {"opencl", "opencl -keys=opencl,gpu -max_function_args=128 -max_num_threads=256 "
               "-max_shared_memory_per_block=16384 -max_threads_per_block=256 "
               "-texture_spatial_limit=16384 -thread_warp_size=1"},
    {"metal", "metal -keys=metal,gpu -max_function_args=31 -max_num_threads=256 "
              "-max_shared_memory_per_block=32768 -max_threads_per_block=256 "
              "-thread_warp_size=16"},
    {"vulkan -max_threads_per_block=256",
     "vulkan -keys=vulkan,gpu -max_num_threads=256 -max_threads_per_block=256 "
     "-supports_float32=1 -supports_int32=1 -thread_warp_size=1"},
    {"{\"kind\": \"llvm\", \"mcpu\": \"cortex-a72\", \"mattr\": [\"+neon\"], "
     "\"mtriple\": \"aarch64-linux-gnu\"}",
     "llvm -keys=arm_cpu,cpu -mattr=+neon -mcpu=cortex-a72 -mtriple=aarch64-linux-gnu"},
    {"raspberry-pi/4b-aarch64", "llvm -keys=arm_cpu,cpu -mattr=+neon -mcpu=cortex-a72 "
                                "-mtriple=aarch64-linux-gnu -num-cores=4"},
    {"nvidia/jetson-nano",
     "cuda -keys=cuda,gpu -arch=sm_53 -max_num_threads=1024 -max_shared_memory_per_block=49152 "
     "-max_threads_per_block=1024 -registers_per_block=32768 -thread_warp_size=32"},
    {"llvm --num-cores 4 -libs='mkldnn,cblas'", "llvm -keys=cpu -libs=dnnl,cblas -num-cores=4"},
    {"llvm -model='a board' -fast-math=true", "llvm -keys=cpu -fast-math=1 -model='a board'"},
};

TEST(Target, PrintsTheCanonicalStringOfEveryForm)
{
    for (const Case& c : kCases) {
        const Result<Target> target = parseTarget(c.input);
        ASSERT_TRUE(target) << c.input << ": " << target.error().text();
        EXPECT_EQ(target->text(), c.canonical);
    }
}

TEST(Target, CanonicalStringAndJsonReadBackToTheSameTarget)
{
    for (const Case& c : kCases) {
        Target target = *parseTarget(c.input);
        const Result<Target> fromJson = parseTarget(target.json());
        ASSERT_TRUE(fromJson) << target.json() << ": " << fromJson.error().text();
        EXPECT_TRUE(*fromJson == target) << c.input;
        target.host = nullptr;
        target.tag.clear();
        const Result<Target> fromText = parseTarget(target.text());
        ASSERT_TRUE(fromText) << target.text();
        EXPECT_TRUE(*fromText == target) << c.input;
    }
}

TEST(Target, ExplainsEveryOption)
{
    for (const Case& c : kCases) {
        const Target target = *parseTarget(c.input);
        const std::vector<std::string> lines = target.explain();
        EXPECT_GE(lines.size(), 2u + target.attributes.size());
        for (const std::string& line : lines) EXPECT_NE(line.find(' '), std::string::npos) << line;
    }
    const Target pi = *parseTarget("raspberry-pi/4b-aarch64");
    const std::vector<std::string> lines = pi.explain();
    EXPECT_EQ(lines[1],
              "tag raspberry-pi/4b-aarch64: a known device; expands to the options below");
    EXPECT_EQ(lines[3], "-mattr=+neon: adds the processor features neon");
    EXPECT_EQ(lines.back().substr(0, 6), "host: ");
}

TEST(Target, EveryTagParses)
{
    EXPECT_GT(targetTagNames().size(), 150u);
    for (const std::string& name : targetTagNames()) {
        const Result<Target> target = parseTarget(name);
        ASSERT_TRUE(target) << name << ": " << target.error().text();
        EXPECT_EQ(target->tag, name);
    }
    const Target xavier = *parseTarget("nvidia/jetson-agx-xavier");
    ASSERT_NE(xavier.host, nullptr);
    EXPECT_EQ(xavier.host->mcpu, "carmel");
    EXPECT_EQ(xavier.intOption("registers_per_block", 0), 65536);
}

TEST(Target, ReadsHostsInEveryForm)
{
    const Target raw = *parseTarget("cuda -host='llvm -mcpu=znver4'");
    ASSERT_NE(raw.host, nullptr);
    EXPECT_EQ(raw.host->text(), "llvm -keys=cpu -mcpu=znver4");
    EXPECT_EQ(*parseTarget(R"({"kind":"cuda","host":"llvm -mcpu=znver4"})")->host, *raw.host);
    EXPECT_EQ(*parseTarget(R"({"kind":"cuda","host":{"kind":"llvm","mcpu":"znver4"}})")->host,
              *raw.host);
}

TEST(Target, JsonOptionsOverrideTheTag)
{
    const Target target =
        *parseTarget(R"({"tag":"raspberry-pi/4b-aarch64","num-cores":2,"mattr":["+neon","+crc"]})");
    EXPECT_EQ(target.intOption("num-cores", 0), 2);
    EXPECT_EQ(target.mattr, (std::vector<std::string>{"+neon", "+crc"}));
    EXPECT_EQ(target.mcpu, "cortex-a72");
}

TEST(Target, KnowsCortexMFeatures)
{
    EXPECT_TRUE(parseTarget("c -mcpu=cortex-m4")->hasDsp());
    EXPECT_FALSE(parseTarget("c -mcpu=cortex-m4+nodsp")->hasDsp());
    EXPECT_FALSE(parseTarget("c -mcpu=cortex-m0")->hasDsp());
    EXPECT_TRUE(parseTarget("c -mcpu=cortex-m55")->hasMve());
    EXPECT_FALSE(parseTarget("c -mcpu=cortex-m55+nomve")->hasMve());
    EXPECT_FALSE(parseTarget("c -mcpu=cortex-m7")->hasMve());
}

struct BadCase
{
    const char* input;
    const char* key;    ///< location.detail
    const char* saying; ///< part of the message
};

const BadCase kBadCases[] = {
    {"", "kind", "is empty"},
    {"lvm", "kind", "nearest are `llvm`"},
    {"llvm -mcup=x", "mcup", "nearest are `mcpu`"},
    {"llvm -mcpu=a -mcpu=b", "mcpu", "more than once"},
    {"llvm mcpu=a", "mcpu=a", "must start with '-'"},
    {"llvm -mcpu=", "mcpu", "after '=' is empty"},
    {"llvm -=x", "-=x", "before '=' is empty"},
    {"llvm -num-cores=four", "num-cores", "`four` is not a number"},
    {"llvm -fast-math=2", "fast-math", "not a truth value"},
    {"llvm -mfloat-abi=medium", "mfloat-abi", "none of `hard`, `softfp`, `soft`"},
    {"llvm -mattr=neon", "mattr", "must start with + (add)"},
    {"llvm -opt-level=4", "opt-level", "must be 0, 1, 2 or 3"},
    {"llvm -host=lvm", "host", "`lvm` is not defined"},
    {"llvm -model='x", "", "inside a quote"},
    {"cuda -arch=80", "arch", "no compute capability"},
    {"nvptx -mtriple=x86_64", "mtriple", "must be `nvptx64-nvidia-cuda`"},
    {"{\"kind\": \"llvm\"", "", "no JSON object"},
    {"{\"mcpu\": \"x\"}", "kind", "missing"},
    {"{\"kind\": \"llvm\", \"mattr\": \"+neon\"}", "mattr", "expected a list of texts"},
    {"{\"kind\": \"llvm\", \"features\": {}}", "features", "is derived"},
    {"{\"kind\": \"llvm\", \"num-cores\": 1.5}", "num-cores", "expected a number"},
    {"{\"tag\": \"raspberry-pi/4b\"}", "tag", "nearest are `raspberry-pi/4b-aarch64`"},
    {"{\"tag\": \"nvidia/jetson-nano\", \"kind\": \"llvm\"}", "kind", "of kind `cuda`"},
};

TEST(Target, ErrorsNameTheKeyAndTheCandidates)
{
    for (const BadCase& c : kBadCases) {
        const Result<Target> target = parseTarget(c.input);
        ASSERT_FALSE(target) << c.input;
        EXPECT_EQ(target.error().location.detail, c.key) << c.input;
        EXPECT_NE(target.error().message.find(c.saying), std::string::npos)
            << c.input << ": " << target.error().message;
    }
    const Diagnostic unknown = parseTarget("llvm -mcup=x").error();
    ASSERT_EQ(unknown.notes.size(), 1u);
    EXPECT_NE(unknown.notes[0].message.find("`mtriple`"), std::string::npos);
}

TEST(Target, RefusesDeeplyNestedHosts)
{
    std::string text = R"({"kind":"llvm"})";
    for (int i = 0; i < 50; ++i) text = R"({"kind":"llvm","host":)" + text + "}";
    EXPECT_FALSE(parseTarget(text));
}

TEST(Target, ValidatesAgainstTheTablesOfTheGenerator)
{
    const CpuTables tables{{"cortex-a72", "cortex-a53", "hexagonv68"}, {"neon", "crc", "fp-armv8"}};
    const auto problems = [&](const char* text) {
        return validateTarget(*parseTarget(text), tables);
    };
    EXPECT_TRUE(problems("llvm -mcpu=cortex-a72 -mattr=+neon,-crc").empty());
    EXPECT_TRUE(problems("llvm -mcpu=native").empty());
    EXPECT_TRUE(problems("hexagon -mcpu=v68").empty());
    const std::vector<Diagnostic> found = problems("llvm -mcpu=cortex-a7 -mattr=+noen,+crb");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].location.detail, "mcpu");
    EXPECT_NE(found[0].message.find("`cortex-a72`"), std::string::npos);
    EXPECT_EQ(found[1].code, DiagnosticCode::UnknownFeature);
    EXPECT_NE(found[1].message.find("nearest are `neon`"), std::string::npos);
    EXPECT_NE(found[2].message.find("nearest are `crc`"), std::string::npos);
    EXPECT_EQ(problems("llvm -mcpu=native -mattr=+noen").size(), 1u);
}

TEST(Target, SaysWhichProcessorIsOfAnotherMachine)
{
    const CpuTables tables{{"znver4", "core2"}, {}};
    const auto problem = [&](const char* text) {
        return validateTarget(*parseTarget(text), tables).at(0).message;
    };
    const std::string micro = problem("llvm -mcpu=cortex-m44");
    EXPECT_NE(micro.find("`cortex-m4` is of another machine"), std::string::npos) << micro;
    EXPECT_NE(micro.find("target kind `c`"), std::string::npos) << micro;
    const std::string board = problem("llvm -mcpu=cortex-a72");
    EXPECT_NE(board.find("`cortex-a72` is of another machine"), std::string::npos) << board;
    EXPECT_EQ(board.find("target kind"), std::string::npos) << board;
    EXPECT_EQ(problem("llvm -mcpu=znver44").find("another machine"), std::string::npos);
}

} // namespace
} // namespace tenon::core
