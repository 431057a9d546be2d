/* SPDX-License-Identifier: Apache-2.0 */
/* Packed functions: creation, calls, and results set by functions of the embedder. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "error.h"

tenon_func* tenon_func_new(TVMBackendPackedCFunc call, void* resource, tenon_module* owner)
{
    tenon_func* func = calloc(1, sizeof *func);
    if (!func) {
        tenon_fail("out of memory for a function");
        return NULL;
    }
    atomic_init(&func->refs, 1);
    func->call = call;
    func->resource = resource;
    func->owner = owner ? tenon_module_ref(owner) : NULL;
    return func;
}

tenon_func* tenon_func_ref(tenon_func* func)
{
    atomic_fetch_add(&func->refs, 1);
    return func;
}

void tenon_func_unref(tenon_func* func)
{
    if (!func || atomic_fetch_sub(&func->refs, 1) != 1) return;
    if (func->release) func->release(func->resource);
    tenon_module_unref(func->owner);
    free(func);
}

int TVMFuncFree(TVMFunctionHandle func)
{
    tenon_func_unref(func);
    return 0;
}

int TVMFuncCall(TVMFunctionHandle handle, TVMValue* arg_values, int* type_codes, int num_args,
                TVMValue* ret_val, int* ret_type_code)
{
    tenon_func* func = handle;
    if (!func) return tenon_fail("a function is called that does not exist");
    TVMValue value = {.v_handle = NULL};
    int code = kTVMNullptr;
    int status;
    if (func->host_call) {
        tenon_result result = {&value, &code};
        status = func->host_call(arg_values, type_codes, num_args, &result, func->resource);
    } else {
        status = func->call(arg_values, type_codes, num_args, &value, &code, func->resource);
    }
    if (ret_val) *ret_val = value;
    if (ret_type_code) *ret_type_code = code;
    return status;
}

/* What is returned is borrowed from the embedder: take a reference or a copy. */
int TVMCFuncSetReturn(TVMRetValueHandle ret, TVMValue* value, int* type_code, int num_ret)
{
    const tenon_result result = *(tenon_result*)ret;
    if (num_ret != 1) return tenon_fail("a function returns exactly one value");
    switch (*type_code) {
    case kTVMStr: return tenon_return_str(result, value->v_str);
    case kTVMBytes: {
        const TVMByteArray* bytes = value->v_handle;
        return tenon_return_bytes(result, bytes->data, bytes->size);
    }
    case kTVMNDArrayHandle: return tenon_return_array(result, tenon_array_ref(value->v_handle));
    case kTVMModuleHandle: return tenon_return_module(result, tenon_module_ref(value->v_handle));
    case kTVMPackedFuncHandle: return tenon_return_func(result, tenon_func_ref(value->v_handle));
    default:
        *result.value = *value;
        *result.code = *type_code;
        return 0;
    }
}

int TVMFuncCreateFromCFunc(TVMPackedCFunc call, void* resource_handle, TVMPackedCFuncFinalizer fin,
                           TVMFunctionHandle* out)
{
    tenon_func* func = tenon_func_new(NULL, resource_handle, NULL);
    if (!func) return -1;
    func->host_call = call;
    func->release = fin;
    *out = func;
    return 0;
}
