/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime takes from the allocator, counted by functions that the linker puts in front of
 * it
 * (--wrap). */
#ifndef TENON_RUNTIME_COUNTING_H
#define TENON_RUNTIME_COUNTING_H

#include <stddef.h>

typedef struct
{
    size_t heap_peak;       /* bytes of all blocks at the worst moment */
    size_t workspace_peak;  /* requests of workspaces at the worst moment, as asked for */
    size_t workspace_first; /* the first of them: that of the whole program, where there is one */
} tenon_counts;

/** Begins anew. */
void tenon_counting_start(void);
tenon_counts tenon_counting_result(void);

#endif
