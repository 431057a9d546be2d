// SPDX-License-Identifier: Apache-2.0
// Where a user's caches and settings lie, by the XDG base directory specification.
#pragma once

#include <string>

namespace tenon::core {

/// HOME where it is a path from the root, else what the system has for this user; may be empty.
std::string homeFolder();

/// What `variable` (XDG_CACHE_HOME) says where it is a path from the root, as the specification
/// wants it, else `below` (".cache") in the home folder; empty without one.
std::string userFolder(const char* variable, const char* below);

} // namespace tenon::core
