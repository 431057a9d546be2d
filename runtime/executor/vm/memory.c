/* SPDX-License-Identifier: Apache-2.0 */
/* Free blocks by size class, four classes to the octave: at most a fifth is wasted. */
#include "memory.h"

#include <stdint.h>
#include <stdlib.h>

#include "../../common/error.h"
#include "../../common/object.h"
#include "../../common/poison.h"

enum
{
    kSmallest = 64
};

static size_t class_bytes(size_t size_class)
{
    return ((size_t)kSmallest + kSmallest / 4 * (size_class % 4)) << size_class / 4;
}

static size_t class_of(size_t bytes)
{
    size_t size_class = 0;
    while (size_class < kVmSizeClasses - 4 && class_bytes(size_class) < bytes) size_class += 4;
    while (size_class > 0 && class_bytes(size_class - 1) >= bytes) --size_class;
    return size_class;
}

static void free_unused(vm_pool* pool)
{
    for (size_t i = 0; i < kVmSizeClasses; ++i) {
        while (pool->free[i]) {
            vm_block* block = pool->free[i];
            pool->free[i] = block->next;
            pool->held -= class_bytes(i);
            free(block->data);
            free(block);
        }
    }
}

static vm_block* new_block(vm_pool* pool, size_t size_class)
{
    const size_t bytes = class_bytes(size_class);
    if (bytes > pool->limit || pool->held > pool->limit - bytes) free_unused(pool);
    if (bytes > pool->limit || pool->held > pool->limit - bytes) {
        tenon_fail("a value of %zu bytes beside %zu bytes of others is more than a run may take, "
                   "%zu bytes; TENON_MEMORY_LIMIT sets another limit",
                   bytes, pool->held, pool->limit);
        return NULL;
    }
    vm_block* block = calloc(1, sizeof *block);
    if (block) block->data = tenon_aligned_alloc(bytes);
    if (!block || !block->data) {
        free(block);
        tenon_fail("out of memory for a tensor of %zu bytes", bytes);
        return NULL;
    }
    block->size_class = size_class;
    pool->held += bytes;
    return block;
}

vm_block* vm_pool_take(vm_pool* pool, size_t bytes)
{
    if (bytes > SIZE_MAX / 4) {
        tenon_fail("out of memory for a tensor of %zu bytes", bytes);
        return NULL;
    }
    size_t size_class = class_of(bytes);
    vm_block* block = pool->free[size_class];
    if (block)
        pool->free[size_class] = block->next;
    else
        block = new_block(pool, size_class);
    if (!block) return NULL;
    block->refs = 1;
    block->next = NULL;
    tenon_poison(block->data, class_bytes(size_class));
    return block;
}

size_t vm_block_bytes(const vm_block* block) { return class_bytes(block->size_class); }

vm_block* vm_block_ref(vm_block* block)
{
    if (block) ++block->refs;
    return block;
}

void vm_block_unref(vm_pool* pool, vm_block* block)
{
    if (!block || --block->refs > 0) return;
    block->next = pool->free[block->size_class];
    pool->free[block->size_class] = block;
}

void vm_pool_free(vm_pool* pool) { free_unused(pool); }
