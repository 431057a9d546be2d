/* SPDX-License-Identifier: Apache-2.0 */
/* The process of a session, and whatever its code may have started. */
#define _GNU_SOURCE
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

enum
{
    kRounds = 1000, /* of a millisecond and what a look around takes */
};

void tenon_child_adopt(void)
{
#if defined(PR_SET_CHILD_SUBREAPER)
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

pid_t tenon_child_fork(void)
{
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child > 0) setpgid(child, child); /* whoever comes first */
    if (child != 0) return child;
    setpgid(0, 0);
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(1); /* it ended before we asked to be told */
    return 0;
}

bool tenon_child_has_ended(pid_t child, int* status)
{
    const pid_t ended = waitpid(child, status, WNOHANG);
    return ended == child || (ended < 0 && errno == ECHILD);
}

/* The parent of a process by its number; 0 when it is gone. */
static pid_t parent_of(const char* pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = 0;
    const char* name_end = strrchr(text, ')'); /* the name may hold anything */
    int parent = 0;
    return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Signals all children that we have at the moment: those whose parents were killed have become ours
 * by then. */
static void signal_children(int signal)
{
    const pid_t self = getpid();
    DIR* processes = opendir("/proc");
    for (struct dirent* entry; processes && (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == self)
            kill((pid_t)atoi(entry->d_name), signal);
    if (processes) closedir(processes);
}

/* True when no child is left. */
static bool reap(pid_t child, int* status)
{
    int other;
    for (;;) {
        const pid_t ended = waitpid(-1, &other, WNOHANG);
        if (ended == child) *status = other;
        if (ended < 0 && errno == EINTR) continue;
        if (ended <= 0) return ended < 0;
    }
}

bool tenon_child_end_all(pid_t child, int* status)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    if (child > 0) {
        kill(-child, SIGKILL); /* its group at once, before it can grow */
        kill(child, SIGKILL);
    }
    for (int i = 0; i < kRounds; ++i) {
        if (reap(child, status)) return true;
        if (i % 8 == 7) signal_children(SIGKILL); /* a process alone is gone by then */
        nanosleep(&moment, NULL);
    }
    return reap(child, status);
}
