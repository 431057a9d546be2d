/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once; for parsed structures. */
#ifndef TENON_RUNTIME_ARENA_H
#define TENON_RUNTIME_ARENA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct
{
    struct tenon_arena_block* newest;
} tenon_arena;

/** `count` zeroed items of `size` bytes; NULL (with an error recorded) when there is no memory. */
void* tenon_arena_alloc(tenon_arena* arena, size_t count, size_t size);
/** A terminated copy. */
char* tenon_arena_text(tenon_arena* arena, const char* text, size_t length);
/** Room for one more item in an array of `count` that grows by doubling; the new array or NULL. */
void* tenon_arena_grow(tenon_arena* arena, void* items, size_t count, size_t size);
void tenon_arena_free(tenon_arena* arena);

#ifdef __cplusplus
}
#endif

#endif
