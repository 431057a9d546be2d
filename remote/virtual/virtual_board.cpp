// SPDX-License-Identifier: Apache-2.0
// A board emulated on this computer.
#include "remote/virtual/virtual_board.h"

#include "core/base/board_code.h"
#include "core/base/file.h"
#include "core/base/program_files.h"
#include "core/base/text.h"
#include "core/base/user_folder.h"
#include "core/target/micro_core.h"
#include "remote/ssh/shell_word.h"
#include "remote/virtual/run_program.h"

#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

extern char** environ;

namespace tenon::remote {

using core::BoardCode;
using core::DiagnosticCode;
using core::JobContext;
using core::makeError;
using core::Result;
using core::Status;
namespace fs = std::filesystem;

namespace {

std::string cacheFolder(const std::string& architecture)
{
    const std::string cache = core::userFolder("XDG_CACHE_HOME", ".cache");
    return (cache.empty() ? "/tmp" : cache) + "/tenon/packages-" + architecture;
}

/// What starts a program inside the system. The environment says which processor QEMU emulates.
std::string environmentOf(const BoardProfile& profile)
{
    return "export QEMU_CPU=" + shellQuoted(profile.emulation.cpu) +
           " QEMU_UNAME=" + shellQuoted(profile.emulation.release) +
           " HOME=/home/pi USER=pi SHELL=/bin/bash PATH=/usr/sbin:/usr/bin:/sbin:/bin\n";
}

/// The host's figures, as far as the board has so much: it can take no more than this computer
/// leaves, and none beyond its own.
std::string meminfoScript(const BoardProfile& profile, const std::string& file)
{
    const int64_t most = profile.ramBytes > 0 ? profile.ramBytes / 1024 : INT64_MAX;
    return "while read -r name value unit; do case $name in "
           "MemTotal:|MemFree:|MemAvailable:|Buffers:|Cached:) [ \"$value\" -le " +
           std::to_string(most) + " ] || value=" + std::to_string(most) +
           " ;; esac; printf '%s %s %s\\n' \"$name\" \"$value\" \"$unit\"; done < /proc/meminfo "
           "> " +
           file + "\n";
}

/// Namespaces of our own, with binfmt_misc of our own: the host's is neither used nor changed.
std::string insideNamespaces(const std::string& folder, const BoardProfile& profile)
{
    const std::string system = shellQuoted(folder + "/system");
    const std::string memory = "\"$memory\""; // a file for each who enters
    return "set -e\n"
           "mount -t binfmt_misc none " +
           shellQuoted(folder + "/binfmt") +
           "\n"
           "while IFS= read -r line; do case $line in :*) printf '%s\\n' \"$line\" > " +
           shellQuoted(folder + "/binfmt/register") + " ;; esac; done < /usr/lib/binfmt.d/" +
           profile.emulation.program.substr(0, profile.emulation.program.rfind("-static")) +
           ".conf\n"
           "mount -t proc proc " +
           system +
           "/proc\n"
           "mount --bind " +
           shellQuoted(folder + "/cpuinfo") + " " + system + "/proc/cpuinfo\n" +
           "memory=$(mktemp " + shellQuoted(folder + "/meminfo.XXXXXX") + ")\n" +
           meminfoScript(profile, memory) + "mount --bind " + memory + " " + system +
           "/proc/meminfo\nrm " + memory +
           "\n"
           "mount --rbind /dev " +
           system +
           "/dev\n"
           "hostname " +
           profile.name + "\n" + environmentOf(profile) + "exec chroot " + system +
           " /bin/sh -c 'cd; eval \"$1\"' sh \"$1\"\n";
}

std::string enterScript(const std::string& folder, const BoardProfile& profile, bool hasNamespaces)
{
    const std::string head = "#!/bin/sh\n# Runs what sshd was asked to run inside the system.\n"
                             "command=${SSH_ORIGINAL_COMMAND:-exec /bin/bash -l}\n";
    if (hasNamespaces)
        return head + "exec unshare -r -m -p -f -u --kill-child sh " +
               shellQuoted(folder + "/inside") + " \"$command\"\n";
    return head + environmentOf(profile) +
           meminfoScript(profile, shellQuoted(folder + "/meminfo")) + "exec proot -0 -q " +
           profile.emulation.program + " -r " + shellQuoted(folder + "/system") +
           " -b /proc -b /dev -b " + shellQuoted(folder + "/cpuinfo:/proc/cpuinfo") + " -b " +
           shellQuoted(folder + "/meminfo:/proc/meminfo") +
           " -w /home/pi /bin/sh -c \"$command\"\n";
}

std::string sshdConfig(const std::string& folder)
{
    return "HostKey " + folder + "/host_key\nAuthorizedKeysFile " + folder +
           "/authorized_keys\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n"
           "KbdInteractiveAuthentication no\nPermitRootLogin yes\nPrintMotd no\n"
           // Below the first level, bash does not take the start of sshd for a login: the user's
           // own .bashrc has no business with the board, and some take a while.
           "X11Forwarding no\nAllowTcpForwarding local\nSetEnv SHLVL=1\nForceCommand exec " +
           folder + "/enter\n";
}

std::string cpuinfoOf(const BoardProfile& profile)
{
    std::string out;
    for (unsigned i = 0; i < profile.cores; ++i)
        out += "processor\t: " + std::to_string(i) + "\n" + profile.emulation.cpuinfo + "\n";
    return out + profile.emulation.cpuinfoTail;
}

/// The programs an emulated board needs, with the packages they come in.
Status checkPrograms(const BoardProfile& profile)
{
    if (profile.emulation.program.empty())
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "there is no emulation of " + core::quoted(profile.name) +
                             "; `tenon board list --profiles` marks the boards that have one");
    const std::vector<std::pair<std::string, std::string>> needed{
        {"apt-get", "apt"},
        {"dpkg-deb", "dpkg"},
        {"sshd", "openssh-server"},
        {"ssh-keygen", "openssh-client"},
        {profile.emulation.program, "qemu-user-static"}};
    std::vector<std::string> missing;
    for (const auto& [program, package] : needed)
        if (findProgram(program).empty()) missing.push_back(package);
    if (missing.empty()) return core::kDone;
    return makeError(DiagnosticCode::UnsupportedFeature,
                     "an emulated board needs more packages; run: sudo apt-get install " +
                         core::join(missing, " "));
}

/// Nothing is made for it: each run starts the emulator with a program.
Result<Board> microBoard(const std::string& name, const BoardProfile& profile)
{
    std::vector<std::string> missing;
    const core::MicroCore* core = core::microCoreOnBoard(profile.emulation.machine);
    if (!core)
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "Tenon links no programs for " + core::quoted(profile.emulation.machine));
    for (const auto& [program, package] :
         {std::pair(std::string(core->family->emulator),
                    std::string(core->family->emulatorPackage)),
          std::pair(core::microTool(*core, "gcc"),
                    core::replaced(std::string(core->family->toolPackages), " and ", " "))})
        if (findProgram(program).empty()) missing.push_back(package);
    if (!missing.empty())
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "an emulated board needs more packages; run: sudo apt-get install " +
                             core::join(missing, " "));
    return Board{.name = name,
                 .kind = BoardKind::Micro,
                 .target = profile.target,
                 .profile = profile.name,
                 .host = profile.emulation.machine,
                 .threads = 1};
}

/// True with namespaces, false with proot; an error when neither works here.
Result<bool> chooseIsolation(const std::string& folder, const JobContext& job)
{
    const std::string binfmt = shellQuoted(folder + "/binfmt");
    const std::string trial = "mount -t binfmt_misc none " + binfmt + " && mkdir -p " + binfmt +
                              ".proc && mount -t proc proc " + binfmt + ".proc";
    if (!findProgram("unshare").empty() &&
        runProgram({"unshare", "-r", "-m", "-p", "-f", "-u", "sh", "-c", trial}, job))
        return true;
    if (Status go = job.checkStop(); !go) return go.error();
    if (!findProgram("proot").empty()) return false;
    return makeError(DiagnosticCode::UnsupportedFeature,
                     "this system does not let users make namespaces with a binfmt_misc of their "
                     "own; run: sudo apt-get install proot");
}

Status writeFiles(const std::string& folder, const BoardProfile& profile, bool hasNamespaces)
{
    const std::pair<std::string, std::string> files[] = {
        {"cpuinfo", cpuinfoOf(profile)},
        {"sshd_config", sshdConfig(folder)},
        {"enter", enterScript(folder, profile, hasNamespaces)},
        {"inside", insideNamespaces(folder, profile)}};
    for (const auto& [name, content] : files)
        if (Status written = core::writeFileAtomically(folder + "/" + name, content); !written)
            return written;
    chmod((folder + "/enter").c_str(), 0755);
    return core::kDone;
}

Status makeKeys(const std::string& folder, const JobContext& job)
{
    for (const char* name : {"id", "host_key"}) {
        const Status made = runProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C",
                                        "tenon", "-f", folder + "/" + name},
                                       job);
        if (!made) return made;
    }
    const auto user = core::readFile(folder + "/id.pub");
    const auto host = core::readFile(folder + "/host_key.pub");
    if (!user) return user.error();
    if (!host) return host.error();
    if (Status written = core::writeFileAtomically(folder + "/authorized_keys", *user); !written)
        return written;
    // Made here a moment ago: nobody needs to be asked about this key.
    return core::writeFileAtomically(folder + "/known_hosts",
                                     fs::path(folder).filename().string() + " " + *host);
}

/// Starts `sshd -i` on one end of a socket and gives the other.
Result<int> dialSshd(const std::string& folder)
{
    if (geteuid() == 0) mkdir("/run/sshd", 0755); // sshd insists on it; packages make it at boot
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return makeError(DiagnosticCode::IoFailure, "cannot create a socket");
    const std::string program = findProgram("sshd");
    const std::string config = folder + "/sshd_config";
    const std::string log = folder + "/sshd.log";
    // The shell forks and ends, so that no child of ours is left to be waited for.
    const std::string line = "exec 2>/dev/null; " + shellQuoted(program) + " -i -f " +
                             shellQuoted(config) + " -E " + shellQuoted(log) + " <&3 >&3 3>&- &";
    const char* argv[] = {"sh", "-c", line.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1],
                                     3); // a shell gives jobs no stdin of its own
    pid_t pid = -1;
    const int failed =
        posix_spawn(&pid, "/bin/sh", &actions, nullptr, const_cast<char**>(argv), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    while (failed == 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
    if (failed == 0 && !program.empty()) return ends[0];
    close(ends[0]);
    return makeError(BoardCode::BoardUnreachable,
                     "the emulated board cannot start; run: sudo apt-get install openssh-server");
}

} // namespace

Result<Board> makeVirtualBoard(const std::string& name, const BoardProfile& profile,
                               const std::string& where, const JobContext& job)
{
    if (!profile.emulation.machine.empty()) return microBoard(name, profile);
    if (Status present = checkPrograms(profile); !present) return present.error();
    std::error_code failed;
    const std::string folder = fs::absolute(where, failed).string(); // sshd works in another one
    if (fs::exists(folder, failed))
        return makeError(DiagnosticCode::BadArgument,
                         "there is something in the board's folder already; remove it first",
                         {.file = folder});
    fs::create_directories(folder + "/binfmt", failed);
    if (failed)
        return makeError(DiagnosticCode::IoFailure, "cannot create the board's folder",
                         {.file = folder});
    chmod(folder.c_str(), 0700);
    const auto undo = [&](core::Diagnostic error) {
        fs::remove_all(folder, failed);
        return error;
    };
    const Result<bool> hasNamespaces = chooseIsolation(folder, job);
    if (!hasNamespaces) return undo(hasNamespaces.error());
    job.progress(0.1, "fetching and unpacking packages of Debian");
    const std::string& architecture = profile.emulation.architecture;
    const Status made = runProgram({"/bin/sh", core::shippedFile("boards/make_system.sh"),
                                    architecture, folder + "/system", cacheFolder(architecture)},
                                   job);
    if (!made) return undo(made.error());
    job.progress(0.9, "making keys");
    if (Status keys = makeKeys(folder, job); !keys) return undo(keys.error());
    if (Status files = writeFiles(folder, profile, *hasNamespaces); !files)
        return undo(files.error());
    return Board{.name = name,
                 .kind = BoardKind::Virtual,
                 .target = profile.target,
                 .profile = profile.name,
                 .host = name,
                 .folder = folder};
}

Status removeVirtualBoard(const Board& board)
{
    if (board.kind != BoardKind::Virtual || board.folder.empty()) return core::kDone;
    std::error_code failed;
    fs::remove_all(board.folder, failed);
    if (failed)
        return makeError(DiagnosticCode::IoFailure,
                         "cannot remove the board's folder: " + failed.message(),
                         {.file = board.folder});
    return core::kDone;
}

Status prepareVirtualBoard(const Board& board, SshAddress& address, SshOptions& options)
{
    if (access((board.folder + "/sshd_config").c_str(), R_OK) != 0)
        return makeError(BoardCode::BoardUnreachable,
                         "the system of the emulated board " + core::quoted(board.name) +
                             " is gone; remove the board and add it again",
                         {.file = board.folder});
    address.host = fs::path(board.folder).filename().string();
    address.port = 22;
    address.identityFile = board.folder + "/id";
    options.usesAgent = false;
    options.configFile = "none";
    options.userKnownHostsFile = board.folder + "/known_hosts";
    options.knownHostsFile.clear();
    options.prompt = nullptr;
    options.dial = [folder = board.folder] { return dialSshd(folder); };
    return core::kDone;
}

std::string virtualSshCommand(const Board& board)
{
    return "ssh -o ProxyCommand='" + findProgram("sshd") + " -i -f " + board.folder +
           "/sshd_config' -o UserKnownHostsFile=" + board.folder + "/known_hosts -i " +
           board.folder + "/id " + fs::path(board.folder).filename().string();
}

} // namespace tenon::remote
