/* SPDX-License-Identifier: Apache-2.0 */
/* How many processors the system lets this process use. */
#ifndef TENON_RUNTIME_PROCESSORS_H
#define TENON_RUNTIME_PROCESSORS_H

#ifdef __cplusplus
extern "C" {
#endif

/** The CPUs of its set, or fewer where its control groups (version 1 or 2) grant less time than
 * that, rounded up; at least 1. Read once. */
int tenon_usable_processors(void);
/** Of the last level of cache, 0 where the system does not tell. */
long tenon_last_cache_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
