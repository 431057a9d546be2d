/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime takes from the allocator, counted by functions that the linker puts in front of
 * it
 * (--wrap). */
#ifndef TENON_RUNTIME_COUNTING_H
#define TENON_RUNTIME_COUNTING_H

#include <stddef.h>

/* For what a block was asked for: by the function of the runtime that was at work. */
typedef enum
{
    kSiteOther,
    kSiteLibrary,    /* the file as loaded: its symbols and functions */
    kSiteExecutor,   /* lists of the executor: operators, arguments, names */
    kSiteGraph,      /* the graph as parsed */
    kSiteTensors,    /* inputs, outputs and storages */
    kSiteWorkspaces, /* the stack that workspaces lie on */
    kSiteCount
} tenon_site;

typedef struct
{
    size_t bytes;
    size_t blocks;
} tenon_site_counts;

typedef struct
{
    size_t heap_peak;       /* bytes of all blocks at the worst moment */
    size_t workspace_peak;  /* requests of workspaces at the worst moment, as asked for */
    size_t workspace_first; /* the first of them: that of the whole program, where there is one */
    tenon_site_counts sites[kSiteCount]; /* of heap_peak */
} tenon_counts;

/** Begins anew. */
void tenon_counting_start(void);
tenon_counts tenon_counting_result(void);

#endif
