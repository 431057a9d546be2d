// SPDX-License-Identifier: Apache-2.0
// Running commands and tenon through the shell.
#include "tests/app/cli/program.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace tenon::cli {

Outcome shell(const std::string& command)
{
    Outcome out;
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> block;
    for (size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        out.output.append(block.data(), n);
    const int status = ::pclose(pipe);
    out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return out;
}

Outcome tenon(const std::string& arguments)
{
    return shell(std::string("'") + TENON_PROGRAM + "' " + arguments);
}

} // namespace tenon::cli
