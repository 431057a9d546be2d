// SPDX-License-Identifier: Apache-2.0
// Running commands and tenon through the shell.
#pragma once

#include <string>

namespace tenon::cli {

struct Outcome
{
    int code = -1; ///< exit status, or 128 + signal
    std::string output;
};

/// Runs a command of the shell; what it prints on stdout is kept.
Outcome shell(const std::string& command);
/// Runs tenon through the shell; `arguments` may redirect.
Outcome tenon(const std::string& arguments);

} // namespace tenon::cli
