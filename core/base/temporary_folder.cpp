// SPDX-License-Identifier: Apache-2.0
#include "core/base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tenon::core {

Result<TemporaryFolder> TemporaryFolder::make(const std::string& prefix)
{
    std::error_code failure;
    std::string path = std::filesystem::temp_directory_path(failure).string();
    if (failure) path = "/tmp";
    path += "/" + prefix + "XXXXXX";
    if (!::mkdtemp(path.data()))
        return makeError(DiagnosticCode::IoFailure,
                         std::string("cannot create a temporary folder: ") + std::strerror(errno),
                         {.file = path});
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path)
    : m_path(std::move(path))
{
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : m_path(std::exchange(other.m_path, {}))
{
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    if (!m_path.empty()) std::filesystem::remove_all(m_path, ignored);
}

} // namespace tenon::core
