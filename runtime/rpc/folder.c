/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders that are held by a lock. */
#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/error.h"

enum
{
    kAttempts = 100
};

const char* tenon_folder_parent(void)
{
    const char* parent = getenv("TMPDIR");
    return parent && parent[0] == '/' ? parent : "/tmp";
}

/* The folder behind `name` is still the one of `fd`. */
static bool is_still_there(int fd, int parent, const char* name)
{
    struct stat held, named;
    return fstat(fd, &held) == 0 && fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/* Some file systems know no locks of folders: then everybody may hold them, and nobody sweeps. */
static int hold(int parent, const char* name, int how)
{
    struct stat about;
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return -1;
    int status = fstat(fd, &about) == 0 && about.st_uid == geteuid() ? 0 : -1;
    while (status == 0 && (status = flock(fd, how)) != 0 && errno == EINTR) status = 0;
    const bool is_unknown = status != 0 && errno != EWOULDBLOCK && (how & LOCK_NB) == 0;
    /* While we waited for the lock somebody may have swept it away. */
    if ((status == 0 || is_unknown) && is_still_there(fd, parent, name)) return fd;
    close(fd);
    return -1;
}

int tenon_folder_hold(int parent, const char* name, bool is_shared)
{
    return hold(parent, name, (is_shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
}

int tenon_folder_make(tenon_folder* folder)
{
    const char* parent = tenon_folder_parent();
    folder->lock = -1;
    for (int i = 0; i < kAttempts; ++i) {
        uint64_t number;
        if (getrandom(&number, sizeof number, 0) != sizeof number) continue;
        const int size = snprintf(folder->path, sizeof folder->path, "%s/tenon-rpc-%016llx", parent,
                                  (unsigned long long)number);
        if (size >= kTenonPathCapacity) break;
        if (mkdir(folder->path, 0700) != 0) {
            if (errno == EEXIST) continue;
            break;
        }
        /* Somebody who sweeps may be faster: then it is gone before anything was in it. */
        folder->lock = hold(AT_FDCWD, folder->path, LOCK_EX);
        if (folder->lock >= 0) return 0;
    }
    folder->path[0] = 0;
    return tenon_fail("cannot create a folder below `%s`: %s", parent, strerror(errno));
}

static bool is_file_name(const char* name)
{
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

void tenon_folder_remove_at(int parent, const char* name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR* folder = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !folder) close(fd);
    for (struct dirent* entry; folder && (entry = readdir(folder));)
        if (is_file_name(entry->d_name) && unlinkat(fd, entry->d_name, 0) != 0)
            tenon_folder_remove_at(fd, entry->d_name);
    if (folder) closedir(folder);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void tenon_folder_discard(tenon_folder* folder)
{
    if (folder->path[0]) tenon_folder_remove_at(AT_FDCWD, folder->path);
    if (folder->lock >= 0) close(folder->lock);
    folder->path[0] = 0;
    folder->lock = -1;
}

void tenon_folder_sweep_at(int parent, const char* name)
{
    const int fd = tenon_folder_hold(parent, name, false);
    if (fd < 0) return;
    tenon_folder_remove_at(parent, name);
    close(fd);
}
