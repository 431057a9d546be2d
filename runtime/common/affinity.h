/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs this process may use, and tying threads to one of them. */
#ifndef TENON_RUNTIME_AFFINITY_H
#define TENON_RUNTIME_AFFINITY_H

#ifdef __cplusplus
extern "C" {
#endif

/** Number of CPUs the process was allowed to use when first asked; at least 1. */
int tenon_affinity_cpu_count(void);
/** Ties the calling thread to the `index`-th allowed CPU (modulo their number); 0 or -1. */
int tenon_affinity_pin_self(int index);
/** Gives the calling thread all allowed CPUs again. */
int tenon_affinity_free_self(void);
/** The CPU the calling thread runs on right now, -1 where the system does not tell. */
int tenon_affinity_current_cpu(void);
/** Moves the calling thread off the `count` CPUs of `taken`, to another one that it may use; where
 * there is none it stays. It is not tied to the new one. */
void tenon_affinity_leave(const int* taken, int count);

#ifdef __cplusplus
}
#endif

#endif
