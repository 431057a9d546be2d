// SPDX-License-Identifier: Apache-2.0
// Words of shell commands.
#include "remote/ssh/shell_word.h"

namespace tenon::remote {

std::string shellQuoted(const std::string& text)
{
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

} // namespace tenon::remote
