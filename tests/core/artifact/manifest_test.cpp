// SPDX-License-Identifier: Apache-2.0
// The manifest: JSON both ways, and readers against files nobody vouches for.
#include "core/artifact/elf_section.h"
#include "core/artifact/manifest.h"
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

Manifest sample()
{
    Manifest manifest;
    manifest.toolVersion = "0.1.0";
    manifest.modelName = "net \"quoted\"";
    manifest.modelHash = "abcd";
    manifest.target = "llvm -keys=cpu";
    manifest.executor = "aot";
    manifest.inputs = {{"x", "float32", {1, 3, 224, 224}}};
    manifest.outputs = {{"y", "float32", {1, 1000}}};
    manifest.kernels = {{"tenon_k_00", "tvmgen_default_fused_conv", "00", 512}};
    manifest.calls = {{"fused_conv", 0, {"Conv_0", "Relu_1"}, {{"t", "float32", {}}}, 1e9, 2e6}};
    manifest.memory = {"hill_climb", 1024, 64, 4096, 8192, 1000, {{"t", 100, 64, 0, 3}}};
    return manifest;
}

TEST(Manifest, ReadsWhatItWrites)
{
    const std::string text = writeManifest(sample());
    const Result<Manifest> read = parseManifest(text);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(writeManifest(*read), text);
    EXPECT_EQ(read->calls[0].fromNodes[1], "Relu_1");
    EXPECT_EQ(read->memory.buffers[0].offsetBytes, 64);
    EXPECT_EQ(read->inputs[0].shape, (std::vector<int64_t>{1, 3, 224, 224}));
}

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(Manifest, CallsHaveTitlesOrAreShownByTheirLabels)
{
    Manifest manifest = sample();
    const Result<Manifest> without = parseManifest(writeManifest(manifest));
    ASSERT_TRUE(without);
    EXPECT_EQ(without->calls.at(0).shownTitle(), "fused_conv");
    manifest.calls[0].title = "conv 3x3 + relu · features.0";
    const Result<Manifest> with = parseManifest(writeManifest(manifest));
    ASSERT_TRUE(with);
    EXPECT_EQ(with->calls.at(0).shownTitle(), "conv 3x3 + relu · features.0");
}

TEST(Manifest, CallsSayTheirMultiplyAddsOrThatTheyDoNot)
{
    Manifest manifest = sample();
    EXPECT_EQ(parseManifest(writeManifest(manifest))->calls.at(0).macs, -1);
    manifest.calls[0].macs = 0;
    EXPECT_EQ(parseManifest(writeManifest(manifest))->calls.at(0).macs, 0);
    manifest.calls[0].macs = 12345678901;
    EXPECT_EQ(parseManifest(writeManifest(manifest))->calls.at(0).macs, 12345678901);
}

TEST(Manifest, ErrorsNameTheKey)
{
    const std::string text = writeManifest(sample());
    const std::pair<std::string, const char*> cases[] = {
        {"{", "this is no JSON"},
        {"[]", "is missing or of the wrong type"},
        {replaced(text, "\"manifest_version\": 1", "\"manifest_version\": 2"),
         "version 2 is unknown"},
        {replaced(text, "\"target\": \"llvm -keys=cpu\"", "\"target\": 5"), "`target`"},
        {replaced(text, "\"kernel\": 0", "\"kernel\": 1"), "call `fused_conv` names no kernel"},
        {replaced(text, "\"workspace_bytes\": 1024", "\"workspace_bytes\": \"x\""),
         "`memory.workspace_bytes`"},
        {replaced(text, "\"Conv_0\"", "7"), "`calls[0].from_nodes`"},
        {replaced(text, "\"tir_hash\": \"00\",", ""), "`kernels[0].tir_hash`"},
    };
    for (const auto& [broken, saying] : cases) {
        const Result<Manifest> read = parseManifest(broken);
        ASSERT_FALSE(read) << saying;
        EXPECT_EQ(read.error().code, DiagnosticCode::BadArtifact);
        EXPECT_NE(read.error().message.find(saying), std::string::npos) << read.error().message;
    }
}

TEST(Manifest, SaysWhichFileHasNone)
{
    const test::TemporaryFolder folder;
    ASSERT_TRUE(writeFileAtomically(folder.file("x.so"), "plain text"));
    const Result<Manifest> read = readManifest(folder.file("x.so"));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().location.file, folder.file("x.so"));
    EXPECT_EQ(read.error().message, "this is no ELF file");
    EXPECT_FALSE(readManifest(folder.file("none.so")));
}

/// A 64-bit ELF file with the sections "", ".names" and ".wanted" ("hello").
std::string smallElf()
{
    std::string file("\x7f"
                     "ELF\x02\x01\x01",
                     7);
    const auto put = [&](size_t at, uint64_t value, size_t bytes) {
        if (file.size() < at + bytes) file.resize(at + bytes);
        for (size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
    };
    put(40, 128, 8); // section table
    put(58, 64, 2);
    put(60, 3, 2);
    put(62, 1, 2);
    file.resize(64);
    file += std::string("\0.names\0.wanted\0hello", 21);
    file.resize(128 + 3 * 64);
    put(128 + 64, 1, 4); // ".names" at 64, 16 bytes
    put(128 + 64 + 24, 64, 8);
    put(128 + 64 + 32, 16, 8);
    put(128 + 128, 8, 4); // ".wanted" at 80, 5 bytes
    put(128 + 128 + 24, 80, 8);
    put(128 + 128 + 32, 5, 8);
    return file;
}

TEST(ElfSection, FindsTheSection)
{
    const std::string file = smallElf();
    const auto found = findElfSection(std::as_bytes(std::span(file)), ".wanted");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(found->data()), found->size()), "hello");
    EXPECT_FALSE(findElfSection(std::as_bytes(std::span(file)), ".want"));
    EXPECT_FALSE(findElfSection(std::as_bytes(std::span(file)), ".wanted2"));
}

TEST(ElfSection, NeverReadsOutsideTheFile)
{
    const std::string file = smallElf();
    for (size_t size = 0; size < file.size(); ++size) {
        const std::vector<char> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(findElfSection(std::as_bytes(std::span(cut)), ".other"));
    }
    for (size_t at = 0; at < file.size(); ++at) {
        for (const char value : {'\xff', '\x7f', '\x80'}) {
            std::string broken = file;
            broken[at] = value;
            const auto bytes = std::as_bytes(std::span(broken));
            const auto found = findElfSection(bytes, ".wanted");
            if (!found) continue;
            EXPECT_GE(found->data(), bytes.data());
            EXPECT_LE(found->data() + found->size(), bytes.data() + bytes.size());
        }
    }
}

} // namespace
} // namespace tenon::core
