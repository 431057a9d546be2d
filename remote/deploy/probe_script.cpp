// SPDX-License-Identifier: Apache-2.0
// The script that a new board runs. On slow boards each process counts: what the shell can do
// itself, it does.
#include "remote/deploy/probe_script.h"

#include "core/base/text.h"

#include <sys/random.h>

namespace tenon::remote {

namespace {

constexpr std::string_view kScript = R"(umask 077
say() { echo "== $1"; }
line() { if [ -r "$2" ] && IFS= read -r l < "$2"; then say "$1"; echo "$l"; fi; }
set -- $(uname -srm)
say machine; echo "$3"
say kernel; echo "$1 $2"
line model /proc/device-tree/model 2>/dev/null
say cpuinfo; cat /proc/cpuinfo
say meminfo; cat /proc/meminfo
say libc; getconf GNU_LIBC_VERSION 2>/dev/null
line governor /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
line frequency /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq
line temperature /sys/class/thermal/thermal_zone0/temp
line load /proc/loadavg
if [ -e /lib/ld-linux.so.3 ] && [ ! -e /lib/ld-linux-armhf.so.3 ]; then say hardfloat; echo no; fi
root=$HOME/.tenon
mkdir -p "$root" 2>/dev/null && [ -w "$root" ] || root=$(mktemp -d /tmp/tenon-XXXXXX) || exit 1
folder=$root/@NAME@
mkdir -p "$folder" || exit 1
say disk; df -Pk "$folder"
say root; echo "$root"
say folder; echo "$folder"
say files; for f in "$folder"/*; do [ -f "$f" ] && echo "${f##*/}"; done
say end
)";

/// A name nobody else uses at the same time.
std::string runName()
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
    return "run-" + std::to_string(number);
}

/// The lines of section `name`.
std::vector<std::string> sectionLines(std::string_view output, std::string_view name)
{
    std::vector<std::string> out;
    bool isInside = false;
    for (const std::string& line : core::split(output, '\n')) {
        if (line.starts_with("== "))
            isInside = std::string_view(line).substr(3) == name;
        else if (isInside)
            out.push_back(line);
    }
    return out;
}

} // namespace

std::string probeScript(bool keepsFiles)
{
    std::string script(kScript);
    const std::string key = "@NAME@";
    script.replace(script.find(key), key.size(), keepsFiles ? "store" : runName());
    return script;
}

BoardFolder boardFolderOf(std::string_view output)
{
    const std::vector<std::string> root = sectionLines(output, "root");
    const std::vector<std::string> path = sectionLines(output, "folder");
    if (root.empty() || path.empty() || !path[0].starts_with(root[0] + "/") || root[0][0] != '/')
        return {};
    return {root[0], path[0], sectionLines(output, "files")};
}

} // namespace tenon::remote
