/* SPDX-License-Identifier: Apache-2.0 */
/* TVMBackendAllocWorkspace: a stack of 64-byte aligned blocks per thread that grows and is reused.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "error.h"
#include "object.h"
#include "poison.h"
#include "thread_state.h"

/* A chunk's memory holds [header | block]...; a header fills one alignment unit. A chunk that runs
 * empty stays: the model's own workspace may fill the one below while kernel after kernel asks for
 * more, and fresh memory costs a page fault per 4 KiB. Several empty ones on top are replaced by
 * one of their total size, so that a steady workload settles on a single chunk; one that is too
 * small by one that is not. */
enum
{
    kAlignment = 64,
    kChunkBytes = 4096 /* the least; larger ones are as large as was asked for: beside a model's
                               workspace there is no room for another of its size */
};

typedef struct tenon_workspace_chunk
{
    struct tenon_workspace_chunk* older;
    char* memory;
    size_t capacity;
    size_t used;
    size_t top; /* offset of the newest header; meaningless when used is 0 */
} chunk;

typedef struct
{
    size_t below; /* offset of the header underneath */
    bool is_free;
} header;

static size_t rounded(size_t size) { return (size + kAlignment - 1) & ~(size_t)(kAlignment - 1); }

static chunk* new_chunk(chunk* older, size_t capacity)
{
    chunk* made = malloc(sizeof *made);
    char* memory = tenon_aligned_alloc(capacity);
    if (!made || !memory) {
        free(made);
        free(memory);
        return NULL;
    }
    *made = (chunk){.older = older, .memory = memory, .capacity = capacity};
    return made;
}

void tenon_workspace_release(struct tenon_workspace_chunk* newest)
{
    while (newest) {
        chunk* older = newest->older;
        free(newest->memory);
        free(newest);
        newest = older;
    }
}

void* TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t nbytes, int dtype_code_hint,
                               int dtype_bits_hint)
{
    (void)device_id;
    (void)dtype_code_hint;
    (void)dtype_bits_hint;
    tenon_thread_state* state = tenon_thread_state_get();
    if (!state || device_type != kDLCPU || nbytes > SIZE_MAX / 4) {
        tenon_fail("cannot allocate a workspace of %llu bytes on device type %d",
                   (unsigned long long)nbytes, device_type);
        return NULL;
    }
    size_t needed = kAlignment + rounded((size_t)nbytes + (nbytes == 0));
    chunk* at = state->workspace;
    if (!at || at->capacity - at->used < needed) {
        if (at && at->used == 0) { /* too small, and nobody uses it */
            state->workspace = at->older;
            at->older = NULL;
            tenon_workspace_release(at);
            at = state->workspace;
        }
        at = new_chunk(at, needed > kChunkBytes ? needed : kChunkBytes);
        if (!at) {
            tenon_fail("out of memory for a workspace of %zu bytes", needed);
            return NULL;
        }
        state->workspace = at;
    }
    header* head = (header*)(void*)(at->memory + at->used);
    *head = (header){.below = at->top, .is_free = false};
    at->top = at->used;
    at->used += needed;
    tenon_poison((char*)head + kAlignment, (size_t)nbytes);
    return (char*)head + kAlignment;
}

/* Pops freed blocks off the top. */
static void pop_free_blocks(chunk* at)
{
    while (at->used) {
        header* head = (header*)(void*)(at->memory + at->top);
        if (!head->is_free) return;
        at->used = at->top;
        at->top = head->below;
    }
}

/* Empty chunks above all that is in use become one; they go first, so that there is never room for
 * both. Without memory for it the next request begins anew. */
static void merge_empty_chunks(tenon_thread_state* state)
{
    size_t total = 0;
    size_t count = 0;
    chunk* below = state->workspace;
    for (; below && below->used == 0; below = below->older) {
        total += below->capacity;
        ++count;
    }
    if (count < 2) return;
    for (chunk* at = state->workspace; at != below;) {
        chunk* older = at->older;
        at->older = NULL;
        tenon_workspace_release(at);
        at = older;
    }
    chunk* merged = new_chunk(below, total);
    state->workspace = merged ? merged : below;
}

static bool is_inside(const chunk* at, const char* pointer)
{
    return pointer > at->memory && pointer < at->memory + at->used;
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void* ptr)
{
    (void)device_type;
    (void)device_id;
    tenon_thread_state* state = tenon_thread_state_get();
    for (chunk* at = state ? state->workspace : NULL; at; at = at->older) {
        if (!is_inside(at, ptr)) continue;
        ((header*)(void*)((char*)ptr - kAlignment))->is_free = true;
        pop_free_blocks(at);
        merge_empty_chunks(state);
        return 0;
    }
    return tenon_fail("a workspace is freed that this thread did not allocate");
}
