// SPDX-License-Identifier: Apache-2.0
// Waiting until the disk has what was written.
#pragma once

#include "core/base/result.h"

#include <string>

namespace tenon::core {

/// The content of a file. A failed sync is a failed save: IoFailure.
Status syncFile(const std::string& path);

/// The names in the folder of `path`: what was renamed there stays so.
Status syncFolderOf(const std::string& path);

} // namespace tenon::core
