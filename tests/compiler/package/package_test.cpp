// SPDX-License-Identifier: Apache-2.0
// Files on disk: formats, symbols, reproducibility, manifest, failures that leave nothing behind.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/package/package.h"
#include "core/base/file.h"
#include "tests/compiler/executor/sample_program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>

namespace tenon::compiler {
namespace {

std::string outputOf(const std::string& command)
{
    std::string text;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (pipe) {
        const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe);
        if (count == 0) break;
        text.append(buffer.data(), count);
    }
    if (pipe) ::pclose(pipe);
    return text;
}

/// The sample program with everything it is packed from.
struct Sample
{
    explicit Sample(const std::string& triple = "")
        : machine(test::sampleMachine(triple))
        , kernel(*emitIrText(test::sampleKernelText(), machine))
        , memory(*planProgram(program, "hill_climb"))
    {
    }
    PackageInput input(ExecutorKind executor) const
    {
        return {.program = program,
                .executor = executor,
                .objects = {kernel},
                .machine = machine,
                .memory = executor == ExecutorKind::Aot ? &memory : nullptr,
                .manifest = {.toolVersion = "0.1.0", .modelName = "sample", .target = "llvm"}};
    }

    ExecutorProgram program = test::sampleProgram();
    MachineSpec machine;
    std::string kernel;
    ProgramMemory memory;
};

constexpr ExecutorKind kExecutors[] = {ExecutorKind::Graph, ExecutorKind::Aot};

TEST(Package, TellsTheFormatByTheSuffix)
{
    EXPECT_EQ(*outputFormatOf("a/b.so"), OutputFormat::SharedLibrary);
    EXPECT_EQ(*outputFormatOf("b.o"), OutputFormat::Object);
    EXPECT_EQ(*outputFormatOf("b.tar"), OutputFormat::Tar);
    EXPECT_EQ(*outputFormatOf("b.wasm"), OutputFormat::WasmModule);
    EXPECT_EQ(*outputFormatOf("b.elf"), OutputFormat::Program);
    EXPECT_EQ(*outputFormatOf("b.mlf.tar"), OutputFormat::ModelLibrary);
    EXPECT_FALSE(outputFormatOf("b.zip"));
}

TEST(Package, EveryFormatCarriesTheManifest)
{
    const Sample sample;
    const test::TemporaryFolder folder;
    for (const ExecutorKind executor : kExecutors) {
        for (const char* name : {"m.so", "m.o", "m.tar"}) {
            const std::string path = folder.file(name);
            const auto report = writePackage(sample.input(executor), *outputFormatOf(path), path);
            ASSERT_TRUE(report) << report.error().text();
            EXPECT_GT(report->fileBytes, 1000);
            const core::Result<core::Manifest> manifest = core::readManifest(path);
            ASSERT_TRUE(manifest) << name << ": " << manifest.error().text();
            EXPECT_EQ(manifest->executor, executorName(executor));
            EXPECT_EQ(manifest->calls.size(), 3u);
            EXPECT_EQ(manifest->calls[1].fromNodes, std::vector<std::string>{"Add_1"});
            EXPECT_EQ(manifest->outputs[1].shape, std::vector<int64_t>{6});
            EXPECT_EQ(manifest->memory.constantBytes, 24);
            EXPECT_EQ(manifest->memory.ioBytes, 6 * 24);
            EXPECT_EQ(manifest->memory.kernelWorkspaceBytes, 24);
            EXPECT_EQ(core::writeManifest(*manifest), core::writeManifest(report->manifest));
        }
    }
}

TEST(Package, NothingIsUndefinedAndOnlyTheAbiIsExported)
{
    TENON_NEED_TOOL("nm")
    const test::TemporaryFolder folder;
    for (const char* triple : {"", "aarch64-linux-gnu"}) {
        const Sample sample(triple);
        for (const ExecutorKind executor : kExecutors) {
            const std::string library = folder.file("m.so");
            const auto report =
                writePackage(sample.input(executor), OutputFormat::SharedLibrary, library);
            ASSERT_TRUE(report) << report.error().text();
            EXPECT_EQ(outputOf("nm -D -u " + library), "");
            std::set<std::string> exported;
            std::istringstream lines(outputOf("nm -D --defined-only -j " + library));
            for (std::string line; std::getline(lines, line);) exported.insert(line);
            EXPECT_EQ(exported,
                      std::set<std::string>(report->exports.begin(), report->exports.end()));
            EXPECT_NE(outputOf("nm " + library).find(" t tvmgen_default_fused_add_kernel"),
                      std::string::npos);

            const std::string object = folder.file("m.o");
            ASSERT_TRUE(writePackage(sample.input(executor), OutputFormat::Object, object));
            EXPECT_EQ(outputOf("nm -u " + object), "");
        }
    }
}

TEST(Package, TheSameInputGivesTheSameBytes)
{
    const Sample sample;
    const test::TemporaryFolder folder;
    for (const char* name : {"m.so", "m.o", "m.tar"}) {
        const std::string path = folder.file(name);
        ASSERT_TRUE(writePackage(sample.input(ExecutorKind::Aot), *outputFormatOf(path), path));
        const std::string first = *core::readFile(path);
        ASSERT_TRUE(writePackage(sample.input(ExecutorKind::Aot), *outputFormatOf(path), path));
        EXPECT_EQ(*core::readFile(path), first) << name;
    }
}

TEST(Package, ALibraryThatStandsThereIsNotWrittenAgain)
{
    const Sample sample;
    const test::TemporaryFolder folder;
    const std::string path = folder.file("m.so");
    const auto write = [&] {
        return writePackage(sample.input(ExecutorKind::Aot), OutputFormat::SharedLibrary, path);
    };
    const auto first = write();
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->isUnchanged);
    const std::string whole = *core::readFile(path);
    const auto again = write();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->isUnchanged);
    EXPECT_EQ(again->fileBytes, first->fileBytes);
    EXPECT_EQ(*core::readFile(path), whole);
    for (size_t at = 0; at < whole.size(); at += 97) { // damage anywhere
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        ASSERT_TRUE(core::writeFileAtomically(path, damaged));
        const auto mended = write();
        ASSERT_TRUE(mended);
        EXPECT_FALSE(mended->isUnchanged) << at;
        ASSERT_EQ(*core::readFile(path), whole) << at;
        at += whole.size() / 16;
    }
}

TEST(Package, TarHoldsTheBlobFirstThenTheObjects)
{
    TENON_NEED_TOOL("tar")
    const Sample sample;
    const test::TemporaryFolder folder;
    const std::string path = folder.file("m.tar");
    ASSERT_TRUE(writePackage(sample.input(ExecutorKind::Graph), OutputFormat::Tar, path));
    EXPECT_EQ(outputOf("tar -tf " + path), "devc.o\nlib0.o\nlib1.o\nconstants.o\n");
    const std::string listing = outputOf("TZ=UTC tar --numeric-owner -tvf " + path);
    EXPECT_EQ(listing.find("-rw-r--r-- 0/0"), 0u) << listing;
    EXPECT_NE(listing.find("1970-01-01 00:00 devc.o"), std::string::npos) << listing;
}

TEST(Package, AFailureLeavesTheOldFileAndNothingElse)
{
    const Sample sample;
    const test::TemporaryFolder folder;
    const std::string path = folder.file("m.so");
    ASSERT_TRUE(core::writeFileAtomically(path, "old"));
    PackageInput input = sample.input(ExecutorKind::Aot);
    input.objects.clear(); // the kernel is missing
    const auto report = writePackage(input, OutputFormat::SharedLibrary, path);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, core::DiagnosticCode::LinkFailure);
    EXPECT_NE(report.error().message.find("tenon_kernel_add"), std::string::npos);
    EXPECT_EQ(*core::readFile(path), "old");
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        EXPECT_EQ(entry.path().filename(), "m.so");
        ++files;
    }
    EXPECT_EQ(files, 1u);
    EXPECT_FALSE(writePackage(sample.input(ExecutorKind::Aot), OutputFormat::Object,
                              folder.file("no/such/folder/m.o")));
}

TEST(Package, RefusesTargetsThatCannotBeLinked)
{
    Sample sample;
    sample.machine = test::sampleMachine("arm64-apple-macos");
    const test::TemporaryFolder folder;
    PackageInput input = sample.input(ExecutorKind::Aot);
    input.emitGlue = [](const std::string&) -> core::Result<std::string> { return std::string(); };
    const auto report = writePackage(input, OutputFormat::SharedLibrary, folder.file("m.so"));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, core::DiagnosticCode::UnsupportedTarget);
}

TEST(Package, WritesAndReadsMegabytesOfWeights)
{
    Sample sample;
    const int64_t floats = 4 << 20;
    sample.program.tensors[2].shape = {2, 3};
    sample.program.tensors.push_back(
        {.name = "big", .dtype = core::kFloat32, .shape = {floats}, .role = TensorRole::Constant});
    sample.program.tensors.back().constant =
        core::Tensor::make(core::kFloat32, {floats}, [](std::span<std::byte> bytes) {
            for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31);
        });
    sample.program.outputs.push_back(static_cast<int>(sample.program.tensors.size()) - 1);
    sample.program.outputNames.push_back("big");
    sample.memory = *planProgram(sample.program, "hill_climb");
    const test::TemporaryFolder folder;
    const auto report = writePackage(sample.input(ExecutorKind::Aot), OutputFormat::SharedLibrary,
                                     folder.file("m.so"));
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_GT(report->fileBytes, floats * 4);
    const std::string file = *core::readFile(folder.file("m.so"));
    const auto weights = sample.program.tensors.back().constant.bytes();
    const std::string_view wanted(reinterpret_cast<const char*>(weights.data()), weights.size());
    const size_t at = file.find(wanted);
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(at % 64, 0u);
}

} // namespace
} // namespace tenon::compiler
