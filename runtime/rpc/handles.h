/* SPDX-License-Identifier: Apache-2.0 */
/* Opaque handles of a session: table index and generation, never addresses. */
#ifndef TENON_RUNTIME_RPC_HANDLES_H
#define TENON_RUNTIME_RPC_HANDLES_H

#include "../common/object.h"

typedef enum
{
    kTenonHandleFree,
    kTenonHandleFunc,
    kTenonHandleModule,
    kTenonHandleArray, /* a tenon_array */
    kTenonHandleData   /* plain memory */
} tenon_handle_kind;

typedef struct
{
    tenon_handle_kind kind;
    uint32_t generation; /* of the current or next use of this place */
    void* object;
    char* data; /* of arrays and memory */
    size_t bytes;
} tenon_handle_entry;

typedef struct
{
    tenon_handle_entry* entries;
    size_t count;
    size_t first_free; /* places below it are in use */
} tenon_handles;

/** Takes over one reference; 0 (with an error, the object released) when the table is full. */
uint64_t tenon_handles_add(tenon_handles* handles, tenon_handle_kind kind, void* object, char* data,
                           size_t bytes);
/** The entry, or NULL with an error when the handle is stale, foreign or of another kind;
 * kTenonHandleFree accepts any kind. */
tenon_handle_entry* tenon_handles_find(const tenon_handles* handles, uint64_t handle,
                                       tenon_handle_kind kind);
/** Releases what the handle stands for. */
int tenon_handles_remove(tenon_handles* handles, uint64_t handle, tenon_handle_kind kind);
void tenon_handles_clear(tenon_handles* handles);

#endif
