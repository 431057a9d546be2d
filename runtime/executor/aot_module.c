/* SPDX-License-Identifier: Apache-2.0 */
/* The packed functions of the AOT executor. */
#include "aot_module.h"

#include <stdlib.h>
#include <string.h>

#include "../common/args.h"
#include "../common/dtype.h"
#include "../common/error.h"
#include "io_methods.h"
#include "profile.h"

static tenon_aot_executor* self_of(void* resource) { return resource; }

/* As a tensor of the executor: outputs stand behind inputs. */
static int output_argument(const tenon_aot_executor* self, const tenon_args* args, size_t* out)
{
    if (tenon_output_argument(self, args, out) != 0) return -1;
    *out += self->input_count;
    return 0;
}

static int check_fits(const DLTensor* ours, const DLTensor* theirs)
{
    bool is_same = ours->ndim == theirs->ndim && tenon_dtype_equal(ours->dtype, theirs->dtype);
    for (int32_t i = 0; is_same && i < ours->ndim; ++i)
        is_same = ours->shape[i] == theirs->shape[i];
    return is_same ? 0 : tenon_fail("shape or type differ from what the model declares");
}

static int set_input(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_input");
    tenon_aot_executor* self = self_of(resource);
    size_t index = 0;
    DLTensor* from;
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_tensor(&args, 1, &from) != 0 ||
        tenon_input_argument(self, &args, &index) != 0 ||
        check_fits(&self->tensors[index], from) != 0)
        return -1;
    self->tensors[index].data = self->arrays[index]->tensor.data; /* ends an earlier zero copy */
    return tenon_tensor_copy(from, &self->tensors[index]) == 0 ? tenon_return_none(result) : -1;
}

static int lend(tenon_aot_executor* self, size_t index, const DLTensor* to, tenon_result result)
{
    if (check_fits(&self->tensors[index], to) != 0) return -1;
    if (!tenon_tensor_is_compact(to) || (uintptr_t)tenon_tensor_data(to) % 64 != 0)
        return tenon_fail("memory that is used in place must be compact and aligned to 64 bytes");
    self->tensors[index].data = tenon_tensor_data(to);
    return tenon_return_none(result);
}

static int set_input_zero_copy(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_input_zero_copy");
    size_t index = 0;
    DLTensor* to;
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_tensor(&args, 1, &to) != 0 ||
        tenon_input_argument(resource, &args, &index) != 0)
        return -1;
    return lend(resource, index, to, result);
}

static int set_output_zero_copy(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("set_output_zero_copy");
    size_t index = 0;
    DLTensor* to;
    if (tenon_args_count(&args, 2, 2) != 0 || tenon_arg_tensor(&args, 1, &to) != 0 ||
        output_argument(self_of(resource), &args, &index) != 0)
        return -1;
    return lend(resource, index, to, result);
}

/* The tensor itself, or a copy into argument 1. */
static int get(tenon_aot_executor* self, const tenon_args* args, size_t index, tenon_result result)
{
    if (args->count > 1) {
        DLTensor* to;
        if (tenon_arg_tensor(args, 1, &to) != 0 ||
            tenon_tensor_copy(&self->tensors[index], to) != 0)
            return -1;
        return tenon_return_none(result);
    }
    if (self->tensors[index].data == self->arrays[index]->tensor.data)
        return tenon_return_array(result, tenon_array_ref(self->arrays[index]));
    tenon_array* view = tenon_array_view(&self->tensors[index], NULL, NULL);
    return view ? tenon_return_array(result, view) : -1;
}

static int get_input(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_input");
    size_t index = 0;
    if (tenon_args_count(&args, 1, 2) != 0 || tenon_input_argument(resource, &args, &index) != 0)
        return -1;
    return get(resource, &args, index, result);
}

static int get_output(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_output");
    size_t index = 0;
    if (tenon_args_count(&args, 1, 2) != 0 ||
        output_argument(self_of(resource), &args, &index) != 0)
        return -1;
    return get(resource, &args, index, result);
}

static int run_instrumented(void* context)
{
    tenon_aot_executor* self = context;
    return tenon_aot_executor_run(self, self->instrumented);
}

/* Bytes of one f64 per kernel call: the median of its seconds. */
static int profile(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("profile");
    size_t repeats;
    if (!self_of(resource)->instrumented)
        return tenon_fail("profile: the library was built without __tenon_profile__");
    if (tenon_profile_repeats(&args, &repeats) != 0) return -1;
    return tenon_profile_marks(run_instrumented, resource, repeats, result);
}

static const tenon_method kMethods[] = {
    {"set_input", set_input},
    {"set_input_zero_copy", set_input_zero_copy},
    {"set_output_zero_copy", set_output_zero_copy},
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
    tenon_aot_executor* self = (tenon_aot_executor*)module;
    for (size_t i = 0; i < self->array_count; ++i) tenon_array_unref(self->arrays[i]);
    tenon_func_unref(self->main);
    tenon_func_unref(self->instrumented);
    tenon_module_clear(module);
    tenon_module_unref(self->root);
    tenon_arena_free(&self->arena);
    free(self);
}

static size_t input_count(const void* executor)
{
    return ((const tenon_aot_executor*)executor)->input_count;
}

static size_t output_count(const void* executor)
{
    return ((const tenon_aot_executor*)executor)->output_count;
}

static const char* input_name(const void* executor, size_t index)
{
    return ((const tenon_aot_executor*)executor)->metadata->inputs[index].name;
}

static const char* output_name(const void* executor, size_t index)
{
    return ((const tenon_aot_executor*)executor)->metadata->outputs[index].name;
}

static DLTensor input(const void* executor, size_t index)
{
    return ((const tenon_aot_executor*)executor)->tensors[index];
}

static DLTensor output(const void* executor, size_t index)
{
    const tenon_aot_executor* self = executor;
    return self->tensors[self->input_count + index];
}

static int run(void* executor)
{
    tenon_aot_executor* self = executor;
    return tenon_aot_executor_run(self, self->main);
}

const tenon_executor_type tenon_aot_executor_type = {{"AotExecutor", get_function, destroy},
                                                     input_count,
                                                     output_count,
                                                     input_name,
                                                     output_name,
                                                     input,
                                                     output,
                                                     run};
