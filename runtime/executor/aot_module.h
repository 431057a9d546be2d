/* SPDX-License-Identifier: Apache-2.0 */
/* The AOT executor as a module. */
#ifndef TENON_RUNTIME_AOT_MODULE_H
#define TENON_RUNTIME_AOT_MODULE_H

#include "../common/arena.h"
#include "../common/object.h"
#include "io_methods.h"

typedef struct
{
    tenon_module base;
    tenon_module* root; /* the factory; keeps the library; owned reference */
    tenon_arena arena;
    const TVMMetadata* metadata; /* in the library */
    tenon_func* main;
    tenon_func* instrumented; /* or NULL */
    size_t input_count;
    size_t output_count;
    tenon_array** arrays; /* memory of inputs, outputs, constants and pools in order of arguments */
    DLTensor* tensors;    /* what the run is given: the arrays, or memory lent by the caller */
    size_t array_count;
    TVMValue* values;
    int* codes;
} tenon_aot_executor;

extern const tenon_executor_type tenon_aot_executor_type;

/** Calls `entry` (main or instrumented) with all tensors. */
int tenon_aot_executor_run(tenon_aot_executor* self, tenon_func* entry);

#endif
