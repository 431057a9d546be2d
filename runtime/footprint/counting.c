/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator and the workspaces as the runtime calls them, with counters; for one thread. */
#define _GNU_SOURCE
#include "counting.h"

#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>

#include "../common/object.h"
#include "../executor/aot_executor.h"
#include "../executor/graph.h"
#include "../executor/graph_executor.h"

enum
{
    kMaxWorkspaces = 64,     /* at a time */
    kMostBlocks = 1u << 18u, /* that are remembered; a power of two */
};

typedef struct
{
    void* block; /* NULL: never used */
    uint32_t site;
    uint32_t is_live;
} block_entry;

static tenon_counts s_counts;
static size_t s_heap;
static size_t s_workspace;
static size_t s_sizes[kMaxWorkspaces]; /* of the workspaces in use, oldest first */
static size_t s_depth;
static tenon_site s_site;     /* of the function at work */
static block_entry* s_blocks; /* by address; beside the heap, which it must not count */
static tenon_site_counts s_live[kSiteCount];

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

/* The entry of a block, or the first free one for it; NULL where there is no room. */
static block_entry* entry_of(const void* block)
{
    if (!s_blocks) return NULL;
    const size_t start = ((uintptr_t)block >> 4u) * 0x9e3779b1u;
    for (size_t i = 0; i < kMostBlocks; ++i) {
        block_entry* entry = &s_blocks[(start + i) & (kMostBlocks - 1u)];
        if (!entry->block || entry->block == block) return entry;
    }
    return NULL;
}

static void* added(void* block)
{
    if (!block) return block;
    const size_t bytes = malloc_usable_size(block);
    block_entry* entry = entry_of(block);
    if (entry) *entry = (block_entry){block, (uint32_t)s_site, 1};
    tenon_site_counts* live = &s_live[entry ? s_site : kSiteOther];
    live->bytes += bytes;
    ++live->blocks;
    s_heap += bytes;
    if (s_heap <= s_counts.heap_peak) return block;
    s_counts.heap_peak = s_heap;
    for (size_t i = 0; i < kSiteCount; ++i) s_counts.sites[i] = s_live[i];
    return block;
}

/* What was there before counting began does not count when it goes. */
static void removed(void* block)
{
    block_entry* entry = block ? entry_of(block) : NULL;
    if (!entry || !entry->block || !entry->is_live) return;
    const size_t bytes = malloc_usable_size(block);
    entry->is_live = 0;
    s_live[entry->site].bytes -= bytes;
    --s_live[entry->site].blocks;
    s_heap -= bytes;
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
    const tenon_site outer = s_site;
    s_site = kSiteWorkspaces;
    void* pointer = __real_TVMBackendAllocWorkspace(type, device, bytes, code, bits);
    s_site = outer;
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
    const tenon_site outer = s_site;
    s_site = kSiteWorkspaces; /* empty chunks become one */
    const int status = __real_TVMBackendFreeWorkspace(type, device, pointer);
    s_site = outer;
    return status;
}

/* The function at work is the innermost of these. */
#define AT_SITE(site, type, name, parameters, arguments)                                           \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        const tenon_site outer = s_site;                                                           \
        s_site = (site);                                                                           \
        type result = __real_##name arguments;                                                     \
        s_site = outer;                                                                            \
        return result;                                                                             \
    }

AT_SITE(kSiteLibrary, int, TVMModLoadFromFile,
        (const char* path, const char* format, TVMModuleHandle* out), (path, format, out))
AT_SITE(s_site == kSiteWorkspaces ? kSiteWorkspaces : kSiteTensors, void*, tenon_aligned_alloc,
        (size_t size), (size))
AT_SITE(kSiteTensors, tenon_array*, tenon_array_new,
        (const int64_t* shape, int32_t rank, DLDataType dtype), (shape, rank, dtype))
AT_SITE(kSiteExecutor, int, tenon_aot_executor_new, (tenon_module * root, tenon_module** out),
        (root, out))
AT_SITE(kSiteExecutor, int, tenon_graph_executor_new,
        (const char* json, size_t length, tenon_module* library, tenon_graph_executor** out),
        (json, length, library, out))
AT_SITE(kSiteGraph, int, tenon_graph_parse,
        (const char* json, size_t length, tenon_arena* arena, tenon_graph* out),
        (json, length, arena, out))

void tenon_counting_start(void)
{
    const size_t bytes = kMostBlocks * sizeof(block_entry);
    void* blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    s_blocks = blocks == MAP_FAILED ? NULL : blocks;
    s_counts = (tenon_counts){0};
    s_heap = 0;
}

tenon_counts tenon_counting_result(void) { return s_counts; }
