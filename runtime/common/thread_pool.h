/* SPDX-License-Identifier: Apache-2.0 */
/* The thread pool behind TVMBackendParallelLaunch. */
#ifndef TENON_RUNTIME_THREAD_POOL_H
#define TENON_RUNTIME_THREAD_POOL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Threads of a parallel region, the caller included; 0 chooses by environment and machine. */
int tenon_threads_set_count(int count);
int tenon_threads_count(void);
/** Threads that have run a task themselves since the count was set, the caller included. */
int tenon_threads_ran(void);
/** Ties the caller and each worker to one allowed CPU of its own, or frees them again. */
int tenon_threads_pin(bool pinned);

#ifdef __cplusplus
}
#endif

#endif
