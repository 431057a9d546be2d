/* SPDX-License-Identifier: Apache-2.0 */
/* Files out of reach (Landlock). The kernel's own headers may be older than the kernel: the few
 * definitions are here. */
#define _GNU_SOURCE
#include "sandbox.h"

#if defined(__linux__)
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/error.h"

enum
{
    kCreateRuleset = 444, /* the numbers of all processors */
    kAddRule = 445,
    kRestrictSelf = 446,
    kAskVersion = 1,
    kPathBeneath = 1
};

/* Rights to files, by bit. */
enum
{
    kWriteFile = 1 << 1,
    kReadFile = 1 << 2,
    kReadFolder = 1 << 3,
    kRemoveFile = 1 << 5,
    kMakeFile = 1 << 8,
    kTruncate = 1 << 14
};

typedef struct
{
    uint64_t files;  /* rights that nobody has without a rule */
    uint64_t ports;  /* since 4: TCP */
    uint64_t scopes; /* since 6: abstract sockets, signals */
} ruleset;

typedef struct
{
    uint64_t rights;
    int32_t folder;
} __attribute__((packed)) rule;

/* What the thread pool, the probe and C libraries look at. */
static const char* const kReadable[] = {
    "/proc/cpuinfo",      "/proc/device-tree/model",
    "/proc/loadavg",      "/proc/meminfo",
    "/proc/self",         "/proc/stat",
    "/sys/class/thermal", "/sys/devices/system",
    "/sys/kernel/mm",     "/sys/devices/virtual/thermal",
    "/dev/urandom",
};

static uint64_t all_rights(int version)
{
    /* 13 rights at first; then one more in the versions 2 (move), 3 (truncate) and 5 (ioctl). */
    return (UINT64_C(1) << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1;
}

int tenon_landlock_version(void)
{
    const long version = syscall(kCreateRuleset, NULL, 0, kAskVersion);
    return version > 0 ? (int)version : 0;
}

/* What is not there needs no rule. */
static int allow(int set, const char* path, uint64_t rights)
{
    struct stat about;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) return 0;
    if (fstat(fd, &about) == 0 && !S_ISDIR(about.st_mode))
        rights &= kWriteFile | kReadFile | kTruncate;
    const rule added = {.rights = rights, .folder = fd};
    long status = syscall(kAddRule, set, kPathBeneath, &added, 0);
    close(fd);
    return status == 0 ? 0 : tenon_fail("no rule for `%s`: %s", path, strerror(errno));
}

static int allow_openings(int set, uint64_t known, const tenon_sandbox_openings* openings)
{
    const uint64_t reading = kReadFile | kReadFolder;
    const uint64_t writing = (reading | kWriteFile | kRemoveFile | kMakeFile | kTruncate) & known;
    int status = allow(set, "/dev/null", (kReadFile | kWriteFile | kTruncate) & known);
    for (size_t i = 0; status == 0 && i < sizeof kReadable / sizeof kReadable[0]; ++i)
        status = allow(set, kReadable[i], reading);
    if (status == 0 && openings->folder[0]) status = allow(set, openings->folder, writing);
    if (status == 0 && openings->readable) status = allow(set, openings->readable, reading);
    return status;
}

int tenon_landlock_enter(int version, const tenon_sandbox_openings* openings)
{
    const ruleset wanted = {.files = all_rights(version), .ports = 3, .scopes = 3};
    const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8; /* as far as it is known there */
    int set = (int)syscall(kCreateRuleset, &wanted, size, 0);
    if (set < 0) return tenon_fail("Landlock does not hold: %s", strerror(errno));
    int status = allow_openings(set, wanted.files, openings);
    if (status == 0 && syscall(kRestrictSelf, set, 0) != 0)
        status = tenon_fail("Landlock does not hold: %s", strerror(errno));
    close(set);
    return status;
}

#else

int tenon_landlock_version(void) { return 0; }

int tenon_landlock_enter(int version, const tenon_sandbox_openings* openings)
{
    (void)version;
    (void)openings;
    return 0;
}

#endif
