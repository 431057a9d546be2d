/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the VM and the lists that loops collect them in. */
#include <stdio.h>
#include <string.h>

#include "../../common/dtype.h"
#include "../../common/error.h"
#include "../../common/poison.h"
#include "machine.h"

enum
{
    kShapeText = 256,
    kBytesPerItem = 256 /* of the limit, however small the items: steps take time as well */
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

static bool is_like_first(const vm_list* list, const vm_tensor* item)
{
    const int32_t rank = list->first.rank;
    return item->rank == rank && (rank == 0 || memcmp(item->shape, list->first.shape,
                                                      (size_t)rank * sizeof *item->shape) == 0);
}

/* Memory for one item more, half as much again where there was some. */
static int make_room(vm_machine* machine, vm_list* list)
{
    const size_t used = list->count * list->item_bytes;
    const size_t wanted = used + list->item_bytes;
    if (list->first.block && wanted <= vm_block_bytes(list->first.block)) return 0;
    vm_block* block = vm_pool_take(&machine->pool, wanted + used / 2);
    if (!block) return -1;
    if (used) memcpy(block->data, list->first.data, used);
    vm_tensor_clear(machine, &list->first);
    list->first.block = block;
    list->first.data = block->data;
    return 0;
}

int vm_list_push(vm_machine* machine, vm_list* list, const vm_tensor* item)
{
    if (list->count == 0) {
        vm_list_clear(machine, list);
        list->item_bytes = vm_tensor_bytes(item);
        set(&list->first, NULL, item->dtype, item->rank, item->shape);
    } else if (!is_like_first(list, item)) {
        char before[kShapeText];
        char now[kShapeText];
        vm_shape_print(list->first.shape, list->first.rank, before, sizeof before);
        vm_shape_print(item->shape, item->rank, now, sizeof now);
        return tenon_fail("a collected value has the shape %s in step 0 but %s in step %zu", before,
                          now, list->count);
    }
    if (list->count >= machine->pool.limit / kBytesPerItem)
        return tenon_fail("a loop has collected %zu values, one for every %d of the %zu bytes that "
                          "a run may take; TENON_MEMORY_LIMIT sets another limit",
                          list->count, kBytesPerItem, machine->pool.limit);
    if (make_room(machine, list) != 0) {
        char text[kShapeText];
        snprintf(text, sizeof text, "a loop has collected %zu values of %zu bytes", list->count,
                 list->item_bytes);
        return tenon_fail_within(text);
    }
    if (list->item_bytes)
        memcpy(list->first.data + list->count * list->item_bytes, item->data, list->item_bytes);
    ++list->count;
    return 0;
}

void vm_list_clear(vm_machine* machine, vm_list* list)
{
    vm_tensor_clear(machine, &list->first);
    list->count = 0;
}

int vm_list_stack(vm_machine* machine, const vm_list* list, vm_tensor* to, DLDataType dtype,
                  int32_t rank, const int64_t* shape)
{
    int64_t all[kTenonVmMaxRank + 1] = {(int64_t)list->count};
    if (list->count) rank = list->first.rank;
    if (rank >= kTenonVmMaxRank) return tenon_fail("a loop collects values of rank %d", (int)rank);
    if (rank)
        memcpy(all + 1, list->count ? list->first.shape : shape, (size_t)rank * sizeof *shape);
    if (list->count == 0) return vm_tensor_allocate(machine, to, dtype, rank + 1, all);
    if (!tenon_dtype_equal(dtype, list->first.dtype))
        return tenon_fail("a loop collects values of another type than it returns");
    vm_tensor_assign(machine, to, &list->first);
    set(to, to->data, dtype, rank + 1, all);
    return 0;
}
