/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread keeps and gives back when it ends: workspace and the last returned bytes. */
#ifndef TENON_RUNTIME_THREAD_STATE_H
#define TENON_RUNTIME_THREAD_STATE_H

#include "../include/tenon/c_runtime_api.h"

struct tenon_workspace_chunk;

typedef struct
{
    struct tenon_workspace_chunk* workspace; /* newest chunk */
    TVMByteArray returned;
    char* returned_memory;
    size_t returned_capacity;
} tenon_thread_state;

/** This thread's state; NULL when there is no memory for it. */
tenon_thread_state* tenon_thread_state_get(void);
/** Frees all chunks of a thread that ends. */
void tenon_workspace_release(struct tenon_workspace_chunk* newest);

#endif
