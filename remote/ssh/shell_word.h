// SPDX-License-Identifier: Apache-2.0
// Words of shell commands.
#pragma once

#include <string>

namespace tenon::remote {

/// A word for a POSIX shell that means exactly `text`.
std::string shellQuoted(const std::string& text);

} // namespace tenon::remote
