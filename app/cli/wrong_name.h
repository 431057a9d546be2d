// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line, above all with one that holds the name of no command or
// option.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tenon::cli {

/// Names the first such word of `arguments` and what is nearest to it; empty: all are known.
std::string wrongNameText(const CLI::App& app, const std::vector<std::string>& arguments);
/// What else is wrong, and how to see what the command that was named takes.
std::string wrongUseText(const CLI::App& app, const std::vector<std::string>& arguments,
                         const std::string& what);

} // namespace tenon::cli
