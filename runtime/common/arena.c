/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is given back all at once. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

typedef struct tenon_arena_block
{
    struct tenon_arena_block* older;
    size_t capacity;
    size_t used;
    _Alignas(16) char data[];
} block;

enum
{
    kBlockBytes = 16 * 1024,
    kAlignment = 16
};

void* tenon_arena_alloc(tenon_arena* arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        tenon_fail("a table of %zu items is too large", count);
        return NULL;
    }
    bytes = (bytes + kAlignment - 1) & ~(size_t)(kAlignment - 1);
    if (!arena->newest || arena->newest->capacity - arena->newest->used < bytes) {
        size_t capacity = bytes > kBlockBytes ? bytes : kBlockBytes;
        block* added = calloc(1, sizeof *added + capacity);
        if (!added) {
            tenon_fail("out of memory for %zu bytes", bytes);
            return NULL;
        }
        added->capacity = capacity;
        added->older = arena->newest;
        arena->newest = added;
    }
    void* memory = arena->newest->data + arena->newest->used;
    arena->newest->used += bytes;
    return memory;
}

char* tenon_arena_text(tenon_arena* arena, const char* text, size_t length)
{
    char* copy = tenon_arena_alloc(arena, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void* tenon_arena_grow(tenon_arena* arena, void* items, size_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0) return items; /* full only at powers of two */
    void* grown = tenon_arena_alloc(arena, count ? count * 2 : 1, size);
    if (grown && count) memcpy(grown, items, count * size);
    return grown;
}

void tenon_arena_free(tenon_arena* arena)
{
    while (arena->newest) {
        block* older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
}
