// SPDX-License-Identifier: Apache-2.0
// WebAssembly data objects as LLVM's object reader sees them.
#include "compiler/codegen/wasm/wasm_object.h"
#include "core/artifact/wasm_section.h"
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>
#include <llvm/Object/Wasm.h>

namespace tenon::compiler {
namespace {

std::span<const std::byte> asBytes(std::string_view text)
{
    return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(WasmObject, HoldsEverySymbolInASegmentOfItsOwn)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("data.o");
    const std::string large(300, 'x'); // lengths of two bytes
    const core::Status written = writeWasmDataObject(
        path,
        {".rodata",
         64,
         {{"one", asBytes("abc")}, {"none", {}}, {"two", asBytes(large), SymbolReach::Exported}}},
        {{"note", "said"}});
    ASSERT_TRUE(written) << written.error().text();
    auto binary = llvm::object::ObjectFile::createObjectFile(path);
    ASSERT_TRUE(static_cast<bool>(binary)) << llvm::toString(binary.takeError());
    const auto* object = llvm::dyn_cast<llvm::object::WasmObjectFile>(binary->getBinary());
    ASSERT_NE(object, nullptr);
    ASSERT_EQ(object->dataSegments().size(), 3u);
    for (const llvm::object::WasmSegment& segment : object->dataSegments())
        EXPECT_EQ(segment.Data.Alignment, 6u); // 64 as a power of two
    EXPECT_EQ(object->dataSegments()[2].Data.Content.size(), large.size());
    ASSERT_EQ(object->getNumberOfSymbols(), 3u);
    const char* names[] = {"one", "none", "two"};
    for (uint32_t i = 0; i < 3; ++i) {
        const llvm::object::WasmSymbol& symbol =
            object->getWasmSymbol(*std::next(object->symbol_begin(), i));
        EXPECT_EQ(symbol.Info.Name, names[i]);
        EXPECT_EQ(symbol.Info.DataRef.Segment, i);
        EXPECT_EQ(symbol.isHidden(), i < 2);
    }
    const auto file = core::readFile(path);
    ASSERT_TRUE(file);
    const auto note = core::findWasmSection(asBytes(*file), "note");
    ASSERT_TRUE(note) << note.error().text();
    EXPECT_EQ(note->size(), 4u);
}

TEST(WasmObject, SaysWhyItCannotWrite)
{
    EXPECT_FALSE(writeWasmDataObject("/nonexistent/x.o", {".rodata", 64, {}}, {}));
    const core::Status full =
        writeWasmDataObject("/dev/full", {".rodata", 64, {{"x", asBytes("abc")}}}, {});
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().message.find("No space left"), std::string::npos);
}

} // namespace
} // namespace tenon::compiler
