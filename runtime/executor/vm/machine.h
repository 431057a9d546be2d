/* SPDX-License-Identifier: Apache-2.0 */
/* The VM: registers, lists and the loop that runs a program. */
#ifndef TENON_RUNTIME_VM_MACHINE_H
#define TENON_RUNTIME_VM_MACHINE_H

#include "memory.h"
#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A value in a register; `data` is NULL while the register is empty. */
typedef struct
{
    vm_block* block; /* NULL: memory of the library or of the caller */
    char* data;
    DLDataType dtype;
    int32_t rank;
    int64_t shape[kTenonVmMaxRank];
} vm_tensor;

/** A value to come and its `room` bytes from `offset` of the arena on. */
typedef struct
{
    size_t offset;
    size_t room;
    DLDataType dtype;
    int32_t rank;
    const int64_t* shape;
} vm_place;

/** Values that a loop collects, one behind another. */
typedef struct
{
    vm_tensor first; /* the first one's type and shape, and the memory of all */
    size_t count;
    size_t item_bytes;
} vm_list;

typedef struct
{
    const vm_program* program;
    const tenon_vm_table* table;
    vm_pool pool;
    char* arena; /* program->arena_bytes, aligned to 64 */
    vm_tensor* tensors;
    int64_t* scalars;
    vm_list* lists;
    void** pointers; /* of the call in progress */
    int64_t* sizes;
    int64_t* call_ns; /* per call: nanoseconds spent so far; NULL: not measured */
} vm_machine;

int vm_machine_init(vm_machine* machine, const vm_program* program, const tenon_vm_table* table);
void vm_machine_free(vm_machine* machine);
/** Puts memory of the caller into the register of an input; it must outlive the run. */
void vm_machine_lend(vm_machine* machine, size_t input, const DLTensor* tensor);
/** Runs from the first word; errors name the node. */
int vm_machine_run(vm_machine* machine);

/** Empties a register. */
void vm_tensor_clear(vm_machine* machine, vm_tensor* tensor);
/** New memory of this type and shape (which may be the tensor's own); -1 when a size is negative or
 * there is no memory. */
int vm_tensor_allocate(vm_machine* machine, vm_tensor* tensor, DLDataType dtype, int32_t rank,
                       const int64_t* shape);
/** The same at a place in the arena; -1 when the value is larger. */
int vm_tensor_place(vm_machine* machine, vm_tensor* tensor, const vm_place* place);
void vm_tensor_assign(vm_machine* machine, vm_tensor* to, const vm_tensor* from);
/** Bytes of the value. */
size_t vm_tensor_bytes(const vm_tensor* tensor);
/** "(2, 3)" in `out`. */
void vm_shape_print(const int64_t* shape, int32_t rank, char* out, size_t size);

int vm_list_push(vm_machine* machine, vm_list* list, const vm_tensor* item);
void vm_list_clear(vm_machine* machine, vm_list* list);
/** The items along a new first axis; with none, an empty tensor of items of this shape. */
int vm_list_stack(vm_machine* machine, const vm_list* list, vm_tensor* to, DLDataType dtype,
                  int32_t rank, const int64_t* shape);

#ifdef __cplusplus
}
#endif

#endif
