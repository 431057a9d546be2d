// SPDX-License-Identifier: Apache-2.0
// Data objects as LLVM's object reader sees them.
#include "compiler/codegen/llvm/elf_object.h"
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>

namespace tenon::compiler {
namespace {

std::span<const std::byte> asBytes(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

struct Seen
{
    uint64_t offset;
    uint64_t size;
    bool isHidden;
    std::string content;
};

std::map<std::string, Seen> readBack(const std::string& path, unsigned machine)
{
    std::map<std::string, Seen> seen;
    auto binary = llvm::object::ObjectFile::createObjectFile(path);
    if (!binary) {
        ADD_FAILURE() << llvm::toString(binary.takeError());
        return seen;
    }
    const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->getBinary());
    EXPECT_NE(elf, nullptr);
    EXPECT_EQ(elf->getEMachine(), machine);
    EXPECT_TRUE(elf->isRelocatableObject());
    for (const llvm::object::ELFSymbolRef symbol : elf->symbols()) {
        const auto section = llvm::cantFail(symbol.getSection());
        const auto content = llvm::cantFail(section->getContents());
        const uint64_t offset = llvm::cantFail(symbol.getValue());
        EXPECT_EQ(section->getAlignment().value() % 8, 0u);
        EXPECT_EQ(symbol.getBinding(), llvm::ELF::STB_GLOBAL);
        seen[llvm::cantFail(symbol.getName()).str()] = {
            offset, symbol.getSize(), symbol.getOther() == llvm::ELF::STV_HIDDEN,
            content.substr(offset, symbol.getSize()).str()};
    }
    return seen;
}

TEST(DataObject, HoldsEverySymbolAlignedForEveryMachine)
{
    const std::pair<const char*, unsigned> machines[] = {
        {"x86_64-linux-gnu", llvm::ELF::EM_X86_64},
        {"aarch64-linux-gnu", llvm::ELF::EM_AARCH64},
        {"armv7l-linux-gnueabihf", llvm::ELF::EM_ARM},
        {"riscv64-unknown-linux-gnu", llvm::ELF::EM_RISCV},
        {"i686-linux-gnu", llvm::ELF::EM_386},
        {"hexagon", llvm::ELF::EM_HEXAGON},
    };
    const test::TemporaryFolder folder;
    for (const auto& [triple, machine] : machines) {
        const std::string path = folder.file("data.o");
        const std::vector<DataSection> sections = {
            {".rodata.a", 64, {{"one", asBytes("abc")}, {"none", {}}, {"two", asBytes("defgh")}}},
            {".manifest", 8, {{"three", asBytes("xyz"), SymbolReach::Exported}}}};
        const core::Status written = writeDataObject(path, *ElfMachine::of(triple), sections);
        ASSERT_TRUE(written) << written.error().text();
        const std::map<std::string, Seen> seen = readBack(path, machine);
        ASSERT_EQ(seen.size(), 4u) << triple;
        EXPECT_EQ(seen.at("one").content, "abc");
        EXPECT_EQ(seen.at("one").offset, 0u);
        EXPECT_TRUE(seen.at("one").isHidden);
        EXPECT_EQ(seen.at("none").offset, 64u);
        EXPECT_EQ(seen.at("two").offset, 128u);
        EXPECT_EQ(seen.at("two").content, "defgh");
        EXPECT_EQ(seen.at("three").content, "xyz");
        EXPECT_FALSE(seen.at("three").isHidden);
    }
}

TEST(DataObject, RefusesOtherObjectFormats)
{
    for (const char* triple : {"arm64-apple-macos", "x86_64-pc-windows-msvc", "wasm32"}) {
        const core::Result<ElfMachine> machine = ElfMachine::of(triple);
        ASSERT_FALSE(machine) << triple;
        EXPECT_EQ(machine.error().code, core::DiagnosticCode::UnsupportedTarget);
    }
}

TEST(DataObject, SaysWhyItCannotWrite)
{
    const core::Status status = writeDataObject("/nonexistent/x.o", ElfMachine{}, {});
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, core::DiagnosticCode::IoFailure);
    const core::Status full =
        writeDataObject("/dev/full", ElfMachine{}, {{".rodata", 64, {{"x", asBytes("abc")}}}});
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
}

} // namespace
} // namespace tenon::compiler
