// SPDX-License-Identifier: Apache-2.0
// The one script that a new board runs: it says what the board is and makes a folder for us.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::remote {

/// Text for `sh -s`; nothing in it comes from a user or a board.
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
