// SPDX-License-Identifier: Apache-2.0
// The members of a tar archive that nobody vouches for, read without unpacking anything.
#pragma once

#include "core/base/result.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tenon::compiler {

/// Content by path, without a leading "./".
using ArchiveMembers = std::map<std::string, std::string>;

/// Every regular member by its path; `isWanted` says whose content is kept. Errors are BadModel and
/// name the member: a link or a device, a path that leaves the archive, one that is there twice, a
/// size that the archive does not hold, a damaged header.
core::Result<ArchiveMembers> readArchive(std::string_view bytes,
                                         const std::function<bool(const std::string&)>& isWanted);

/// True for what begins as tar archives do.
bool looksLikeTar(std::string_view bytes);

} // namespace tenon::compiler
