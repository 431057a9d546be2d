/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs this process may use, and tying threads to one of them. */
#ifndef TENON_RUNTIME_AFFINITY_H
#define TENON_RUNTIME_AFFINITY_H

/** Number of CPUs the process was allowed to use when first asked; at least 1. */
int tenon_affinity_cpu_count(void);
/** Ties the calling thread to the `index`-th allowed CPU (modulo their number); 0 or -1. */
int tenon_affinity_pin_self(int index);
/** Gives the calling thread all allowed CPUs again. */
int tenon_affinity_free_self(void);

#endif
