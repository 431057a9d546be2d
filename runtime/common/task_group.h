/* SPDX-License-Identifier: Apache-2.0 */
/* What the tasks of one launch share: who failed, and where they meet. */
#ifndef TENON_RUNTIME_TASK_GROUP_H
#define TENON_RUNTIME_TASK_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>

/* What env.sync_handle points to. */
typedef struct
{
    atomic_int arrived;
    atomic_int phase;
    atomic_int failed;
    bool all_run_at_once;
} tenon_task_group;

/* A short pause of a loop that waits for another thread. */
static inline void tenon_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
