// SPDX-License-Identifier: Apache-2.0
// Custom sections of WebAssembly modules, and modules that lie about their lengths.
#include "core/artifact/wasm_section.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon::core {
namespace {

const std::string kHead("\0asm\1\0\0\0", 8);

std::span<const std::byte> bytesOf(const std::string& text)
{
    return std::as_bytes(std::span(text));
}

std::string section(char id, const std::string& content)
{
    return std::string{id, static_cast<char>(content.size())} + content;
}

TEST(WasmSection, IsFoundByItsName)
{
    const std::string module = kHead + section(1, "types") + section(0, "\5otherx") +
                               section(0, "\4wantcontent") + section(0, "\4wantlater");
    ASSERT_TRUE(isWasmModule(bytesOf(module)));
    const auto found = findWasmSection(bytesOf(module), "want");
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(found->data()), found->size()), "content");
}

TEST(WasmSection, IsRefusedWhenMissingOrCutOff)
{
    EXPECT_FALSE(isWasmModule(bytesOf("\x7f"
                                      "ELF")));
    const std::string whole = kHead + section(1, "types") + section(0, "\4wantcontent");
    const auto missing = findWasmSection(bytesOf(whole), "none");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, DiagnosticCode::BadArtifact);
    for (size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(findWasmSection(bytesOf(whole.substr(0, size)), "want")) << size;
    const std::string endless = kHead + std::string("\1\xff\xff\xff\xff\xff\xff", 7);
    EXPECT_FALSE(findWasmSection(bytesOf(endless), "want"));
    const std::string longName = kHead + section(0, "\x20want");
    EXPECT_FALSE(findWasmSection(bytesOf(longName), "want"));
}

} // namespace
} // namespace tenon::core
