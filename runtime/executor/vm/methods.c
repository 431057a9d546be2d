/* SPDX-License-Identifier: Apache-2.0 */
/* The packed functions of the VM executor. */
#include <stdlib.h>
#include <string.h>

#include "../../common/args.h"
#include "../../common/dtype.h"
#include "../../common/error.h"
#include "../io_methods.h"
#include "../profile.h"
#include "executor.h"

static vm_executor* self_of(void* resource) { return resource; }

static int tensor_argument(const vm_executor* self, const tenon_args* args, size_t* index,
                           DLTensor** tensor)
{
    if (tenon_args_count(args, 2, 2) != 0 || tenon_arg_tensor(args, 1, tensor) != 0 ||
        tenon_input_argument(self, args, index) != 0)
        return -1;
    return vm_value_check(&self->program->inputs[*index], *tensor);
}

static bool has_same_shape(const tenon_array* array, const DLTensor* tensor)
{
    return array && array->tensor.ndim == tensor->ndim &&
           (tensor->ndim == 0 || memcmp(array->tensor.shape, tensor->shape,
                                        (size_t)tensor->ndim * sizeof *tensor->shape) == 0);
}

static int set_input(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_input");
    vm_executor* self = self_of(resource);
    size_t index = 0;
    DLTensor* from;
    if (tensor_argument(self, &args, &index, &from) != 0) return -1;
    if (!has_same_shape(self->inputs[index], from)) {
        tenon_array* array =
            tenon_array_new(from->shape, from->ndim, self->program->inputs[index].dtype);
        if (!array) return -1;
        tenon_array_unref(self->inputs[index]);
        self->inputs[index] = array;
    }
    self->given[index] = self->inputs[index]->tensor;
    self->is_given[index] = true;
    return tenon_tensor_copy(from, &self->given[index]) == 0 ? tenon_return_none(result) : -1;
}

static int set_input_zero_copy(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_input_zero_copy");
    vm_executor* self = self_of(resource);
    size_t index = 0;
    DLTensor* to;
    if (tensor_argument(self, &args, &index, &to) != 0) return -1;
    if (!tenon_tensor_is_compact(to) || (uintptr_t)tenon_tensor_data(to) % 64 != 0)
        return tenon_fail("memory that is used in place must be compact and aligned to 64 bytes");
    tenon_array* shape = tenon_array_new(to->shape, to->ndim, to->dtype); /* keeps the shape */
    if (!shape) return -1;
    tenon_array_unref(self->inputs[index]);
    self->inputs[index] = shape;
    self->given[index] = shape->tensor;
    self->given[index].data = tenon_tensor_data(to);
    self->is_given[index] = true;
    return tenon_return_none(result);
}

/* A copy, for the memory is used again by the next run. */
static int get(const DLTensor* tensor, const tenon_args* args, tenon_result result)
{
    if (args->count > 1) {
        DLTensor* to;
        if (tenon_arg_tensor(args, 1, &to) != 0 || tenon_tensor_copy(tensor, to) != 0) return -1;
        return tenon_return_none(result);
    }
    tenon_array* array = tenon_array_new(tensor->shape, tensor->ndim, tensor->dtype);
    if (!array) return -1;
    if (tenon_tensor_copy(tensor, &array->tensor) != 0) {
        tenon_array_unref(array);
        return -1;
    }
    return tenon_return_array(result, array);
}

static int get_input(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_input");
    const vm_executor* self = resource;
    size_t index = 0;
    if (tenon_args_count(&args, 1, 2) != 0 || tenon_input_argument(self, &args, &index) != 0)
        return -1;
    if (!self->is_given[index])
        return tenon_fail("input `%s` was not set", self->program->inputs[index].name);
    return get(&self->given[index], &args, result);
}

static int get_output(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_output");
    vm_executor* self = self_of(resource);
    const vm_program* program = self->program;
    size_t index = 0;
    if (tenon_args_count(&args, 1, 2) != 0 || tenon_output_argument(self, &args, &index) != 0)
        return -1;
    if (!self->has_run) return tenon_fail("there is no output before a run that succeeded");
    vm_tensor* value = &self->machine.tensors[program->outputs[index].reg];
    DLTensor tensor = {.data = value->data,
                       .device = {kDLCPU, 0},
                       .ndim = value->rank,
                       .dtype = value->dtype,
                       .shape = value->shape};
    return get(&tensor, &args, result);
}

/* Sizes known at run time only are -1. */
static DLTensor declared(const vm_value* value)
{
    return (DLTensor){.device = {kDLCPU, 0},
                      .ndim = value->rank,
                      .dtype = value->dtype,
                      .shape = (int64_t*)(uintptr_t)value->shape};
}

/* samples[call * repeats + r]; the first run is a warm-up. */
static int record(vm_executor* self, size_t repeats, double* samples)
{
    const size_t calls = self->program->call_count;
    for (size_t r = 0; r <= repeats; ++r) {
        memset(self->machine.call_ns, 0, calls * sizeof(int64_t));
        if (vm_executor_run(self) != 0) return -1;
        for (size_t call = 0; r > 0 && call < calls; ++call)
            samples[call * repeats + r - 1] = (double)self->machine.call_ns[call] * 1e-9;
    }
    return 0;
}

/* Bytes of one f64 per kernel call: the median of its seconds in one run, all iterations together.
 */
static int profile(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("profile");
    vm_executor* self = self_of(resource);
    const size_t calls = self->program->call_count;
    size_t repeats;
    if (tenon_profile_repeats(&args, &repeats) != 0) return -1;
    double* samples = calloc(calls * repeats + 1, sizeof *samples);
    self->machine.call_ns = calloc(calls + 1, sizeof(int64_t));
    int status = samples && self->machine.call_ns ? record(self, repeats, samples)
                                                  : tenon_fail("out of memory for times");
    free(self->machine.call_ns);
    self->machine.call_ns = NULL;
    if (status == 0) status = tenon_profile_return(samples, calls, repeats, result);
    free(samples);
    return status;
}

static const tenon_method kMethods[] = {
    {"set_input", set_input},
    {"set_input_zero_copy", set_input_zero_copy},
    {"get_input", get_input},
    {"get_output", get_output},
    {"get_num_inputs", tenon_get_num_inputs},
    {"get_num_outputs", tenon_get_num_outputs},
    {"get_input_index", tenon_get_input_index},
    {"get_input_name", tenon_get_input_name},
    {"get_input_info", tenon_get_input_info},
    {"run", tenon_run},
    {"profile", profile},
};

static int get_function(tenon_module* module, const char* name, tenon_func** out)
{
    return tenon_module_find_method(module, kMethods, sizeof kMethods / sizeof kMethods[0], name,
                                    out);
}

static void destroy(tenon_module* module)
{
    vm_executor* self = (vm_executor*)module;
    for (size_t i = 0; self->inputs && i < self->program->input_count; ++i)
        tenon_array_unref(self->inputs[i]);
    vm_machine_free(&self->machine);
    free(self->inputs);
    free(self->given);
    free(self->is_given);
    tenon_module_clear(module);
    tenon_module_unref(self->root);
    free(self);
}

static const vm_program* program_of(const void* executor)
{
    return ((const vm_executor*)executor)->program;
}

static size_t input_count(const void* executor) { return program_of(executor)->input_count; }

static size_t output_count(const void* executor) { return program_of(executor)->output_count; }

static const char* input_name(const void* executor, size_t index)
{
    return program_of(executor)->inputs[index].name;
}

static const char* output_name(const void* executor, size_t index)
{
    return program_of(executor)->outputs[index].name;
}

static DLTensor input(const void* executor, size_t index)
{
    return declared(&program_of(executor)->inputs[index]);
}

static DLTensor output(const void* executor, size_t index)
{
    return declared(&program_of(executor)->outputs[index]);
}

static int run(void* executor) { return vm_executor_run(executor); }

const tenon_executor_type vm_executor_type = {{"VirtualMachine", get_function, destroy},
                                              input_count,
                                              output_count,
                                              input_name,
                                              output_name,
                                              input,
                                              output,
                                              run};
