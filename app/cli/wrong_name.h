// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line that holds the name of no command or option.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace tenon::cli {

/// Names the first such word of `arguments` and what is nearest to it; empty: all are known.
std::string wrongNameText(const CLI::App& app, const std::vector<std::string>& arguments);

} // namespace tenon::cli
