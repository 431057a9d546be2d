// SPDX-License-Identifier: Apache-2.0
// Reading aliases of the user's ssh configuration.
#include "remote/ssh/ssh_config.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <fnmatch.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace tenon::remote {

namespace {

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// "Keyword value" or "Keyword=value", the value perhaps in double quotes.
std::pair<std::string, std::string> keywordAndValue(std::string_view line)
{
    line = core::trimmed(line);
    if (line.empty() || line.front() == '#') return {};
    const size_t end = line.find_first_of(" \t=");
    if (end == std::string_view::npos) return {lower(std::string(line)), {}};
    std::string_view value = core::trimmed(line.substr(end));
    if (value.starts_with('=')) value = core::trimmed(value.substr(1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
    return {lower(std::string(line.substr(0, end))), std::string(value)};
}

/// Patterns separated by blanks; one that starts with `!` and matches excludes the host.
bool matches(const std::string& patterns, const std::string& host)
{
    bool isMatch = false;
    for (const std::string& pattern : core::split(patterns, ' ')) {
        if (pattern.empty()) continue;
        const bool isNegated = pattern[0] == '!';
        if (fnmatch(pattern.c_str() + (isNegated ? 1 : 0), host.c_str(), 0) != 0) continue;
        if (isNegated) return false;
        isMatch = true;
    }
    return isMatch;
}

std::string withHome(const std::string& path)
{
    return path.starts_with("~/") ? homeFolder() + path.substr(1) : path;
}

} // namespace

std::string homeFolder()
{
    if (const char* home = std::getenv("HOME"); home && home[0] == '/') return home;
    const passwd* entry = getpwuid(getuid());
    return entry ? entry->pw_dir : "/";
}

SshAddress applySshConfig(std::string_view config, SshAddress address)
{
    const std::string alias = address.host;
    bool isInForce = true;
    bool isRenamed = false;
    for (const std::string& line : core::split(config, '\n')) {
        const auto [keyword, value] = keywordAndValue(line);
        if (keyword == "host") isInForce = matches(value, alias);
        if (keyword == "match") isInForce = false;
        if (!isInForce || value.empty()) continue;
        if (keyword == "hostname" && !isRenamed) {
            address.host = value == "%h" ? alias : value;
            isRenamed = true;
        }
        if (keyword == "user" && address.user.empty()) address.user = value;
        if (keyword == "identityfile" && address.identityFile.empty())
            address.identityFile = withHome(value);
        int port = 0;
        std::from_chars(value.data(), value.data() + value.size(), port);
        if (keyword == "port" && address.port == 0 && port > 0 && port < 65536) address.port = port;
    }
    return address;
}

SshAddress completeAddress(const SshAddress& address, const std::string& configFile)
{
    SshAddress out = address;
    const std::string path = configFile.empty() ? homeFolder() + "/.ssh/config" : configFile;
    if (access(path.c_str(), R_OK) == 0)
        if (const auto text = core::readFile(path)) out = applySshConfig(*text, address);
    if (out.port == 0) out.port = 22;
    if (out.user.empty())
        if (const passwd* entry = getpwuid(getuid())) out.user = entry->pw_name;
    return out;
}

} // namespace tenon::remote
