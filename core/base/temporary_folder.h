// SPDX-License-Identifier: Apache-2.0
// A folder of our own under the system's temporary one.
#pragma once

#include "core/base/result.h"

#include <string>

namespace tenon::core {

/// Removed with everything in it when its owner goes. A lock, which ends with the process, says
/// that somebody still uses it: what a killed program left is known by that.
class TemporaryFolder
{
public:
    /// Its name starts with `prefix`, "tenon-" or "tenon-word-". Without a usable TMPDIR it lies in
    /// /tmp.
    static Result<TemporaryFolder> make(const std::string& prefix);
    /// On the same file system as `path`, to be renamed to it; others in its folder that nobody
    /// holds any more are removed.
    static Result<TemporaryFolder> makeBeside(const std::string& path);
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();

    const std::string& path() const { return m_path; }
    std::string file(const std::string& name) const { return m_path + "/" + name; }

private:
    TemporaryFolder(std::string path, int lock);
    static Result<TemporaryFolder> makeAt(const std::string& start);
    std::string m_path;
    int m_lock; ///< -1: this file system knows no locks of folders
};

/// An error that names what was asked for, `path`, where it named something in a folder that
/// makeBeside() made, or could not make.
Diagnostic withoutBeside(Diagnostic error, const std::string& path);

/// Removes the folders of all of Tenon's programs and of this user that nobody holds any more.
void sweepTemporaryFolders();

/// The same for those that makeBeside() made in `folder`.
void sweepFoldersIn(const std::string& folder);

} // namespace tenon::core
