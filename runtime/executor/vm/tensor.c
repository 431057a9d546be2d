/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the VM and the lists that loops collect them in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/dtype.h"
#include "../../common/error.h"
#include "../../common/poison.h"
#include "machine.h"

enum
{
    kMaxListItems = 1 << 24,
    kShapeText = 256
};

void vm_shape_print(const int64_t* shape, int32_t rank, char* out, size_t size)
{
    size_t at = 0;
    int wrote = snprintf(out, size, "(");
    for (int32_t i = 0; i < rank && wrote > 0 && at + (size_t)wrote < size; ++i) {
        at += (size_t)wrote;
        wrote = snprintf(out + at, size - at, i ? ", %lld" : "%lld", (long long)shape[i]);
    }
    at += (size_t)(wrote > 0 ? wrote : 0);
    if (at + 1 < size) snprintf(out + at, size - at, ")");
}

void vm_tensor_clear(vm_machine* machine, vm_tensor* tensor)
{
    vm_block_unref(&machine->pool, tensor->block);
    tensor->block = NULL;
    tensor->data = NULL;
}

static int bytes_of(DLDataType dtype, int32_t rank, const int64_t* shape, size_t* out)
{
    if (tenon_tensor_bytes(shape, rank, dtype, out)) return 0;
    char text[kShapeText];
    vm_shape_print(shape, rank, text, sizeof text);
    return tenon_fail("a tensor of shape %s cannot exist", text);
}

static void set(vm_tensor* tensor, char* data, DLDataType dtype, int32_t rank, const int64_t* shape)
{
    tensor->data = data;
    tensor->dtype = dtype;
    tensor->rank = rank;
    if (rank) memmove(tensor->shape, shape, (size_t)rank * sizeof *shape);
}

int vm_tensor_allocate(vm_machine* machine, vm_tensor* tensor, DLDataType dtype, int32_t rank,
                       const int64_t* shape)
{
    size_t bytes;
    if (bytes_of(dtype, rank, shape, &bytes) != 0) return -1;
    vm_block* block = vm_pool_take(&machine->pool, bytes);
    if (!block) return -1;
    vm_tensor_clear(machine, tensor);
    tensor->block = block;
    set(tensor, block->data, dtype, rank, shape);
    return 0;
}

int vm_tensor_place(vm_machine* machine, vm_tensor* tensor, const vm_place* place)
{
    size_t bytes;
    if (bytes_of(place->dtype, place->rank, place->shape, &bytes) != 0) return -1;
    if (bytes > place->room)
        return tenon_fail("a value of %zu bytes does not fit the %zu planned for it", bytes,
                          place->room);
    vm_tensor_clear(machine, tensor);
    char* data = machine->arena + place->offset;
    tenon_poison(data, bytes);
    set(tensor, data, place->dtype, place->rank, place->shape);
    return 0;
}

void vm_tensor_assign(vm_machine* machine, vm_tensor* to, const vm_tensor* from)
{
    vm_block_ref(from->block);
    vm_tensor value = *from;
    vm_tensor_clear(machine, to);
    *to = value;
}

size_t vm_tensor_bytes(const vm_tensor* tensor)
{
    size_t bytes = 0;
    tenon_tensor_bytes(tensor->shape, tensor->rank, tensor->dtype, &bytes);
    return bytes;
}

int vm_list_push(vm_machine* machine, vm_list* list, const vm_tensor* item)
{
    if (list->count >= kMaxListItems)
        return tenon_fail("a loop collects more than %d values", kMaxListItems);
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        vm_tensor* items = realloc(list->items, capacity * sizeof *items);
        if (!items) return tenon_fail("out of memory for %zu values of a loop", capacity);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count].block = NULL;
    vm_tensor_assign(machine, &list->items[list->count++], item);
    return 0;
}

void vm_list_clear(vm_machine* machine, vm_list* list)
{
    for (size_t i = 0; i < list->count; ++i) vm_tensor_clear(machine, &list->items[i]);
    list->count = 0;
}

int vm_list_stack(vm_machine* machine, const vm_list* list, vm_tensor* to, DLDataType dtype,
                  int32_t rank, const int64_t* shape)
{
    int64_t all[kTenonVmMaxRank + 1] = {(int64_t)list->count};
    const vm_tensor* first = list->count ? &list->items[0] : NULL;
    if (first) rank = first->rank;
    if (rank >= kTenonVmMaxRank) return tenon_fail("a loop collects values of rank %d", (int)rank);
    if (rank) memcpy(all + 1, first ? first->shape : shape, (size_t)rank * sizeof *shape);
    for (size_t i = 1; i < list->count; ++i) {
        const vm_tensor* item = &list->items[i];
        if (item->rank == rank &&
            (rank == 0 || memcmp(item->shape, all + 1, (size_t)rank * sizeof *shape) == 0))
            continue;
        char before[kShapeText];
        char now[kShapeText];
        vm_shape_print(all + 1, rank, before, sizeof before);
        vm_shape_print(item->shape, item->rank, now, sizeof now);
        return tenon_fail("a collected value has the shape %s in step 0 but %s in step %zu", before,
                          now, i);
    }
    if (vm_tensor_allocate(machine, to, dtype, rank + 1, all) != 0) return -1;
    size_t bytes = first ? vm_tensor_bytes(first) : 0;
    for (size_t i = 0; i < list->count && bytes; ++i)
        memcpy(to->data + i * bytes, list->items[i].data, bytes);
    return 0;
}
