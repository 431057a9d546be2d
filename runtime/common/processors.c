/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the affinity mask and the quotas of control groups. */
#define _GNU_SOURCE
#include "processors.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"

enum
{
    kPathCapacity = 4096
};

/* The first line without its end; false when there is none. */
static bool first_line(const char* path, char* text, int capacity)
{
    FILE* file = fopen(path, "re");
    if (!file) return false;
    bool read = fgets(text, capacity, file) != NULL;
    fclose(file);
    return read;
}

/* Processors that the group of this folder grants, rounded up; 0: all. */
static int share_of(const char* folder, bool first_version)
{
    char path[kPathCapacity + 32];
    char text[64];
    long long quota = 0;
    long long period = 0;
    if (first_version) {
        snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
        if (first_line(path, text, sizeof text)) quota = strtoll(text, NULL, 10);
        snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
        if (first_line(path, text, sizeof text)) period = strtoll(text, NULL, 10);
    } else {
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        char* rest = text;
        if (!first_line(path, text, sizeof text)) return 0;
        quota = strtoll(text, &rest, 10); /* "max" is 0 */
        period = strtoll(rest, NULL, 10);
    }
    if (quota <= 0 || period <= 0) return 0;
    long long share = (quota - 1) / period + 1;
    return share > 1 << 16 ? 0 : (int)share;
}

/* "cpu" or "cpu,cpuacct" of version 1. */
static bool names_cpu(const char* controllers)
{
    for (const char* at = controllers; at; at = strchr(at, ',')) {
        if (*at == ',') ++at;
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == 0 || at[3] == ',')) return true;
    }
    return false;
}

static int smaller(int limit, int share) { return share > 0 && share < limit ? share : limit; }

/* The group of a line "NUMBER:CONTROLLERS:PATH" and all above it. */
static int limited_by(char* line, int limit)
{
    char* controllers = strchr(line, ':');
    char* group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group || group[1] != '/') return limit;
    *group++ = 0;
    ++controllers;
    group[strcspn(group, "\n")] = 0;
    bool first_version = *controllers != 0;
    if (first_version && !names_cpu(controllers)) return limit;
    char folder[kPathCapacity];
    int root = snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", first_version ? "/cpu" : "");
    if (snprintf(folder + root, sizeof folder - (size_t)root, "%s", group) >=
        (int)sizeof folder - root)
        return limit;
    for (;;) {
        limit = smaller(limit, share_of(folder, first_version));
        if (!folder[root]) return limit;
        *strrchr(folder + root, '/') = 0;
    }
}

static pthread_once_t s_once = PTHREAD_ONCE_INIT;
static int s_usable;

static void read_usable(void)
{
    char line[kPathCapacity];
    s_usable = tenon_affinity_cpu_count();
    FILE* groups = fopen("/proc/self/cgroup", "re");
    if (!groups) return;
    while (fgets(line, sizeof line, groups)) s_usable = limited_by(line, s_usable);
    fclose(groups);
}

long tenon_last_cache_bytes(void)
{
#if defined(_SC_LEVEL3_CACHE_SIZE)
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 ? bytes : 0;
#else
    return 0;
#endif
}

int tenon_usable_processors(void)
{
    pthread_once(&s_once, read_usable);
    return s_usable;
}
