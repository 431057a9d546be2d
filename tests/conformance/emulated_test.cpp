// SPDX-License-Identifier: Apache-2.0
// Code for other processors under user-mode emulation, and for WebAssembly in Node: right values,
// and objects that need nothing.
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace tenon::test {
namespace {

using nlohmann::json;

struct Emulated
{
    const char* name;
    const char* target;
    const char* emulator;
    const char* nm;
    bool isWasm() const { return std::string_view(emulator) == "node"; }
    /// Has the AOT executor only.
    bool runsByItself() const { return isWasm() || std::string_view(emulator) == "qemu-hexagon"; }
};

void PrintTo(const Emulated& emulated, std::ostream* out) { *out << emulated.target; }

constexpr Emulated kEmulated[] = {
    {"aarch64", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72", "qemu-aarch64",
     "aarch64-linux-gnu-nm"},
    {"aarch64_dotprod_fp16", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76", "qemu-aarch64",
     "aarch64-linux-gnu-nm"},
    {"armv7", "llvm -mtriple=armv7-linux-gnueabihf -mcpu=cortex-a7", "qemu-arm",
     "arm-linux-gnueabihf-nm"},
    {"armv7_without_fma", "llvm -mtriple=armv7-linux-gnueabihf -mattr=+neon", "qemu-arm",
     "arm-linux-gnueabihf-nm"},
    {"riscv64", "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c", "qemu-riscv64",
     "riscv64-linux-gnu-nm"},
    {"riscv64_vector", "llvm -mtriple=riscv64-linux-gnu -mattr=+m,+a,+f,+d,+c,+v", "qemu-riscv64",
     "riscv64-linux-gnu-nm"},
    {"wasm32", "llvm -mtriple=wasm32-unknown-unknown", "node", ""},
    {"wasm32_simd", "llvm -mtriple=wasm32-unknown-unknown -mattr=+simd128", "node", ""},
    {"hexagon", "hexagon", "qemu-hexagon", "llvm-nm-19"},
    {"hexagon_v67", "llvm -mtriple=hexagon-unknown-linux-musl -mcpu=hexagonv67", "qemu-hexagon",
     "llvm-nm-19"},
    {"x86_64_baseline", "llvm -mtriple=x86_64-linux-gnu", "", "nm"},
};

std::string outputOf(const std::string& command)
{
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 65536> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        output.append(block.data(), n);
    ::pclose(pipe);
    return output;
}

std::string tenon(const std::string& arguments)
{
    return std::string("'") + TENON_PROGRAM + "' " + arguments;
}

class EmulatedTarget : public ::testing::TestWithParam<Emulated>
{
protected:
    void SetUp() override
    {
        const std::string emulator = GetParam().emulator;
        if (!emulator.empty()) TENON_NEED_TOOL(emulator);
    }
    /// Every case passes; what they print else goes to the test's log.
    static void expectAllPass(const std::string& options)
    {
        const std::string output = outputOf(tenon("verify --json --timeout 300 --target '" +
                                                  std::string(GetParam().target) + "' " + options));
        const json result =
            json::parse(output.substr(std::min(output.find('{'), output.size())), nullptr, false);
        ASSERT_TRUE(result.is_object()) << output;
        EXPECT_GT(result["passed"], 0) << output;
        EXPECT_EQ(result["failed"], 0) << output;
        EXPECT_EQ(result["unsupported"], 0) << output;
        const std::string place = result["cases"][0]["place"];
        const char* wanted = GetParam().isWasm()      ? "node on this computer"
                             : GetParam().emulator[0] ? "emulated by"
                                                      : "this computer";
        EXPECT_TRUE(place.starts_with(wanted)) << place;
    }
};

TEST_P(EmulatedTarget, ComputesTheSample)
{
    const std::string sample = sourcePath("resources/sample/digits");
    expectAllPass("--executor aot --threads 2 " + sample);
    if (!GetParam().runsByItself()) expectAllPass("--executor graph " + sample);
}

TEST_P(EmulatedTarget, ComputesTheModelsOfTheOutsideData)
{
    TENON_NEED_DATA("exported/kws_dscnn");
    expectAllPass("'" + dataPath("exported/kws_dscnn") + "' '" + dataPath("exported/ic_resnet8") +
                  "'");
}

/// What some processor has no instruction for: rounding, fused multiply-add, 64-bit integers.
TEST_P(EmulatedTarget, ComputesWhatItHasNoInstructionFor)
{
    const std::string folder = "/usr/include/onnx/backend/test/data/node/test_";
    TENON_NEED_OPERATOR_CASES(folder + "floor");
    std::string cases;
    for (const char* name : {
             "floor",
             "ceil_example",
             "round",
             "mod_mixed_sign_int64",
             "mod_mixed_sign_int32",
             "mod_mixed_sign_float32",
             "mod_uint64",
             "div_uint8",
             "cast_DOUBLE_to_FLOAT",
             "argmax_default_axis_example",
             "softmax_large_number",
             "cast_FLOAT16_to_DOUBLE",
             "cast_DOUBLE_to_FLOAT16",
             "cast_BFLOAT16_to_FLOAT",
             "max_float16",
         })
        cases += " " + folder + name;
    expectAllPass("--jobs 2" + cases);
}

/// By 16-bit products, on ARMv7 too, by SDOT and by SMMLA.
TEST(Arm, ComputesQuantizedModelsByWhatTheProcessorHas)
{
    TENON_NEED_TOOL("qemu-aarch64");
    TENON_NEED_TOOL("qemu-arm");
    TENON_NEED_DATA("models/mlperftiny-kws-int8");
    const std::string models = "' '" + dataPath("models/mlperftiny-kws-int8") + "' '" +
                               dataPath("models/mlperftiny-ad-autoencoder-int8") + "'";
    for (const std::string target :
         {"aarch64-linux-gnu -mcpu=cortex-a72", "aarch64-linux-gnu -mcpu=cortex-a76",
          "aarch64-linux-gnu -mattr=+neon,+dotprod,+i8mm",
          "armv7-linux-gnueabihf -mcpu=cortex-a7"}) {
        const std::string output = outputOf(
            tenon("verify --json --timeout 300 --target 'llvm -mtriple=" + target + models));
        EXPECT_NE(output.find("\"passed\": 2"), std::string::npos) << target << output;
    }
}

/// Of the depthwise and dense layers of a network of bytes: none widens to words first.
TEST(Arm, MultipliesBytesAsTheyAreOnArmv7)
{
    TENON_NEED_DATA("models/mlperftiny-kws-int8");
    const std::string code =
        outputOf(tenon("compile --emit asm -o - --target 'llvm -mtriple=armv7-linux-gnueabihf "
                       "-mcpu=cortex-a7' '" +
                       dataPath("models/mlperftiny-kws-int8/model.onnx") + "'"));
    for (const char* instruction : {"vmull.s8", "vpadal.s16"})
        EXPECT_NE(code.find(instruction), std::string::npos) << instruction;
    EXPECT_EQ(code.find("vmla.i32"), std::string::npos) << "products of widened bytes";
}

TEST(WasmModule, ImportsNothing)
{
    TENON_NEED_TOOL("node");
    const TemporaryFolder folder;
    const std::string said = outputOf(
        tenon("compile " + sourcePath("resources/sample/digits/model.onnx") + " -o " +
              folder.file("model.wasm") + " --target 'llvm -mtriple=wasm32-unknown-unknown'"));
    const std::string script =
        "const module = new WebAssembly.Module(require('fs').readFileSync(process.argv[1]));"
        "console.log(WebAssembly.Module.imports(module).length,"
        "WebAssembly.Module.customSections(module, '.tenon.manifest').length)";
    EXPECT_EQ(outputOf("node -e \"" + script + "\" " + folder.file("model.wasm")), "0 1\n") << said;
    const std::string bench = outputOf(tenon("bench --repeat 2 " + folder.file("model.wasm")));
    EXPECT_NE(bench.find("timed inside node"), std::string::npos) << bench;
}

TEST(WasmModule, SaysWhatIsMissingOrDoesNotFit)
{
    const std::string sample = sourcePath("resources/sample/digits");
    const std::string wasm = " --target 'llvm -mtriple=wasm32-unknown-unknown'";
    const std::string lonely =
        outputOf("PATH=/nonexistent " + tenon("verify --no-cache " + sample + wasm));
    EXPECT_NE(lonely.find("`node` is not on PATH"), std::string::npos) << lonely;
    const std::string graph =
        outputOf(tenon("compile " + sample + "/model.onnx -o x.wasm --executor graph" + wasm));
    EXPECT_NE(graph.find("use --executor aot"), std::string::npos) << graph;
    const std::string library = outputOf(tenon("compile " + sample + "/model.onnx -o x.so" + wasm));
    EXPECT_NE(library.find("end the output in .wasm"), std::string::npos) << library;
    const std::string native = outputOf(tenon("compile " + sample + "/model.onnx -o x.wasm"));
    EXPECT_NE(native.find("which needs --target \"llvm -mtriple=wasm32"), std::string::npos)
        << native;
}

TEST(HexagonProgram, SaysWhatDoesNotFit)
{
    const std::string sample = sourcePath("resources/sample/digits");
    const TemporaryFolder folder;
    const std::string compile = "compile " + sample + "/model.onnx -o " + folder.file("x.elf");
    const std::string newer =
        outputOf(tenon("verify --no-cache " + sample + " --target 'hexagon -mcpu=v68'"));
    EXPECT_NE(newer.find("versions up to v67"), std::string::npos) << newer;
    const std::string graph = outputOf(tenon(compile + " --executor graph --target hexagon"));
    EXPECT_NE(graph.find("use --executor aot"), std::string::npos) << graph;
    const std::string native = outputOf(tenon(compile));
    EXPECT_NE(native.find("end the output in .so"), std::string::npos) << native;
    // What cannot run here can be compiled.
    const std::string library = folder.file("x.so");
    const std::string made = outputOf(
        tenon("compile " + sample + "/model.onnx -o " + library + " --target 'hexagon -mcpu=v68'"));
    EXPECT_TRUE(std::filesystem::exists(library)) << made;
}

/// Those with an object file; a WebAssembly module has a test of its own.
class EmulatedBoard : public EmulatedTarget
{
};

TEST_P(EmulatedBoard, NeedsNothingOfTheBoard)
{
    TENON_NEED_TOOL(GetParam().nm);
    const TemporaryFolder folder;
    const std::string object = folder.file("model.o");
    const std::string said =
        outputOf(tenon("compile " + sourcePath("resources/sample/digits/model.onnx") + " -o " +
                       object + " --target '" + GetParam().target + "'"));
    ASSERT_TRUE(std::filesystem::exists(object)) << said;
    EXPECT_EQ(outputOf(std::string(GetParam().nm) + " -u " + object), "");
}

std::string nameOf(const ::testing::TestParamInfo<Emulated>& target) { return target.param.name; }

std::vector<Emulated> boards()
{
    std::vector<Emulated> out;
    for (const Emulated& each : kEmulated)
        if (!each.isWasm()) out.push_back(each);
    return out;
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedTarget, ::testing::ValuesIn(kEmulated), nameOf);
INSTANTIATE_TEST_SUITE_P(All, EmulatedBoard, ::testing::ValuesIn(boards()), nameOf);

} // namespace
} // namespace tenon::test
