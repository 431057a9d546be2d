/* SPDX-License-Identifier: Apache-2.0 */
/* CPU affinity on Linux; elsewhere one allowed set without pinning. */
#define _GNU_SOURCE
#include "affinity.h"

#include <unistd.h>

#include "error.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>

/* Remembered once: a thread that was pinned no longer sees the other CPUs. */
static pthread_once_t s_once = PTHREAD_ONCE_INIT;
static cpu_set_t s_allowed;

static void read_allowed(void)
{
    if (sched_getaffinity(0, sizeof s_allowed, &s_allowed) == 0 && CPU_COUNT(&s_allowed) > 0)
        return;
    CPU_ZERO(&s_allowed);
    CPU_SET(0, &s_allowed);
}

int tenon_affinity_cpu_count(void)
{
    pthread_once(&s_once, read_allowed);
    return CPU_COUNT(&s_allowed);
}

int tenon_affinity_pin_self(int index)
{
    int skip = index % tenon_affinity_cpu_count();
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &s_allowed) || skip-- > 0) ++cpu;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? 0
                                                       : tenon_fail("cannot pin to CPU %zu", cpu);
}

int tenon_affinity_free_self(void)
{
    pthread_once(&s_once, read_allowed);
    return sched_setaffinity(0, sizeof s_allowed, &s_allowed) == 0
               ? 0
               : tenon_fail("cannot restore the CPU set");
}

int tenon_affinity_current_cpu(void) { return sched_getcpu(); }

void tenon_affinity_leave(const int* taken, int count)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    cpu_set_t others = allowed;
    for (int i = 0; i < count; ++i)
        if (taken[i] >= 0 && taken[i] < CPU_SETSIZE) CPU_CLR((size_t)taken[i], &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    sched_setaffinity(0, sizeof allowed, &allowed); /* the thread stays where it now is */
}

#else

int tenon_affinity_cpu_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (int)count : 1;
}

int tenon_affinity_pin_self(int index)
{
    (void)index;
    return tenon_fail("threads cannot be pinned on this system");
}

int tenon_affinity_free_self(void) { return 0; }

int tenon_affinity_current_cpu(void) { return -1; }

void tenon_affinity_leave(const int* taken, int count)
{
    (void)taken;
    (void)count;
}

#endif
