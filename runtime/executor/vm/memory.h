/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of VM tensors: counted blocks that are used again, run after run. */
#ifndef TENON_RUNTIME_VM_MEMORY_H
#define TENON_RUNTIME_VM_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** `data` holds at least `capacity` bytes, aligned to 64. */
typedef struct vm_block
{
    struct vm_block* next; /* in a list of free blocks */
    size_t size_class;
    int refs;
    char* data;
} vm_block;

enum
{
    kVmSizeClasses = 256
};

typedef struct
{
    vm_block* free[kVmSizeClasses];
    size_t held;  /* bytes of all blocks, in use or free */
    size_t limit; /* that `held` does not pass */
} vm_pool;

/** A block of at least `bytes` with one reference; NULL with a text when there is no memory or the
 * limit would be passed. */
vm_block* vm_pool_take(vm_pool* pool, size_t bytes);
/** How many bytes the block holds. */
size_t vm_block_bytes(const vm_block* block);
/** NULL is allowed in both. */
vm_block* vm_block_ref(vm_block* block);
void vm_block_unref(vm_pool* pool, vm_block* block);
/** Every block must have been given back. */
void vm_pool_free(vm_pool* pool);

#ifdef __cplusplus
}
#endif

#endif
