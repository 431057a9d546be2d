/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the arguments of packed calls and setting their results. */
#include "args.h"

#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "thread_state.h"

int tenon_args_count(const tenon_args* args, int least, int most)
{
    if (args->count >= least && args->count <= most) return 0;
    return tenon_fail("%s: num_args should be %d, not %d", args->who,
                      args->count < least ? least : most, args->count);
}

static int wrong(const tenon_args* args, int index, const char* wanted)
{
    return tenon_fail("%s: Expect arg[%d] to be %s", args->who, index, wanted);
}

int tenon_arg_int(const tenon_args* args, int index, int64_t* out)
{
    if (index >= args->count || args->codes[index] != kTVMArgInt) return wrong(args, index, "int");
    *out = args->values[index].v_int64;
    return 0;
}

int tenon_arg_str(const tenon_args* args, int index, const char** out)
{
    if (index >= args->count || args->codes[index] != kTVMStr || !args->values[index].v_str)
        return wrong(args, index, "str");
    *out = args->values[index].v_str;
    return 0;
}

int tenon_arg_bytes(const tenon_args* args, int index, TVMByteArray* out)
{
    if (index < args->count && args->codes[index] == kTVMBytes && args->values[index].v_handle) {
        *out = *(const TVMByteArray*)args->values[index].v_handle;
        return 0;
    }
    const char* text = NULL;
    if (tenon_arg_str(args, index, &text) != 0) return wrong(args, index, "bytes");
    *out = (TVMByteArray){text, strlen(text)};
    return 0;
}

int tenon_arg_tensor(const tenon_args* args, int index, DLTensor** out)
{
    int code = index < args->count ? args->codes[index] : kTVMNullptr;
    if ((code != kTVMDLTensorHandle && code != kTVMNDArrayHandle) || !args->values[index].v_handle)
        return wrong(args, index, "tensor");
    *out = args->values[index].v_handle;
    return 0;
}

int tenon_arg_module(const tenon_args* args, int index, tenon_module** out)
{
    if (index >= args->count || args->codes[index] != kTVMModuleHandle ||
        !args->values[index].v_handle)
        return wrong(args, index, "module");
    *out = args->values[index].v_handle;
    return 0;
}

int tenon_arg_device(const tenon_args* args, int index, DLDevice* out)
{
    if (index >= args->count || args->codes[index] != kDLDevice)
        return wrong(args, index, "device");
    *out = args->values[index].v_device;
    return 0;
}

static int set(tenon_result result, TVMValue value, int code)
{
    *result.value = value;
    *result.code = code;
    return 0;
}

int tenon_return_none(tenon_result result)
{
    return set(result, (TVMValue){.v_handle = NULL}, kTVMNullptr);
}

int tenon_return_int(tenon_result result, int64_t value)
{
    return set(result, (TVMValue){.v_int64 = value}, kTVMArgInt);
}

/* Keeps a terminated copy for this thread. */
static tenon_thread_state* keep(const void* data, size_t size)
{
    tenon_thread_state* state = tenon_thread_state_get();
    if (!state || size > SIZE_MAX / 4) return NULL;
    if (state->returned_capacity < size + 1) {
        char* memory = realloc(state->returned_memory, size + 1);
        if (!memory) return NULL;
        state->returned_memory = memory;
        state->returned_capacity = size + 1;
    }
    if (size) memmove(state->returned_memory, data, size);
    state->returned_memory[size] = 0;
    state->returned = (TVMByteArray){state->returned_memory, size};
    return state;
}

int tenon_return_str(tenon_result result, const char* text)
{
    tenon_thread_state* state = keep(text, strlen(text));
    if (!state) return tenon_fail("out of memory for a result");
    return set(result, (TVMValue){.v_str = state->returned_memory}, kTVMStr);
}

int tenon_return_bytes(tenon_result result, const void* data, size_t size)
{
    tenon_thread_state* state = keep(data, size);
    if (!state) return tenon_fail("out of memory for a result of %zu bytes", size);
    return set(result, (TVMValue){.v_handle = &state->returned}, kTVMBytes);
}

int tenon_return_array(tenon_result result, tenon_array* array)
{
    return set(result, (TVMValue){.v_handle = array}, array ? kTVMNDArrayHandle : kTVMNullptr);
}

int tenon_return_module(tenon_result result, tenon_module* module)
{
    return set(result, (TVMValue){.v_handle = module}, module ? kTVMModuleHandle : kTVMNullptr);
}

int tenon_return_func(tenon_result result, tenon_func* func)
{
    return set(result, (TVMValue){.v_handle = func}, func ? kTVMPackedFuncHandle : kTVMNullptr);
}
