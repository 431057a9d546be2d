// SPDX-License-Identifier: Apache-2.0
// Libraries whose weights were put in behind the linker, as LLVM's object reader sees them.
#include "compiler/codegen/llvm/glue.h"
#include "compiler/package/fill_section.h"
#include "compiler/package/package.h"
#include "core/base/file.h"
#include "tests/compiler/executor/sample_program.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>
#include <cstring>

namespace tenon::compiler {
namespace {

using llvm::object::ELFFile;

/// The program's library for the triple.
std::string libraryOf(const ExecutorProgram& program, const std::string& triple,
                      const test::TemporaryFolder& folder)
{
    const ProgramMemory memory = *planProgram(program, "hill_climb");
    PackageInput input{.program = program,
                       .executor = ExecutorKind::Aot,
                       .machine = test::sampleMachine(triple),
                       .memory = &memory};
    const std::string kernel = *emitIrText(test::sampleKernelText(), input.machine);
    input.objects = {kernel};
    const auto report = writePackage(input, OutputFormat::SharedLibrary, folder.file("m.so"));
    EXPECT_TRUE(report) << report.error().text();
    return *core::readFile(folder.file("m.so"));
}

std::string sampleLibrary(const std::string& triple, const test::TemporaryFolder& folder)
{
    return libraryOf(test::sampleProgram(), triple, folder);
}

/// Adds a constant of that many floats, all of one value; the result is its tensor.
int addConstant(ExecutorProgram& program, int64_t floats, float value)
{
    program.tensors.push_back({.name = "more" + std::to_string(program.tensors.size()),
                               .dtype = core::kFloat32,
                               .shape = {floats},
                               .role = TensorRole::Constant});
    program.tensors.back().constant =
        core::Tensor::make(core::kFloat32, {floats}, [&](std::span<std::byte> bytes) {
            for (size_t i = 0; i < bytes.size(); i += sizeof value)
                std::memcpy(bytes.data() + i, &value, sizeof value);
        });
    return static_cast<int>(program.tensors.size()) - 1;
}

/// The largest alignment of a segment, which loaders follow.
template <class Elf>
uint64_t alignmentOf(const std::string& file)
{
    const ELFFile<Elf> elf = llvm::cantFail(ELFFile<Elf>::create(file));
    uint64_t most = 0;
    for (const auto& segment : llvm::cantFail(elf.program_headers())) {
        if (segment.p_type != llvm::ELF::PT_LOAD) continue;
        EXPECT_EQ((segment.p_vaddr - segment.p_offset) % segment.p_align, 0u);
        most = std::max<uint64_t>(most, segment.p_align);
    }
    return most;
}

/// What loading maps at `address`: the bytes of the file, by the segments alone.
template <class Elf>
std::string mappedAt(const std::string& file, uint64_t address, uint64_t size)
{
    const ELFFile<Elf> elf = llvm::cantFail(ELFFile<Elf>::create(file));
    for (const auto& segment : llvm::cantFail(elf.program_headers())) {
        if (segment.p_type != llvm::ELF::PT_LOAD) continue;
        EXPECT_EQ(segment.p_offset % 65536, segment.p_vaddr % 65536);
        EXPECT_LE(segment.p_offset + segment.p_filesz, file.size());
        if (address >= segment.p_vaddr && address + size <= segment.p_vaddr + segment.p_filesz) {
            EXPECT_EQ(segment.p_flags, llvm::ELF::PF_R);
            return file.substr(segment.p_offset + (address - segment.p_vaddr), size);
        }
    }
    return {};
}

template <class Elf>
void expectConstants(const std::string& file)
{
    const ELFFile<Elf> elf = llvm::cantFail(ELFFile<Elf>::create(file));
    bool isFound = false;
    for (const auto& section : llvm::cantFail(elf.sections())) {
        if (llvm::cantFail(elf.getSectionName(section)) != ".tenon.constants") continue;
        isFound = true;
        EXPECT_EQ(section.sh_type, llvm::ELF::SHT_PROGBITS);
        EXPECT_EQ(section.sh_addr % 64, 0u);
        const auto content = llvm::cantFail(elf.getSectionContents(section));
        const std::string bytes(content.begin(), content.end());
        EXPECT_EQ(bytes, mappedAt<Elf>(file, section.sh_addr, section.sh_size));
        const ExecutorProgram program = test::sampleProgram();
        for (const ProgramTensor& tensor : program.tensors) {
            if (tensor.role != TensorRole::Constant) continue;
            const auto wanted = tensor.constant.bytes();
            EXPECT_NE(bytes.find(
                          std::string(reinterpret_cast<const char*>(wanted.data()), wanted.size())),
                      std::string::npos);
        }
    }
    EXPECT_TRUE(isFound);
}

TEST(FillSection, PutsWeightsWhereEveryMachineMapsThem)
{
    const test::TemporaryFolder folder;
    for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu"})
        expectConstants<llvm::object::ELF64LE>(sampleLibrary(triple, folder));
    expectConstants<llvm::object::ELF32LE>(sampleLibrary("armv7l-linux-gnueabihf", folder));
}

TEST(FillSection, AsksForLargePagesOfMegabytesOfWeights)
{
    using llvm::object::ELF32LE;
    using llvm::object::ELF64LE;
    const test::TemporaryFolder folder;
    EXPECT_EQ(alignmentOf<ELF64LE>(sampleLibrary("x86_64-linux-gnu", folder)), 65536u);
    ExecutorProgram program = test::sampleProgram();
    addConstant(program, 1 << 20, 1.5F);
    for (const char* triple : {"x86_64-linux-gnu", "aarch64-linux-gnu"})
        EXPECT_EQ(alignmentOf<ELF64LE>(libraryOf(program, triple, folder)), uint64_t{2} << 20);
    EXPECT_EQ(alignmentOf<ELF32LE>(libraryOf(program, "armv7l-linux-gnueabihf", folder)), 65536u);
}

TEST(FillSection, PutsWeightsInTheOrderOfTheCalls)
{
    const test::TemporaryFolder folder;
    ExecutorProgram program = test::sampleProgram();
    const int last = addConstant(program, 6, 3.25F);
    const int first = addConstant(program, 6, 5.75F);
    program.calls[1].arguments[1] = first;
    program.calls[2].arguments[1] = last;
    const std::string file = libraryOf(program, "x86_64-linux-gnu", folder);
    const auto placeOf = [&](int tensor) {
        const auto bytes = program.tensors[static_cast<size_t>(tensor)].constant.bytes();
        return file.find(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    };
    ASSERT_NE(placeOf(last), std::string::npos);
    EXPECT_LT(placeOf(2), placeOf(first)); // of the first call
    EXPECT_LT(placeOf(first), placeOf(last));
}

TEST(FillSection, RefusesWhatTheLinkerCannotHaveWritten)
{
    const test::TemporaryFolder folder;
    const std::vector<std::byte> bytes(100);
    const DataSection weights{".tenon.constants", 64, {{"w", bytes}}, true};
    const std::string library = sampleLibrary("x86_64-linux-gnu", folder);
    // Not ELF, cut off anywhere, and a section that is full already.
    std::vector<std::string> refused{"", "no library at all", library};
    for (const size_t size : {5, 64, 400}) refused.push_back(library.substr(0, size));
    for (const std::string& linked : refused) {
        const auto done = fillSection(linked, weights);
        ASSERT_FALSE(done) << linked.size();
        EXPECT_EQ(done.error().code, core::DiagnosticCode::LinkFailure);
    }
}

TEST(FillSection, LeavesALibraryThatNeedsNoWeights)
{
    const test::TemporaryFolder folder;
    const std::vector<std::byte> bytes(100);
    const std::string library = sampleLibrary("x86_64-linux-gnu", folder);
    const auto filled = fillSection(library, {".tenon.unused", 64, {{"w", bytes}}, true});
    ASSERT_TRUE(filled);
    ASSERT_TRUE(writeParts(filled->parts, folder.file("out.so")));
    EXPECT_EQ(*core::readFile(folder.file("out.so")), library);
}

} // namespace
} // namespace tenon::compiler
