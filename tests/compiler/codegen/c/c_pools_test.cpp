// SPDX-License-Identifier: Apache-2.0
// Memories with names: emitted as the caller's or as static arrays, linked, counted to the byte and
// run on an emulated board; refused with what is largest where they are too small.
#include "compiler/driver/compile.h"
#include "compiler/driver/option_remarks.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "compiler/memory/pools.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/tool.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace tenon::compiler {
namespace {

std::vector<Pool> named(const std::string& text)
{
    const auto pools = namedPools({.names = text}, "c");
    EXPECT_TRUE(pools) << pools.error().text();
    return pools ? *pools : std::vector<Pool>();
}

class CPoolsTest : public testing::Test
{
protected:
    Result<CompileResultPtr> compiled(const std::string& workspace,
                                      const std::string& constants = "", bool takesIo = false) const
    {
        auto loaded = loadModel(m_sample + "/model.onnx", {});
        if (!loaded) return loaded.error();
        CompileOptions options;
        options.target = "c -mcpu=cortex-m4";
        options.workspacePools = named(workspace);
        options.constantPools = named(constants);
        if (takesIo) options.passConfig = {"tir.usmp.use_workspace_io=1"};
        JobContext job;
        return compile(std::make_shared<const Loaded>(std::move(*loaded)), options, job);
    }

    std::string header(const CompileResult& result, CInterface interface)
    {
        const auto sources = programSources(result, interface);
        EXPECT_TRUE(sources) << sources.error().text();
        return sources ? sources->front().text : "";
    }

    /// Links a program, runs it twice in a row on the emulated board, compares with the reference.
    void expectRuns(const CompileResult& result, CInterface interface)
    {
        const auto written = writeProgram(result, interface, m_folder.file("m.elf"));
        ASSERT_TRUE(written) << written.error().text();
        const auto input = readTensorFile(m_sample + "/test_data_set_0/input_0.pb");
        const auto wanted = readTensorFile(m_sample + "/test_data_set_0/output_0.pb");
        ASSERT_TRUE(input && wanted);
        const int32_t counts[] = {1, 1, 0};
        std::string request(reinterpret_cast<const char*>(counts), sizeof counts);
        const auto bytes = input->tensor.bytes();
        request.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        ASSERT_TRUE(writeFileAtomically(m_folder.file("request"), request));
        const auto ran = runTool({"sh", "-c",
                                  "cd " + m_folder.path() +
                                      " && timeout 120 qemu-system-arm -M mps2-an386 -nographic "
                                      "-monitor none -serial none -semihosting-config "
                                      "enable=on,target=native -kernel m.elf </dev/null"});
        ASSERT_TRUE(ran) << ran.error().text();
        const auto output = readFile(m_folder.file("output"));
        ASSERT_TRUE(output);
        ASSERT_EQ(output->size(), wanted->tensor.bytes().size());
        for (int64_t i = 0; i < wanted->tensor.size(); ++i) {
            float value = 0;
            std::memcpy(&value, output->data() + 4 * i, 4);
            EXPECT_NEAR(value, wanted->tensor.number(i), 1e-5) << "element " << i;
        }
    }

    /// Of a symbol in the linked image; -1 when there is none.
    int64_t linkedBytes(const std::string& symbol)
    {
        const auto listed = runTool({"arm-none-eabi-nm", "-S", m_folder.file("m.elf")});
        if (!listed) return -1;
        for (const std::string& line : split(*listed, '\n')) {
            const std::vector<std::string> words = split(line, ' ');
            if (words.size() == 4 && words[3] == symbol) return std::stoll(words[1], nullptr, 16);
        }
        return -1;
    }

    test::TemporaryFolder m_folder;
    std::string m_sample = test::sourcePath("resources/sample/digits");
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_HAS_NOT(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

TEST_F(CPoolsTest, AreMembersOfAStructThatTheCallerFills)
{
    const auto result = compiled("DTCM=24KiB,SRAM");
    ASSERT_TRUE(result) << result.error().text();
    const MemoryPlan& plan = (*result)->memory.plan;
    ASSERT_EQ(plan.peakBytes.size(), 2u);
    EXPECT_GT(plan.peakBytes[0], 0);
    EXPECT_LE(plan.peakBytes[0], 24 * 1024);
    EXPECT_GT(plan.peakBytes[1], 0);
    const std::string text = header(**result, CInterface::Structs);
    EXPECT_HAS(text,
               "struct tvmgen_default_workspace_pools\n{\n    void* DTCM;\n    void* SRAM;\n};");
    EXPECT_HAS(text,
               "TVMGEN_DEFAULT_DTCM_WORKSPACE_POOL_SIZE " + std::to_string(plan.peakBytes[0]));
    EXPECT_HAS(text, "struct tvmgen_default_workspace_pools* pools);");
    EXPECT_HAS_NOT(text, "the workspace is static");
    EXPECT_HAS(header(**result, CInterface::Unpacked), "uint8_t* pool_DTCM, uint8_t* pool_SRAM);");
    EXPECT_HAS(header(**result, CInterface::Packed), "then of the memories DTCM, SRAM");
}

TEST_F(CPoolsTest, UnnamedAreOneStaticArrayAsBefore)
{
    const auto result = compiled("");
    ASSERT_TRUE(result) << result.error().text();
    const std::string text = header(**result, CInterface::Structs);
    EXPECT_HAS_NOT(text, "workspace_pools");
    EXPECT_HAS_NOT(text, "POOL_SIZE");
    EXPECT_HAS(text, "the workspace is static");
}

/// Planner, header and linked image agree to the byte, and what runs in them computes the same.
TEST_F(CPoolsTest, TakeWhatWasPlannedAndRun)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    const auto result =
        compiled("DTCM=24KiB,SRAM@.bss.noinit.sram", "FAST=40KiB@.rodata.fast,QSPI");
    ASSERT_TRUE(result) << result.error().text();
    const MemoryPlan& plan = (*result)->memory.plan;
    const ConstantPlan& constants = (*result)->memory.constants;
    ASSERT_EQ(constants.bytes.size(), 2u);
    for (const int64_t bytes : constants.bytes) EXPECT_GT(bytes, 0);
    for (const CInterface interface :
         {CInterface::Structs, CInterface::Packed, CInterface::Unpacked}) {
        expectRuns(**result, interface);
        EXPECT_EQ(linkedBytes("pool_DTCM"), plan.peakBytes[0]);
        EXPECT_EQ(linkedBytes("tvmgen_default_SRAM"), plan.peakBytes[1]);
        EXPECT_EQ(linkedBytes("tvmgen_default_FAST"), constants.bytes[0]);
        EXPECT_EQ(linkedBytes("pool_QSPI"), constants.bytes[1]);
        EXPECT_EQ(linkedBytes("tvmgen_default_workspace"), -1); // all of it is in the pools
    }
    const auto all = (*result)->program.tensors;
    int64_t sum = 0;
    for (const ProgramTensor& tensor : all)
        if (tensor.role == TensorRole::Constant && tensor.viewOf < 0) sum += tensor.bytes();
    EXPECT_GE(constants.bytes[0] + constants.bytes[1], sum);
    EXPECT_LT(constants.bytes[0] + constants.bytes[1], sum + 16 * static_cast<int64_t>(all.size()));
}

TEST_F(CPoolsTest, HoldInputsAndOutputsWhereThatIsAskedFor)
{
    TENON_NEED_TOOL("arm-none-eabi-gcc");
    TENON_NEED_TOOL("qemu-system-arm");
    for (const char* pools : {"", "SRAM"}) {
        const auto result = compiled(pools, "", true);
        ASSERT_TRUE(result) << result.error().text();
        const std::string text = header(**result, CInterface::Structs);
        EXPECT_HAS(text, "struct tvmgen_default_inputs tvmgen_default_map_inputs(");
        EXPECT_HAS(text, *pools
                             ? "tvmgen_default_run(struct tvmgen_default_workspace_pools* pools);"
                             : "tvmgen_default_run(void);");
        const auto apart = compiled(pools);
        ASSERT_TRUE(apart) << apart.error().text();
        // Less than both apart: what was read may be written over.
        const int64_t io = 4 * 32 * 32 + 4 * 10;
        EXPECT_LT((*result)->memory.workspaceBytes(), (*apart)->memory.workspaceBytes() + io);
        expectRuns(**result, CInterface::Structs);
        const auto packed = programSources(**result, CInterface::Packed);
        ASSERT_FALSE(packed);
        EXPECT_EQ(packed.error().code, DiagnosticCode::BadArgument);
        EXPECT_HAS(packed.error().message, "--interface-api c");
    }
}

std::string notesOf(const Diagnostic& error)
{
    std::string out;
    for (const Diagnostic& note : error.notes) out += note.message + "\n";
    return out;
}

TEST_F(CPoolsTest, TooSmallByTenBytesAreRefusedWithWhatIsLargest)
{
    const auto whole = compiled("SRAM", "FLASH");
    ASSERT_TRUE(whole) << whole.error().text();
    const int64_t needed = (*whole)->memory.workspaceBytes();
    const int64_t constants = (*whole)->memory.constants.bytes[0];
    EXPECT_TRUE(compiled("SRAM=" + std::to_string(needed), "FLASH=" + std::to_string(constants)));

    const auto refused = compiled("SRAM=" + std::to_string(needed - 10));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, DiagnosticCode::OutOfMemory);
    const std::string notes = notesOf(refused.error());
    EXPECT_HAS(notes, "`SRAM` has " + thousands(needed - 10) + " bytes");
    EXPECT_HAS(notes, "`SRAM` would need " + thousands(needed));
    EXPECT_HAS(notes, "most is needed at call");
    const std::vector<BufferInfo>& buffers = (*whole)->memory.problem.buffers;
    const auto largest =
        std::max_element(buffers.begin(), buffers.end(),
                         [](const auto& a, const auto& b) { return a.sizeBytes < b.sizeBytes; });
    EXPECT_HAS(notes, "`" + largest->name + "` " + thousands(largest->sizeBytes));

    const auto noFlash = compiled("", "FLASH=" + std::to_string(constants - 10));
    ASSERT_FALSE(noFlash);
    EXPECT_EQ(noFlash.error().code, DiagnosticCode::OutOfMemory);
    EXPECT_HAS(notesOf(noFlash.error()), "the constants are `");
}

TEST_F(CPoolsTest, AreOfCSourceWithTheAotExecutorAlone)
{
    CompileOptions options;
    options.workspacePools = named("SRAM");
    options.constantPools = named("FLASH");
    options.target = "c";
    EXPECT_TRUE(optionRemarks(options).empty());
    options.executor = ExecutorKind::Graph;
    EXPECT_EQ(optionRemarks(options).size(), 2u);
    options.executor = ExecutorKind::Aot;
    options.target = "llvm";
    ASSERT_EQ(optionRemarks(options).size(), 2u);
    EXPECT_HAS(optionRemarks(options)[0].message, "--workspace-pools");
}

} // namespace
} // namespace tenon::compiler
