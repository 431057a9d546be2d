/* SPDX-License-Identifier: Apache-2.0 */
/* Names, counts and descriptions of inputs and outputs, over what an executor says of itself. */
#include "io_methods.h"

#include <string.h>

#include "../common/error.h"
#include "describe.h"

static const tenon_executor_type* type_of(const void* executor)
{
    return (const tenon_executor_type*)(const void*)((const tenon_module*)executor)->type;
}

typedef const char* (*name_reader)(const void* executor, size_t index);

static int64_t index_by_name(const void* executor, name_reader name_at, size_t count,
                             const char* wanted)
{
    for (size_t i = 0; i < count; ++i) {
        const char* name = name_at(executor, i);
        if (name && strcmp(name, wanted) == 0) return (int64_t)i;
    }
    return -1;
}

static int index_argument(const void* executor, name_reader name_at, size_t count,
                          const tenon_args* args, size_t* out)
{
    int64_t index;
    const char* name;
    if (args->count > 0 && args->codes[0] == kTVMStr) {
        if (tenon_arg_str(args, 0, &name) != 0) return -1;
        index = index_by_name(executor, name_at, count, name);
        if (index < 0) return tenon_fail("%s: there is no tensor `%s`", args->who, name);
    } else if (tenon_arg_int(args, 0, &index) != 0) {
        return -1;
    }
    if (index < 0 || (uint64_t)index >= count)
        return tenon_fail("%s: there is no tensor %lld", args->who, (long long)index);
    *out = (size_t)index;
    return 0;
}

int tenon_input_argument(const void* executor, const tenon_args* args, size_t* index)
{
    const tenon_executor_type* type = type_of(executor);
    return index_argument(executor, type->input_name, type->input_count(executor), args, index);
}

int tenon_output_argument(const void* executor, const tenon_args* args, size_t* index)
{
    const tenon_executor_type* type = type_of(executor);
    return index_argument(executor, type->output_name, type->output_count(executor), args, index);
}

int tenon_get_num_inputs(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_num_inputs");
    return tenon_return_int(result, (int64_t)type_of(resource)->input_count(resource));
}

int tenon_get_num_outputs(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_num_outputs");
    return tenon_return_int(result, (int64_t)type_of(resource)->output_count(resource));
}

int tenon_get_input_index(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_input_index");
    const tenon_executor_type* type = type_of(resource);
    const char* name;
    if (tenon_arg_str(&args, 0, &name) != 0) return -1;
    return tenon_return_int(
        result, index_by_name(resource, type->input_name, type->input_count(resource), name));
}

int tenon_get_input_name(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_input_name");
    size_t index = 0;
    if (tenon_input_argument(resource, &args, &index) != 0) return -1;
    const char* name = type_of(resource)->input_name(resource, index);
    return tenon_return_str(result, name ? name : "");
}

int tenon_get_input_info(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("get_input_info");
    const tenon_executor_type* type = type_of(resource);
    tenon_describer text = tenon_describer_new();
    for (size_t i = 0; i < type->input_count(resource); ++i) {
        const char* name = type->input_name(resource, i);
        const DLTensor tensor = type->input(resource, i);
        tenon_describe_input(&text, name ? name : "", &tensor);
    }
    for (size_t i = 0; i < type->output_count(resource); ++i) {
        const char* name = type->output_name(resource, i);
        const DLTensor tensor = type->output(resource, i);
        tenon_describe_output(&text, name ? name : "", &tensor);
    }
    return tenon_describer_return(&text, result);
}

int tenon_run(TENON_PACKED_PARAMETERS)
{
    TENON_PACKED_PROLOGUE("run");
    return type_of(resource)->run(resource) == 0 ? tenon_return_none(result) : -1;
}
