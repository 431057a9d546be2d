/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that were killed left behind. */
#define _GNU_SOURCE
#include "sweep.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"

enum
{
    kDigits = 16,
    kDayS = 24 * 60 * 60
};

/* tenon-, perhaps a word and a dash, and 16 digits: nobody calls a folder of his own so. */
static bool is_temporary_name(const char* name)
{
    const size_t size = strlen(name);
    if (strncmp(name, "tenon-", 6) != 0 || size < 6 + kDigits || name[size - kDigits - 1] != '-')
        return false;
    return strspn(name + size - kDigits, "0123456789abcdef") == kDigits;
}

static void for_each(int folder, void (*call)(int folder, const char* name))
{
    DIR* entries = folder < 0 ? NULL : fdopendir(folder);
    for (struct dirent* entry; entries && (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            call(folder, entry->d_name);
    if (entries)
        closedir(entries);
    else if (folder >= 0)
        close(folder);
}

static int open_folder(int parent, const char* name)
{
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void sweep_temporary(int folder, const char* name)
{
    if (is_temporary_name(name)) tenon_folder_sweep_at(folder, name);
}

void tenon_sweep_folders(void)
{
    for_each(open_folder(AT_FDCWD, tenon_folder_parent()), sweep_temporary);
}

/* The number behind the last '.', which is that of the shell that made it; 0: none. */
static pid_t maker_of(const char* name)
{
    const char* dot = strrchr(name, '.');
    return dot && isdigit((unsigned char)dot[1]) ? (pid_t)strtol(dot + 1, NULL, 10) : 0;
}

/* Before its server holds it, a shell made the folder and works in it. Numbers come again: after a
 * day it is another one's. */
static bool is_in_the_making(int folder, const char* name)
{
    struct stat about;
    const pid_t maker = maker_of(name);
    const bool is_running = maker > 0 && (kill(maker, 0) == 0 || errno == EPERM);
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) return true;
    return (is_running || maker == 0) && about.st_mtime > time(NULL) - kDayS;
}

static void sweep_run(int folder, const char* name)
{
    if (strncmp(name, "run-", 4) == 0 && !is_in_the_making(folder, name))
        tenon_folder_sweep_at(folder, name);
}

/* Where a home cannot be written to, runs are in a folder of their own; only when there was one is
 * it ours to remove: an empty one may be a moment old. */
static void sweep_root(int folder, const char* name)
{
    struct stat about;
    if (strncmp(name, "tenon-board-", 12) != 0) return;
    const int root = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const bool is_ours = root >= 0 && fstat(root, &about) == 0 && about.st_uid == geteuid();
    if (is_ours) {
        const bool has_runs = about.st_nlink > 2;
        for_each(root, sweep_run);
        if (has_runs) unlinkat(folder, name, AT_REMOVEDIR);
    } else if (root >= 0) {
        close(root);
    }
}

/* A file half received, or a server half sent. */
static void sweep_part(int folder, const char* name)
{
    const size_t size = strlen(name);
    const bool is_part =
        strncmp(name, "incoming-", 9) == 0 && size > 5 && strcmp(name + size - 5, ".part") == 0;
    const bool is_server = strncmp(name, "server-", 7) == 0 && strchr(name, '.') != NULL;
    if (is_part || (is_server && !is_in_the_making(folder, name))) unlinkat(folder, name, 0);
}

void tenon_sweep_board(void)
{
    for_each(open_folder(AT_FDCWD, ".."), sweep_run);
    for_each(open_folder(AT_FDCWD, "/tmp"), sweep_root);
    const int alone = tenon_folder_hold(AT_FDCWD, ".", false);
    if (alone >= 0) for_each(open_folder(AT_FDCWD, "."), sweep_part);
    /* Kept until the end of the process: others who do the same share it. */
    if (alone < 0 || flock(alone, LOCK_SH) != 0) tenon_folder_hold(AT_FDCWD, ".", true);
}
