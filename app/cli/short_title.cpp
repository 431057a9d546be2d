// SPDX-License-Identifier: Apache-2.0
// Titles of fused kernels name a dozen operators; whole ones stand in JSON.
#include "app/cli/short_title.h"

#include <cstddef>

namespace tenon::cli {
namespace {

constexpr size_t kMost = 52;
constexpr size_t kEnd = 22;
constexpr std::string_view kGap = "...";

/// Of a letter of several bytes, not its first.
bool isInside(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

} // namespace

std::string shortTitle(std::string_view title)
{
    if (title.size() <= kMost) return std::string(title);
    size_t start = kMost - kEnd - kGap.size(), end = title.size() - kEnd;
    while (start > 0 && isInside(title[start])) --start;
    while (end < title.size() && isInside(title[end])) ++end;
    return std::string(title.substr(0, start)) + std::string(kGap) + std::string(title.substr(end));
}

} // namespace tenon::cli
