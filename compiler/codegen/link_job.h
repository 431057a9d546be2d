// SPDX-License-Identifier: Apache-2.0
// Objects on their way into one file, and the call of the linker that a back end makes of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

/// What is to be joined.
struct LinkPlan
{
    std::string triple;
    std::vector<std::string> objects; ///< paths, in the order of the output
    std::vector<std::string> exports; ///< the library's dynamic symbols; everything else is local
    std::vector<std::pair<std::string, std::string>> aliases; ///< readable local name -> symbol
    std::string folder; ///< existing folder for the linker's own files
};

/// Plain text, so that it can be done in another process.
struct LinkJob
{
    std::vector<std::string> arguments; ///< the linker's name first; without the output
    std::string folder;
};

} // namespace tenon::compiler
