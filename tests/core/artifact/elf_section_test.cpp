// SPDX-License-Identifier: Apache-2.0
// What an ELF file takes on its target, and files that lie about it.
#include "core/artifact/elf_section.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::core {
namespace {

struct Section
{
    uint64_t type;
    uint64_t flags;
    uint64_t offset;
    uint64_t size;
};

void put(std::string& out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

/// A 64-bit little-endian ELF of a header, a section table and `padding` bytes after them.
std::string elf(const std::vector<Section>& sections, size_t padding = 64)
{
    std::string file("\x7f"
                     "ELF\x02\x01\x01",
                     7);
    file.resize(40, '\0');
    put(file, 64, 8); // section table
    file.resize(58, '\0');
    put(file, 64, 2); // entry size
    put(file, sections.size(), 2);
    put(file, 0, 2);
    for (const Section& section : sections) {
        put(file, 0, 4);
        put(file, section.type, 4);
        put(file, section.flags, 8);
        put(file, 0, 8);
        put(file, section.offset, 8);
        put(file, section.size, 8);
        file.resize(file.size() + 24, '\0');
    }
    return file + std::string(padding, 'x');
}

Result<LoadedBytes> loaded(const std::string& file)
{
    return loadedBytes(std::as_bytes(std::span(file.data(), file.size())));
}

TEST(LoadedBytes, CountsAllocatedSectionsOnly)
{
    // Code, a table without the flag (debug information), and 1000 zero bytes.
    const auto bytes =
        loaded(elf({{0, 0, 0, 0}, {1, 6, 64, 40}, {1, 0, 64, 30}, {8, 3, 64, 1000}}));
    ASSERT_TRUE(bytes) << bytes.error().text();
    EXPECT_EQ(bytes->stored, 40);
    EXPECT_EQ(bytes->zeroed, 1000);
}

TEST(LoadedBytes, RefusesWhatLiesOutsideTheFile)
{
    EXPECT_FALSE(loaded(""));
    EXPECT_FALSE(
        loaded("no ELF file at all, but long enough to have a header of sixty-four bytes"));
    EXPECT_FALSE(loaded(elf({{1, 2, 64, 1 << 20}})));
    EXPECT_FALSE(loaded(elf({{1, 2, ~uint64_t{0}, 16}})));
    EXPECT_FALSE(loaded(elf({{8, 2, 0, ~uint64_t{0}}})));
    std::string cut = elf({{1, 2, 64, 16}, {1, 2, 64, 16}}, 0);
    cut.resize(cut.size() - 40);
    EXPECT_FALSE(loaded(cut));
}

} // namespace
} // namespace tenon::core
