// SPDX-License-Identifier: Apache-2.0
// Paths from where the running program lies.
#include "core/base/program_files.h"

#include <filesystem>

namespace tenon::core {
namespace {

/// Not that of a link in another folder, which has no files beside it.
std::filesystem::path programFolder() { return std::filesystem::path(thisProgram()).parent_path(); }

} // namespace

std::string thisProgram()
{
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

std::string siblingProgram(std::string_view name) { return (programFolder() / name).string(); }

std::string shippedProgram(std::string_view name)
{
    return (programFolder().parent_path() / "lib/tenon" / name).string();
}

std::string shippedFile(std::string_view name)
{
    return (programFolder().parent_path() / "share/tenon" / name).string();
}

} // namespace tenon::core
