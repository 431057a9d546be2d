// SPDX-License-Identifier: Apache-2.0
// The ustar header: fields at fixed places, numbers in octal, a sum over all bytes.
#include "tests/compiler/frontend/mlf/tar_bytes.h"

#include <cstdio>

namespace tenon::test {
namespace {

constexpr size_t kBlock = 512;

void put(std::string& block, size_t at, const std::string& text)
{
    block.replace(at, text.size(), text);
}

std::string octal(int64_t value, int digits)
{
    char text[32];
    std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
    return text;
}

} // namespace

std::string tarPart(const TarPart& part)
{
    std::string block(kBlock, '\0');
    const auto size = part.size >= 0 ? part.size : static_cast<int64_t>(part.content.size());
    put(block, 0, part.name.substr(0, 100));
    put(block, 100, octal(0644, 7));
    put(block, 108, octal(0, 7));
    put(block, 116, octal(0, 7));
    put(block, 124, octal(size, 11));
    put(block, 136, octal(0, 11));
    put(block, 148, "        ");
    block[156] = part.kind;
    put(block, 157, part.link.substr(0, 100));
    put(block, 257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : block) sum += static_cast<unsigned char>(c);
    put(block, 148, octal(part.isDamaged ? sum + 1 : sum, 6) + std::string("\0 ", 2));
    std::string content = part.content;
    content.resize((content.size() + kBlock - 1) / kBlock * kBlock);
    return block + content;
}

std::string tarEnd() { return std::string(2 * kBlock, '\0'); }

} // namespace tenon::test
