// SPDX-License-Identifier: Apache-2.0
// C source of kernels as text, and of whole models compiled by C compilers and run.
#include "compiler/codegen/c/c_kernel.h"
#include "compiler/codegen/c/c_text.h"
#include "compiler/driver/compile.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ir/tir/text.h"
#include "tests/support/environment.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon::compiler {
namespace {

TEST(CKernel, IsAsWritten)
{
    test::expectGolden("tests/compiler/codegen/c_kernel.txt", [](const test::GoldenCase& c) {
        const auto function = tir::parsePrimFunc(c.input);
        if (!function) return function.error().text() + "\n";
        const auto kernel = emitCKernel(*function, "kernel");
        if (!kernel) return kernel.error().text() + "\n";
        return cHelpers(kernel->text) + kernel->text +
               (kernel->scratchBytes ? "scratch " + std::to_string(kernel->scratchBytes) + "\n"
                                     : "");
    });
}

TEST(CText, WritesNumbersThatReadBackAsTheSame)
{
    EXPECT_EQ(cFloat(0.1f, core::kFloat32), "0.1f");
    EXPECT_EQ(cFloat(3, core::kFloat32), "3.0f");
    EXPECT_EQ(cFloat(1e30f, core::kFloat32), "1e+30f");
    EXPECT_EQ(cFloat(-HUGE_VAL, core::kFloat32), "-INFINITY");
    EXPECT_EQ(cInteger(INT32_MIN, core::kInt32), "INT32_MIN");
    EXPECT_EQ(cInteger(int64_t{1} << 40, core::kInt64), "INT64_C(1099511627776)");
    EXPECT_EQ(cIdentifier("2/x.y"), "v2_x_y");
    EXPECT_EQ(cIdentifier("default"), "default_");
}

struct Ran
{
    int status = -1;
    std::string output;
};

Ran runCommand(const std::string& command)
{
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    Ran ran;
    std::array<char, 4096> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        ran.output.append(block.data(), n);
    ran.status = ::pclose(pipe);
    return ran;
}

constexpr const char* kStrict = " -std=c99 -Wall -Wextra -Werror -pedantic -O2 ";

/// A model's folder, its C source, and a main() that prints the bits of its only output.
class CSource : public testing::TestWithParam<const char*>
{
protected:
    /// False (and a failure) when the model cannot be written.
    bool write(const std::string& model, CInterface interface,
               ExecutorKind executor = ExecutorKind::Aot)
    {
        m_model = model;
        const auto loaded = loadModel(model + "/model.onnx", {});
        EXPECT_TRUE(loaded) << loaded.error().text();
        CompileOptions options;
        options.target = "c -mcpu=cortex-m4";
        options.executor = executor;
        core::JobContext job;
        const auto result =
            compile(std::make_shared<const Loaded>(std::move(*loaded)), options, job);
        EXPECT_TRUE(result) << result.error().text();
        m_result = *result;
        const auto written = writeSources(**result, interface, folder());
        EXPECT_TRUE(written) << written.error().text();
        std::ofstream(m_folder.file("main.c"))
            << (executor == ExecutorKind::Graph ? graphMainText() : mainText(interface));
        return written.operator bool();
    }
    std::string folder() const { return m_folder.file("source"); }
    std::string sources() const
    {
        return " -I" + folder() + "/include " + folder() + "/src/*.c " + m_folder.file("main.c");
    }

    /// What both programs start with: the input's values, and how many the output has.
    std::string inputText()
    {
        const auto input = readTensorFile(m_model + "/test_data_set_0/input_0.pb");
        EXPECT_TRUE(input) << input.error().text();
        const ExecutorProgram& program = m_result->program;
        m_count = program.tensors[static_cast<size_t>(program.outputs[0])].bytes() / 4;
        return "#include \"tvmgen_default.h\"\n#include \"print.h\"\n"
               "static float input[] = " +
               cInitializer(input->tensor) + ";\n";
    }

    /// Run twice, as the second run must not depend on what the first left; first in too little
    /// memory, which must be told.
    std::string graphMainText()
    {
        const ExecutorProgram& program = m_result->program;
        const std::string values = inputText();
        return values +
               "static uint64_t arena[32768];\nint main(void)\n{\n"
               "    tenon_micro_graph* graph;\n    DLTensor* out;\n    int i;\n"
               "    if (!tenon_micro_graph_create(&tvmgen_default_model, arena, 4096, &graph)) "
               "return 2;\n"
               "    if (strcmp(tenon_micro_last_error(), \"the memory for the graph is too "
               "small\")) return 3;\n"
               "    if (tenon_micro_graph_create(&tvmgen_default_model, arena, sizeof arena, "
               "&graph)) return 4;\n"
               "    if (tenon_micro_graph_used_bytes(graph) > sizeof arena) return 5;\n"
               "    if (tenon_micro_graph_input(graph, \"nothing\")) return 6;\n"
               "    for (i = 0; i < 2; ++i) {\n"
               "        memcpy(tenon_micro_graph_input(graph, \"" +
               program.tensors[static_cast<size_t>(program.inputs[0])].name +
               "\")->data, input, sizeof input);\n"
               "        if (tenon_micro_graph_run(graph)) return 7;\n    }\n"
               "    out = tenon_micro_graph_output(graph, 0);\n"
               "    if (!out || tenon_micro_graph_output(graph, 1)) return 8;\n"
               "    print_words(out->data, " +
               std::to_string(m_count) + ");\n    return 0;\n}\n";
    }

    static std::string graphSources()
    {
        std::string out = " -I" + test::sourcePath("runtime/micro/graph");
        for (const char* source :
             {"common/bytes.c", "common/dtype.c", "common/json.c", "common/tensor_head.c",
              "executor/graph.c", "executor/graph_check.c", "executor/params.c",
              "micro/graph/micro_arena.c", "micro/graph/micro_error.c",
              "micro/graph/micro_graph.c"})
            out += " " + test::sourcePath("runtime/" + std::string(source));
        return out;
    }

    std::string mainText(CInterface interface)
    {
        const ExecutorProgram& program = m_result->program;
        const auto nameOf = [](std::string name) { return cIdentifier(name); };
        const std::string in = nameOf(program.tensors[static_cast<size_t>(program.inputs[0])].name);
        const std::string out = nameOf(program.outputNames[0]);
        std::string text = inputText();
        text += "static float output[" + std::to_string(m_count) + "];\nint main(void)\n{\n";
        if (interface == CInterface::Structs)
            text += "    struct tvmgen_default_inputs in = {0};\n"
                    "    struct tvmgen_default_outputs out = {0};\n    in." +
                    in + " = input;\n    out." + out +
                    " = output;\n    if (tvmgen_default_run(&in, &out)) return 1;\n";
        else
            text += "    DLTensor x = {0}, y = {0};\n    TVMValue values[2];\n"
                    "    int32_t codes[2] = {kTVMDLTensorHandle, kTVMDLTensorHandle};\n"
                    "    x.data = input;\n    y.data = output;\n    values[0].v_handle = &x;\n"
                    "    values[1].v_handle = &y;\n"
                    "    if (!tvmgen_default_run(values, codes, 1, 0, 0, 0)) return 2;\n"
                    "    if (tvmgen_default_run(values, codes, 2, 0, 0, 0)) return 1;\n";
        return text + "    print_words(output, " + std::to_string(m_count) +
               ");\n    return 0;\n}\n";
    }

    void expectTheReference(const Ran& ran) const
    {
        ASSERT_EQ(ran.status, 0) << ran.output;
        const auto wanted = readTensorFile(m_model + "/test_data_set_0/output_0.pb");
        ASSERT_TRUE(wanted) << wanted.error().text();
        const std::vector<std::string> words = core::split(core::trimmed(ran.output), '\n');
        ASSERT_EQ(static_cast<int64_t>(words.size()), m_count) << ran.output;
        for (int64_t i = 0; i < m_count; ++i) {
            const auto bits =
                static_cast<uint32_t>(std::stoul(words[static_cast<size_t>(i)], nullptr, 16));
            float value = 0;
            std::memcpy(&value, &bits, sizeof value);
            EXPECT_NEAR(value, wanted->tensor.number(i), 1e-5) << "element " << i;
        }
    }

    test::TemporaryFolder m_folder;
    std::string m_model;
    CompileResultPtr m_result;
    int64_t m_count = 0;
};

constexpr const char* kPrintHost = R"(#include <stdio.h>
#include <string.h>
static void print_words(const float* values, int count)
{
    for (int i = 0; i < count; ++i) {
        unsigned bits;
        memcpy(&bits, &values[i], sizeof bits);
        printf("%08x\n", bits);
    }
}
)";
constexpr const char* kPrintBoard = R"(#include <string.h>
#include "semihost.h"
static void print_words(const float* values, int count)
{
    for (int i = 0; i < count; ++i) {
        char text[10];
        unsigned long bits = 0;
        memcpy(&bits, &values[i], 4);
        for (int d = 0; d < 8; ++d) text[d] = "0123456789abcdef"[(bits >> (28 - 4 * d)) & 15];
        text[8] = '\n';
        text[9] = 0;
        semihost_write(text);
    }
}
)";

TEST_F(CSource, RunsOnTheHostByBothInterfaces)
{
    TENON_NEED_TOOL("cc");
    for (const CInterface interface : {CInterface::Structs, CInterface::Packed}) {
        ASSERT_TRUE(write(test::sourcePath("resources/sample/digits"), interface));
        std::ofstream(m_folder.file("print.h")) << kPrintHost;
        const std::string program = m_folder.file("program");
        const Ran built =
            runCommand("cc" + std::string(kStrict) + sources() + " -o " + program + " -lm");
        ASSERT_EQ(built.status, 0) << built.output;
        expectTheReference(runCommand(program));
    }
}

TEST_F(CSource, RunsByTheGraphExecutorInGivenMemory)
{
    TENON_NEED_TOOL("cc");
    ASSERT_TRUE(write(test::sourcePath("resources/sample/digits"), CInterface::Packed,
                      ExecutorKind::Graph));
    std::ofstream(m_folder.file("print.h")) << kPrintHost;
    const std::string program = m_folder.file("program");
    const Ran built = runCommand("cc" + std::string(kStrict) + sources() + graphSources() +
                                 " -fsanitize=address,undefined -o " + program + " -lm");
    ASSERT_EQ(built.status, 0) << built.output;
    expectTheReference(runCommand(program));
}

TEST_F(CSource, TakesNamesThatAreNotAscii)
{
    TENON_NEED_TOOL("cc");
    ASSERT_TRUE(write(test::sourcePath("resources/sample/digits"), CInterface::Packed,
                      ExecutorKind::Graph));
    CompileResult renamed = *m_result;
    renamed.program.tensors[static_cast<size_t>(renamed.program.inputs[0])].name = "größe";
    Loaded named = *renamed.loaded;
    named.name = "größe";
    renamed.loaded = std::make_shared<const Loaded>(std::move(named));
    ASSERT_TRUE(writeSources(renamed, CInterface::Packed, folder()));
    const Ran built = runCommand("cc -c" + std::string(kStrict) + "-I" + folder() + "/include " +
                                 folder() + "/src/default_lib1.c -o " + m_folder.file("lib1.o"));
    EXPECT_EQ(built.status, 0) << built.output;
}

std::vector<std::string> sampleAndKws()
{
    std::vector<std::string> models{test::sourcePath("resources/sample/digits")};
    if (const std::string kws = test::dataPath("exported/kws_dscnn"); !kws.empty())
        models.push_back(kws);
    return models;
}

/// Compiler, what it needs to link, and what prints the image's symbols.
struct Toolchain
{
    std::string prefix;
    std::string options;
};

const Toolchain kBoard{"arm-none-eabi-",
                       "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -nostartfiles "
                       "-ffunction-sections -Wl,--gc-sections -T " +
                           test::sourcePath("runtime/micro/mps2/link.ld") + " -I" +
                           test::sourcePath("runtime/micro/mps2") + " " +
                           test::sourcePath("runtime/micro/mps2/startup.c")};

/// Planner, header, array and linked image agree to the byte.
TEST_F(CSource, KeepsToTheWorkspaceThatWasPlanned)
{
    for (const Toolchain& tools : {Toolchain{"aarch64-linux-gnu-", ""}, kBoard}) {
        TENON_NEED_TOOL(tools.prefix + "gcc");
        for (const std::string& model : sampleAndKws()) {
            ASSERT_TRUE(write(model, CInterface::Structs));
            const int64_t planned = m_result->memory.workspaceBytes();
            EXPECT_GT(planned, 0);
            std::ofstream(m_folder.file("print.h"))
                << (tools.options.empty() ? kPrintHost : kPrintBoard);
            const std::string image = m_folder.file("image");
            const Ran built = runCommand(tools.prefix + "gcc " + tools.options + kStrict +
                                         sources() + " -o " + image + " -lm");
            ASSERT_EQ(built.status, 0) << built.output;
            const Ran listed =
                runCommand(tools.prefix + "nm -S " + image + " | grep tvmgen_default_workspace");
            const std::vector<std::string> fields = core::split(core::trimmed(listed.output), ' ');
            ASSERT_EQ(fields.size(), 4u) << listed.output;
            EXPECT_EQ(std::stoll(fields[1], nullptr, 16), planned) << image;
            const auto header = core::readFile(folder() + "/include/tvmgen_default.h");
            ASSERT_TRUE(header);
            EXPECT_NE(
                header->find("TVMGEN_DEFAULT_WORKSPACE_SIZE " + std::to_string(planned) + "\n"),
                std::string::npos);
            const auto code = core::readFile(folder() + "/src/default_lib0.c");
            ASSERT_TRUE(code);
            EXPECT_NE(code->find("tvmgen_default_workspace[" + std::to_string(planned) + "]"),
                      std::string::npos);
        }
    }
}

TEST_F(CSource, RunsOnAnEmulatedCortexM4)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    for (const std::string& model : sampleAndKws()) {
        for (const ExecutorKind executor : {ExecutorKind::Aot, ExecutorKind::Graph}) {
            ASSERT_TRUE(write(model, CInterface::Structs, executor));
            std::ofstream(m_folder.file("print.h")) << kPrintBoard;
            const std::string image = m_folder.file("image.elf");
            const std::string runtime = executor == ExecutorKind::Graph ? graphSources() : "";
            const Ran built = runCommand(kBoard.prefix + "gcc " + kBoard.options + kStrict +
                                         sources() + runtime + " -o " + image + " -lm");
            ASSERT_EQ(built.status, 0) << built.output;
            expectTheReference(runCommand(
                "timeout 120 qemu-system-arm -M mps2-an386 -nographic -monitor none -serial none "
                "-semihosting-config enable=on,target=native -kernel " +
                image + " </dev/null"));
        }
    }
}

TEST_F(CSource, LeavesForeignFoldersAlone)
{
    std::filesystem::create_directories(folder());
    std::ofstream(folder() + "/notes.txt") << "mine";
    const auto loaded = loadModel(test::sourcePath("resources/sample/digits/model.onnx"), {});
    ASSERT_TRUE(loaded);
    CompileOptions options;
    options.target = "c";
    core::JobContext job;
    const auto result = compile(std::make_shared<const Loaded>(std::move(*loaded)), options, job);
    ASSERT_TRUE(result) << result.error().text();
    const auto written = writeSources(**result, CInterface::Structs, folder());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, core::DiagnosticCode::BadArgument);
    EXPECT_TRUE(std::filesystem::exists(folder() + "/notes.txt"));
    EXPECT_TRUE(writeSources(**result, CInterface::Packed, m_folder.file("c.tar")));
    EXPECT_TRUE(std::filesystem::exists(m_folder.file("c.tar")));
}

} // namespace
} // namespace tenon::compiler
