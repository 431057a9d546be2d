/* SPDX-License-Identifier: Apache-2.0 */
/* Opaque handles of a session. A handle is generation << 20 | (index + 1) and fits in a pointer,
 * because it travels as the address of a tensor's memory; 32-bit boards have 12 bits of generation.
 */
#include "handles.h"

#include <stdbool.h>
#include <stdlib.h>

#include "../common/error.h"

enum
{
    kIndexBits = 20,
    kMaxHandles = (1 << kIndexBits) - 1
};

static const uint32_t kGenerations = (uint32_t)(UINTPTR_MAX >> kIndexBits);

static void release(tenon_handle_kind kind, void* object)
{
    switch (kind) {
    case kTenonHandleFunc: tenon_func_unref(object); break;
    case kTenonHandleModule: tenon_module_unref(object); break;
    case kTenonHandleArray: tenon_array_unref(object); break;
    case kTenonHandleData: free(object); break;
    case kTenonHandleFree: break;
    }
}

static int grow(tenon_handles* handles)
{
    size_t count = handles->count ? handles->count * 2 : 64;
    if (handles->count == kMaxHandles) return tenon_fail("too many handles are open");
    if (count > kMaxHandles) count = kMaxHandles;
    tenon_handle_entry* entries = realloc(handles->entries, count * sizeof *entries);
    if (!entries) return tenon_fail("out of memory for a handle");
    for (size_t i = handles->count; i < count; ++i)
        entries[i] = (tenon_handle_entry){.kind = kTenonHandleFree, .generation = 1};
    handles->entries = entries;
    handles->count = count;
    return 0;
}

uint64_t tenon_handles_add(tenon_handles* handles, tenon_handle_kind kind, void* object, char* data,
                           size_t bytes)
{
    size_t at = handles->first_free;
    while (at < handles->count && handles->entries[at].kind != kTenonHandleFree) ++at;
    if (at == handles->count && grow(handles) != 0) {
        release(kind, object);
        return 0;
    }
    tenon_handle_entry* entry = &handles->entries[at];
    entry->kind = kind;
    entry->object = object;
    entry->data = data;
    entry->bytes = bytes;
    handles->first_free = at + 1;
    return (uint64_t)entry->generation << kIndexBits | (at + 1);
}

tenon_handle_entry* tenon_handles_find(const tenon_handles* handles, uint64_t handle,
                                       tenon_handle_kind kind)
{
    uint64_t index = (handle & kMaxHandles) - 1; /* 0 wraps to a number that is out of range */
    if (index < handles->count) {
        tenon_handle_entry* entry = &handles->entries[index];
        bool is_kind =
            kind == kTenonHandleFree ? entry->kind != kTenonHandleFree : entry->kind == kind;
        if (is_kind && entry->generation == handle >> kIndexBits) return entry;
    }
    tenon_fail("handle %llx is not open or is of another kind", (unsigned long long)handle);
    return NULL;
}

int tenon_handles_remove(tenon_handles* handles, uint64_t handle, tenon_handle_kind kind)
{
    tenon_handle_entry* entry = tenon_handles_find(handles, handle, kind);
    if (!entry) return -1;
    tenon_handle_kind old = entry->kind;
    entry->kind = kTenonHandleFree;
    entry->generation = (entry->generation + 1) & kGenerations;
    size_t index = (size_t)(entry - handles->entries);
    if (index < handles->first_free) handles->first_free = index;
    release(old, entry->object);
    return 0;
}

void tenon_handles_clear(tenon_handles* handles)
{
    for (size_t i = 0; i < handles->count; ++i)
        release(handles->entries[i].kind, handles->entries[i].object);
    free(handles->entries);
    *handles = (tenon_handles){0};
}
