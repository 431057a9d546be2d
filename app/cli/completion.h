// SPDX-License-Identifier: Apache-2.0
// What can stand at the end of a command line, for the completion of shells.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tenon::cli {

struct Candidate
{
    std::string word;
    std::string meaning; ///< one line, or empty
};

/// What the last of `words` (those behind the program's name; it may be empty) may become; nothing
/// where it is a file or a text. The commands and options are those of `app`.
std::vector<Candidate> completions(const CLI::App& app, std::vector<std::string> words);

/// One line per candidate, its meaning behind a tab, as the scripts of `tenon completion` ask for
/// with `tenon __complete SHELL WORD...`.
std::string completionLines(const CLI::App& app, const std::vector<std::string>& arguments);

} // namespace tenon::cli
