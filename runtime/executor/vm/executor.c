/* SPDX-License-Identifier: Apache-2.0 */
/* Making a VM executor and running it. */
#include "executor.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../common/dtype.h"
#include "../../common/error.h"
#include "../../common/memory_limit.h"

static int find_table(tenon_module* root, const vm_program* program, const tenon_vm_table** out)
{
    tenon_func* accessor = NULL;
    if (tenon_module_find(root, "tenon_vm_table", 1, &accessor) != 0) return -1;
    if (!accessor) return tenon_fail("the library has no `tenon_vm_table`");
    TVMValue value = {.v_handle = NULL};
    int code = kTVMNullptr;
    int status = TVMFuncCall(accessor, NULL, NULL, 0, &value, &code);
    tenon_func_unref(accessor);
    if (status != 0) return -1;
    const tenon_vm_table* table = value.v_handle;
    if (code != kTVMOpaqueHandle || !table ||
        table->kernel_count != (int64_t)program->kernel_count ||
        table->constant_count != (int64_t)program->constant_count)
        return tenon_fail("the library's kernels and constants are not those of its program");
    *out = table;
    return 0;
}

static int build(vm_executor* self)
{
    const tenon_vm_table* table = NULL;
    const size_t count = self->program->input_count + 1;
    if (find_table(self->root, self->program, &table) != 0 ||
        vm_machine_init(&self->machine, self->program, table) != 0)
        return -1;
    self->inputs = calloc(count, sizeof(tenon_array*));
    self->given = calloc(count, sizeof *self->given);
    self->is_given = calloc(count, sizeof *self->is_given);
    return self->inputs && self->given && self->is_given
               ? 0
               : tenon_fail("out of memory for an executor");
}

int vm_executor_new(tenon_module* root, const vm_program* program, tenon_module** out)
{
    vm_executor* self = calloc(1, sizeof *self);
    if (!self) return tenon_fail("out of memory for an executor");
    tenon_module_init(&self->base, &vm_executor_type.type);
    self->root = tenon_module_ref(root);
    self->program = program;
    if (build(self) != 0) {
        tenon_module_unref(&self->base);
        return -1;
    }
    *out = &self->base;
    return 0;
}

int vm_value_check(const vm_value* value, const DLTensor* tensor)
{
    bool fits = tensor->ndim == value->rank && tenon_dtype_equal(tensor->dtype, value->dtype);
    for (int32_t i = 0; fits && i < value->rank; ++i)
        fits = value->shape[i] < 0 || value->shape[i] == tensor->shape[i];
    if (fits) return 0;
    char wanted[256];
    char seen[256];
    char type[32];
    vm_shape_print(value->shape, value->rank, wanted, sizeof wanted);
    vm_shape_print(tensor->shape, tensor->ndim, seen, sizeof seen);
    tenon_dtype_print(value->dtype, type);
    return tenon_fail("`%s` is %s%s, -1 being any size, but was given the shape %s", value->name,
                      type, wanted, seen);
}

/* Of the inputs that were given and of the constants. */
static size_t given_bytes(const vm_executor* self)
{
    size_t total = 0;
    size_t bytes;
    for (size_t i = 0; i < self->program->input_count; ++i)
        if (self->is_given[i] && tenon_tensor_bytes(self->given[i].shape, self->given[i].ndim,
                                                    self->given[i].dtype, &bytes))
            total += bytes;
    for (size_t i = 0; i < self->program->constant_count; ++i) {
        const vm_value* constant = &self->program->constants[i];
        if (tenon_tensor_bytes(constant->shape, constant->rank, constant->dtype, &bytes))
            total += bytes;
    }
    return total;
}

int vm_executor_run(vm_executor* self)
{
    self->has_run = false;
    self->machine.pool.limit = tenon_memory_limit(given_bytes(self));
    for (size_t i = 0; i < self->program->input_count; ++i) {
        if (!self->is_given[i])
            return tenon_fail("input `%s` was not set", self->program->inputs[i].name);
        vm_machine_lend(&self->machine, i, &self->given[i]);
    }
    if (vm_machine_run(&self->machine) != 0) return -1;
    for (size_t i = 0; i < self->program->output_count; ++i)
        if (!self->machine.tensors[self->program->outputs[i].reg].data)
            return tenon_fail("output `%s` was not computed", self->program->outputs[i].name);
    self->has_run = true;
    return 0;
}
