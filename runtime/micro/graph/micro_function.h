/* SPDX-License-Identifier: MIT-0 */
/* A kernel behind TVM's packed signature, by name. */
#ifndef TENON_MICRO_FUNCTION_H
#define TENON_MICRO_FUNCTION_H

#include <stdint.h>

#include "../../include/tenon/c_runtime_api.h"

typedef int32_t (*tenon_micro_call)(TVMValue* args, int32_t* type_codes, int32_t num_args,
                                    TVMValue* out_value, int32_t* out_type_code, void* resource);

typedef struct
{
    const char* name; /* as the graph calls it */
    tenon_micro_call call;
} tenon_micro_function;

#endif
