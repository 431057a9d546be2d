// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all, without waiting for the disk: for what can be made again,
// such as entries of a cache, whose readers recognise what a power failure damaged.
#pragma once

#include "core/base/result.h"

#include <functional>
#include <string>
#include <string_view>

namespace tenon::core {

/// Calls write(temporaryPath) and renames the result into place; nothing is left behind on failure.
Status replaceFileUnsynced(const std::string& path,
                           const std::function<Status(const std::string&)>& write);

/// The same with known content, written in a folder below `scratchFolder`, on the same file system.
Status writeFileUnsynced(const std::string& path, std::string_view content,
                         const std::string& scratchFolder);

/// Creates or empties `path` and writes `content`, in place.
Status writeNewFile(const std::string& path, std::string_view content);

} // namespace tenon::core
