// SPDX-License-Identifier: Apache-2.0
// Processes that a test's own have started.
#include "tests/support/processes.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace tenon::test {

namespace {

/// The parent of each process that has not ended.
std::map<pid_t, pid_t> processes()
{
    std::map<pid_t, pid_t> parents;
    std::error_code gone; // processes end while we look
    for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
        const pid_t pid = std::atoi(entry.path().filename().c_str());
        if (pid <= 0) continue;
        std::string text; // a buffer's iterator would throw where the process ends meanwhile
        std::getline(std::ifstream(entry.path() / "stat"), text, '\0');
        const size_t end = text.rfind(')');
        char state = 0;
        int parent = 0;
        const bool isKnown = end != std::string::npos &&
                             std::sscanf(text.c_str() + end + 1, " %c %d", &state, &parent) == 2;
        if (isKnown && state != 'Z') parents[pid] = parent;
    }
    return parents;
}

std::vector<pid_t> below(pid_t top)
{
    const std::map<pid_t, pid_t> parents = processes();
    std::vector<pid_t> out;
    for (const auto& [pid, parent] : parents) {
        pid_t at = parent;
        while (at > 1 && at != top && parents.contains(at)) at = parents.at(at);
        if (at == top) out.push_back(pid);
    }
    return out;
}

} // namespace

std::vector<pid_t> descendantsOf(pid_t top)
{
    // A process that gets another parent while we look would seem to be nobody's.
    std::vector<pid_t> out = below(top);
    for (std::vector<pid_t> again; (again = below(top)) != out;) out = std::move(again);
    return out;
}

} // namespace tenon::test
