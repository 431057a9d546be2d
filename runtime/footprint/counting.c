/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator and the workspaces as the runtime calls them, with counters; for one thread. */
#include "counting.h"

#include <malloc.h>
#include <stdint.h>

enum
{
    kMaxWorkspaces = 64 /* at a time */
};

static tenon_counts s_counts;
static size_t s_heap;
static size_t s_workspace;
static size_t s_sizes[kMaxWorkspaces]; /* of the workspaces in use, oldest first */
static size_t s_depth;

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* block, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void* block);
void* __real_TVMBackendAllocWorkspace(int type, int device, uint64_t bytes, int code, int bits);
int __real_TVMBackendFreeWorkspace(int type, int device, void* pointer);

void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* block, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void* block);
void* __wrap_TVMBackendAllocWorkspace(int type, int device, uint64_t bytes, int code, int bits);
int __wrap_TVMBackendFreeWorkspace(int type, int device, void* pointer);

static void* added(void* block)
{
    if (block) s_heap += malloc_usable_size(block);
    if (s_heap > s_counts.heap_peak) s_counts.heap_peak = s_heap;
    return block;
}

/* What was there before counting began does not count when it goes. */
static void removed(void* block)
{
    size_t bytes = block ? malloc_usable_size(block) : 0;
    s_heap -= bytes < s_heap ? bytes : s_heap;
}

void* __wrap_malloc(size_t size) { return added(__real_malloc(size)); }

void* __wrap_calloc(size_t count, size_t size) { return added(__real_calloc(count, size)); }

void* __wrap_aligned_alloc(size_t alignment, size_t size)
{
    return added(__real_aligned_alloc(alignment, size));
}

void* __wrap_realloc(void* block, size_t size)
{
    removed(block);
    void* moved = __real_realloc(block, size);
    added(moved ? moved : block);
    return moved;
}

void __wrap_free(void* block)
{
    removed(block);
    __real_free(block);
}

void* __wrap_TVMBackendAllocWorkspace(int type, int device, uint64_t bytes, int code, int bits)
{
    void* pointer = __real_TVMBackendAllocWorkspace(type, device, bytes, code, bits);
    if (!pointer || s_depth == kMaxWorkspaces) return pointer;
    s_sizes[s_depth++] = (size_t)bytes;
    s_workspace += (size_t)bytes;
    if (s_counts.workspace_first == 0) s_counts.workspace_first = (size_t)bytes;
    if (s_workspace > s_counts.workspace_peak) s_counts.workspace_peak = s_workspace;
    return pointer;
}

int __wrap_TVMBackendFreeWorkspace(int type, int device, void* pointer)
{
    if (s_depth > 0) s_workspace -= s_sizes[--s_depth]; /* given back newest first */
    return __real_TVMBackendFreeWorkspace(type, device, pointer);
}

void tenon_counting_start(void)
{
    s_counts = (tenon_counts){0};
    s_heap = 0;
}

tenon_counts tenon_counting_result(void) { return s_counts; }
