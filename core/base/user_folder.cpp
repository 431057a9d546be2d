// SPDX-License-Identifier: Apache-2.0
// The environment first, then the defaults below the home folder.
#include "core/base/user_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tenon::core {

std::string homeFolder()
{
    if (const char* home = std::getenv("HOME"); home && home[0] == '/') return home;
    std::array<char, 4096> text;
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) != 0 || !found)
        return {};
    return entry.pw_dir && entry.pw_dir[0] == '/' ? entry.pw_dir : "";
}

std::string userFolder(const char* variable, const char* below)
{
    if (const char* folder = std::getenv(variable); folder && folder[0] == '/') return folder;
    const std::string home = homeFolder();
    return home.empty() ? home : home + "/" + below;
}

} // namespace tenon::core
