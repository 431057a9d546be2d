// SPDX-License-Identifier: Apache-2.0
// Tar archives byte by byte, also those that no tool would write.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::test {

/// One member as it stands in the archive.
struct TarPart
{
    std::string name;
    std::string content;
    char kind = '0';        ///< '0' file, '1' hard link, '2' symbolic link, '3' device, '5' folder
    std::string link = {};  ///< where a link leads
    int64_t size = -1;      ///< what the header says; -1: what is there
    bool isDamaged = false; ///< the header's sum is wrong
};

std::string tarPart(const TarPart& part);
/// What stands at the end of every archive.
std::string tarEnd();

} // namespace tenon::test
