// SPDX-License-Identifier: Apache-2.0
// Where the content of a path is written.
#pragma once

#include "core/base/result.h"

#include <string>

namespace tenon::core {

/// The file that `path` leads to: links are followed, as by every program that writes. An error for
/// what is there and is no file, and for links of other users.
Result<std::string> writtenPath(const std::string& path);

/// "." for a name alone.
std::string folderOf(const std::string& path);

/// An error where the folder that `path` is to be written in does not exist.
Status needFolderOf(const std::string& path);

/// Removes what earlier versions called PATH.part and the number of a thread, where that is gone.
void sweepOrphans(const std::string& path);

} // namespace tenon::core
