/* SPDX-License-Identifier: MIT-0 */
/* The functions of common/arena.h without malloc: a counter that moves through the caller's memory.
 */
#include "micro_arena.h"

#include <stdint.h>
#include <string.h>

#include "../../common/error.h"

struct tenon_arena_block
{
    uint8_t* memory;
    size_t capacity;
    size_t used;
    size_t peak;
    void* last; /* the newest allocation can grow where it is */
};

static size_t rounded(size_t bytes, size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

int tenon_micro_arena_begin(tenon_arena* arena, void* memory, size_t bytes)
{
    struct tenon_arena_block* block = memory;
    if (bytes < sizeof *block) return tenon_fail("the memory for the graph is too small");
    memset(block, 0, sizeof *block);
    block->memory = memory;
    block->capacity = bytes;
    block->used = block->peak = rounded(sizeof *block, 8);
    arena->newest = block;
    return 0;
}

static void* take(tenon_arena* arena, size_t bytes, size_t alignment)
{
    struct tenon_arena_block* block = arena->newest;
    size_t start = rounded(block->used, alignment);
    if (start > block->capacity || bytes > block->capacity - start) {
        tenon_fail("the memory for the graph is too small");
        return NULL;
    }
    block->last = block->memory + start;
    block->used = start + bytes;
    if (block->used > block->peak) block->peak = block->used;
    memset(block->last, 0, bytes);
    return block->last;
}

void* tenon_arena_alloc(tenon_arena* arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        tenon_fail("a table is too large");
        return NULL;
    }
    return take(arena, rounded(bytes, 8), 8);
}

void* tenon_micro_arena_tensor(tenon_arena* arena, size_t bytes) { return take(arena, bytes, 16); }

char* tenon_arena_text(tenon_arena* arena, const char* text, size_t length)
{
    char* copy = tenon_arena_alloc(arena, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void* tenon_arena_grow(tenon_arena* arena, void* items, size_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0) return items; /* full only at powers of two */
    struct tenon_arena_block* block = arena->newest;
    if (count && items == block->last) {
        size_t before = rounded(count * size, 8);
        size_t after = rounded(count * 2 * size, 8);
        if (after - before > block->capacity - block->used) {
            tenon_fail("the memory for the graph is too small");
            return NULL;
        }
        memset(block->memory + block->used, 0, after - before);
        block->used += after - before;
        if (block->used > block->peak) block->peak = block->used;
        return items;
    }
    void* grown = tenon_arena_alloc(arena, count ? count * 2 : 1, size);
    if (grown && count) memcpy(grown, items, count * size);
    return grown;
}

size_t tenon_micro_arena_mark(const tenon_arena* arena) { return arena->newest->used; }

void tenon_micro_arena_rewind(tenon_arena* arena, size_t mark)
{
    arena->newest->used = mark;
    arena->newest->last = NULL;
}

size_t tenon_micro_arena_peak(const tenon_arena* arena) { return arena->newest->peak; }
