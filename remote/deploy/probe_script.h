// SPDX-License-Identifier: Apache-2.0
// The one script that a board runs: it says what the board is, makes a folder for us, takes a
// server and runs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

/// Text for `sh -c`; nothing in it comes from a user or a board. After "== end" it wants the line
/// "server-SHA256 SIZE" and as many bytes (none when that file is there), says "== received", wants
/// an empty line, and the server's standard input. It leaves nothing behind unless files are kept.
std::string probeScript(bool keepsFiles);

/// Where the script's board lets us write.
struct BoardFolder
{
    std::string root;
    std::string path; ///< below root; empty: nowhere
    std::vector<std::string> files;
};
BoardFolder boardFolderOf(std::string_view output);

} // namespace tenon::remote
