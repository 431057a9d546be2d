// SPDX-License-Identifier: Apache-2.0
// A folder of our own under the system's temporary one.
#pragma once

#include "core/base/result.h"

#include <string>

namespace tenon::core {

/// Removed with everything in it when its owner goes.
class TemporaryFolder
{
public:
    /// Its name starts with `prefix`. Without a usable TMPDIR it lies in /tmp.
    static Result<TemporaryFolder> make(const std::string& prefix);
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();

    const std::string& path() const { return m_path; }
    std::string file(const std::string& name) const { return m_path + "/" + name; }

private:
    explicit TemporaryFolder(std::string path);
    std::string m_path;
};

} // namespace tenon::core
