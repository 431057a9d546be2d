// SPDX-License-Identifier: Apache-2.0
// The script that a board runs. On slow boards each process counts: what the shell can do itself,
// it does. `head -c` stops after its bytes, but some read ahead of them: nothing else is sent
// before "received". What comes after that proves that the link did not end in the middle of the
// file.
#include "remote/deploy/probe_script.h"

#include "core/base/text.h"

#include <sys/random.h>

namespace tenon::remote {

namespace {

constexpr std::string_view kScript = R"(umask 077
trap '' HUP PIPE
say() { echo "== $1"; }
line() { if [ -r "$2" ] && IFS= read -r l < "$2"; then say "$1"; echo "$l"; fi; }
show() { say "$1"; while IFS= read -r l; do echo "$l"; done < "$2"; }
set -- $(uname -srm)
say machine; echo "$3"
say kernel; echo "$1 $2"
line model /proc/device-tree/model 2>/dev/null
show cpuinfo /proc/cpuinfo
show meminfo /proc/meminfo
say libc; getconf GNU_LIBC_VERSION 2>/dev/null
line governor /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
line frequency /sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq
line temperature /sys/class/thermal/thermal_zone0/temp
line load /proc/loadavg
say allowed; while read -r k v; do [ "$k" != Cpus_allowed_list: ] || echo "$v"; done < /proc/self/status
say quota
share() { if [ -r "$1" ] && read -r a < "$1"; then [ -z "$2" ] || read -r b < "$2"; echo "$a $b"; fi; }
while IFS=: read -r n c p; do
    case ,$c, in ,,) d=/sys/fs/cgroup ;; *,cpu,*) d=/sys/fs/cgroup/cpu ;; *) continue ;; esac
    while b=; do
        if [ "$c" ]; then share "$d$p/cpu.cfs_quota_us" "$d$p/cpu.cfs_period_us"; else share "$d$p/cpu.max"; fi
        [ "$p" ] || break; p=${p%/*}
    done
done < /proc/self/cgroup
if [ -e /lib/ld-linux.so.3 ] && [ ! -e /lib/ld-linux-armhf.so.3 ]; then say hardfloat; echo no; fi
root=$HOME/.tenon
if ! mkdir -p "$root/@NAME@" 2>/dev/null || [ ! -w "$root/@NAME@" ]; then
    rmdir "$root/@NAME@" "$root" 2>/dev/null
    root=$(mktemp -d /tmp/tenon-board-XXXXXX) && mkdir "$root/@NAME@" || exit 1
fi
folder=$root/@NAME@
leave() { cd /; @CLEAN@ exit "$1"; }
cd "$folder" || exit 1
say disk; df -Pk .
say root; echo "$root"
say folder; echo "$folder"
say files
for f in *; do case $f in server-*.*|*.part) ;; *) [ -f "$f" ] && echo "$f" ;; esac; done
say end
read -r name size || leave 1
[ "$size" = 0 ] || head -c "$size" > "$name.$$" || leave 1
say received
IFS= read -r go || leave 1
[ "$size" = 0 ] || { chmod 700 "$name.$$" && mv "$name.$$" "$name"; } || leave 1
TMPDIR=$folder "./$name" --self "${name#server-}" --port 0 --attended --silence 30 \
    --trust-path "$folder" @TIDY@
leave $?
)";

/// What the shell does at the end: everything of a run goes, also when the server could not see to
/// that itself; a store loses a server that did not start.
constexpr std::string_view kCleanRun =
    R"([ ! -d "$folder" ] || { rm -rf "$folder"; rmdir "$root" 2>/dev/null; };)";
constexpr std::string_view kCleanStore =
    R"([ "$1" = 0 ] || { rm -f "$folder/$name" "$folder/$name.$$" 2>/dev/null; )"
    R"(rmdir "$folder" "$root" 2>/dev/null; };)";

/// A name nobody else uses at the same time. Behind the dot is the shell's number: as long as it
/// lives, its folder is not one that was left behind.
std::string runName()
{
    unsigned long long number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = 0;
    return "run-" + std::to_string(number) + ".$$";
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
    const auto fill = [&script](std::string_view key, std::string_view text) {
        for (size_t at = 0; (at = script.find(key, at)) != std::string::npos; at += text.size())
            script.replace(at, key.size(), text);
    };
    fill("@NAME@", keepsFiles ? "store" : runName());
    fill("@CLEAN@", keepsFiles ? kCleanStore : kCleanRun);
    fill("@TIDY@", keepsFiles ? "" : "--tidy");
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
