// SPDX-License-Identifier: Apache-2.0
// Tables of symbols and sections, as binutils print them.
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>

namespace tenon::remote {

/// `nm -S`: bytes of each symbol that has a size.
core::Result<std::map<std::string, int64_t>> symbolBytes(const std::string& nm,
                                                         const std::string& image);
/// `size -A`: bytes of each section.
core::Result<std::map<std::string, int64_t>> sectionBytes(const std::string& size,
                                                          const std::string& image);

} // namespace tenon::remote
