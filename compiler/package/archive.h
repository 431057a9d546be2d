// SPDX-License-Identifier: Apache-2.0
// Reproducible tar archives: the same members give the same bytes, whoever writes them, whenever.
#pragma once

#include "core/base/result.h"

#include <string>
#include <vector>

namespace tenon::compiler {

struct TarMember
{
    std::string name; ///< path in the archive
    std::string path; ///< file whose content it gets; empty: a folder
};

/// Writes an uncompressed ustar archive, members in the given order, owner root, time 0.
core::Status writeTar(const std::string& outputPath, const std::vector<TarMember>& members);

} // namespace tenon::compiler
