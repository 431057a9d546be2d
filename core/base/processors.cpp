// SPDX-License-Identifier: Apache-2.0
// The affinity mask, and the quotas of both versions of control groups.
#include "core/base/processors.h"

#include "core/base/text.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

namespace tenon::core {
namespace {

/// More than any machine has: a list or a quota beyond it is damaged.
constexpr int64_t kMostCpus = 1 << 16;

std::optional<int64_t> integerOf(std::string_view text)
{
    int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// A file of the kernel, whose size nobody knows beforehand; empty when there is none. What it
/// tells of may end while it is read; a stream takes that as its end, where a buffer's iterator
/// throws.
std::string kernelText(const std::string& path)
{
    std::string text;
    std::getline(std::ifstream(path), text, '\0');
    return text;
}

std::string firstLine(const std::string& path)
{
    const std::string text = kernelText(path);
    return text.substr(0, text.find('\n'));
}

/// Version 1 has a folder of controllers "cpu" or "cpu,cpuacct"; version 2 names none.
bool hasCpuController(const std::string& controllers)
{
    const std::vector<std::string> names = split(controllers, ',');
    return std::find(names.begin(), names.end(), "cpu") != names.end();
}

std::string quotaLine(const std::string& folder, bool isFirstVersion)
{
    if (!isFirstVersion) return firstLine(folder + "/cpu.max");
    const std::string quota = firstLine(folder + "/cpu.cfs_quota_us");
    return quota.empty() ? quota : quota + " " + firstLine(folder + "/cpu.cfs_period_us");
}

unsigned cpusOfAffinity()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
    return static_cast<unsigned>(CPU_COUNT(&allowed));
}

} // namespace

unsigned cpusInList(std::string_view list)
{
    int64_t count = 0;
    for (const std::string& part : split(trimmed(list), ',')) {
        const size_t dash = part.find('-');
        const auto first = integerOf(std::string_view(part).substr(0, dash));
        const auto last =
            dash == std::string::npos ? first : integerOf(std::string_view(part).substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last >= kMostCpus) return 0;
        count += *last - *first + 1;
    }
    return static_cast<unsigned>(std::min(count, kMostCpus));
}

unsigned cpusOfQuotas(std::string_view lines)
{
    int64_t smallest = 0;
    for (const std::string& line : split(lines, '\n')) {
        const size_t blank = line.find(' ');
        if (blank == std::string::npos) continue;
        const auto quota = integerOf(std::string_view(line).substr(0, blank));
        const auto period = integerOf(trimmed(std::string_view(line).substr(blank + 1)));
        if (!quota || !period || *quota <= 0 || *period <= 0) continue;
        const int64_t cpus = std::min(kMostCpus, (*quota - 1) / *period + 1);
        if (smallest == 0 || cpus < smallest) smallest = cpus;
    }
    return static_cast<unsigned>(smallest);
}

std::string quotasOf(std::string_view groups, const std::string& root)
{
    std::string lines;
    for (const std::string& line : split(groups, '\n')) {
        const size_t first = line.find(':');
        const size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && !hasCpuController(controllers)) continue;
        const std::string mount = controllers.empty() ? root : root + "/cpu";
        std::string group = line.substr(second + 1);
        for (;;) {
            if (const std::string quota = quotaLine(mount + group, !controllers.empty());
                !quota.empty())
                lines += quota + "\n";
            if (group.empty()) break;
            group.resize(std::min(group.rfind('/'), group.size() - 1));
        }
    }
    return lines;
}

unsigned usableProcessors()
{
    unsigned count = cpusOfAffinity();
    if (count == 0) count = std::thread::hardware_concurrency();
    const unsigned share = cpusOfQuotas(quotasOf(kernelText("/proc/self/cgroup")));
    if (share > 0) count = std::min(count, share);
    return std::max(1u, count);
}

} // namespace tenon::core
