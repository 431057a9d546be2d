// SPDX-License-Identifier: Apache-2.0
// Files: whole reads, read-only maps, and atomic writes (write aside, fsync, rename, fsync the
// folder).
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tenon::core {

/// A read-only memory map of a whole regular file; shared by everything that points into it.
class MappedFile
{
public:
    static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    std::span<const std::byte> bytes() const { return {m_data, m_size}; }
    std::string_view text() const;
    const std::string& path() const { return m_path; }

private:
    MappedFile(std::string path, const std::byte* data, size_t size);
    std::string m_path;
    const std::byte* m_data;
    size_t m_size;
};

Result<std::string> readFile(const std::string& path);

/// Writes `content` so that `path` holds either the old or the whole new content at every instant.
Status writeFileAtomically(const std::string& path, std::string_view content);

/// As above for content produced by `write(temporaryPath)`; nothing is left behind on failure.
Status replaceFileAtomically(const std::string& path,
                             const std::function<Status(const std::string&)>& write);

} // namespace tenon::core
