/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the arguments of packed calls and setting their results. */
#ifndef TENON_RUNTIME_ARGS_H
#define TENON_RUNTIME_ARGS_H

#include "object.h"

/** The arguments of one call; `who` stands at the front of error texts. */
typedef struct
{
    const char* who;
    const TVMValue* values;
    const int* codes;
    int count;
} tenon_args;

/** -1 with a text unless there are between `least` and `most` arguments. */
int tenon_args_count(const tenon_args* args, int least, int most);
int tenon_arg_int(const tenon_args* args, int index, int64_t* out);
int tenon_arg_str(const tenon_args* args, int index, const char** out);
/** A string or byte array, borrowed. */
int tenon_arg_bytes(const tenon_args* args, int index, TVMByteArray* out);
int tenon_arg_tensor(const tenon_args* args, int index, DLTensor** out);
int tenon_arg_module(const tenon_args* args, int index, tenon_module** out);
int tenon_arg_device(const tenon_args* args, int index, DLDevice* out);

/** Where the result goes. */
typedef struct
{
    TVMValue* value;
    int* code;
} tenon_result;

int tenon_return_none(tenon_result result);
int tenon_return_int(tenon_result result, int64_t value);
/** Copies into memory of this thread that lives until its next such result. */
int tenon_return_str(tenon_result result, const char* text);
int tenon_return_bytes(tenon_result result, const void* data, size_t size);
/** The caller's reference passes to the receiver; NULL returns nothing. */
int tenon_return_array(tenon_result result, tenon_array* array);
int tenon_return_module(tenon_result result, tenon_module* module);
int tenon_return_func(tenon_result result, tenon_func* func);

/** Declares the usual locals of a packed C function called `who_text`. */
#define TENON_PACKED_PROLOGUE(who_text)                                                            \
    const tenon_args args = {who_text, arg_values, arg_codes, arg_count};                          \
    const tenon_result result = {ret_value, ret_code};                                             \
    (void)args;                                                                                    \
    (void)result;                                                                                  \
    (void)resource
#define TENON_PACKED_PARAMETERS                                                                    \
    TVMValue *arg_values, int *arg_codes, int arg_count, TVMValue *ret_value, int *ret_code,       \
        void *resource

#endif
