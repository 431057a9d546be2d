/* SPDX-License-Identifier: Apache-2.0 */
/* The packed functions that every executor has: they need to know its inputs and outputs only. */
#ifndef TENON_RUNTIME_IO_METHODS_H
#define TENON_RUNTIME_IO_METHODS_H

#include "../common/args.h"
#include "../common/object.h"

typedef struct
{
    tenon_module_type type; /* first: this is what a module points to */
    size_t (*input_count)(const void* executor);
    size_t (*output_count)(const void* executor);
    const char* (*input_name)(const void* executor, size_t index); /* NULL: it has none */
    const char* (*output_name)(const void* executor, size_t index);
    DLTensor (*input)(const void* executor, size_t index); /* type and shape */
    DLTensor (*output)(const void* executor, size_t index);
    int (*run)(void* executor);
} tenon_executor_type;

/** Argument 0 as an input: its name or its number. */
int tenon_input_argument(const void* executor, const tenon_args* args, size_t* index);
int tenon_output_argument(const void* executor, const tenon_args* args, size_t* index);

int tenon_get_num_inputs(TENON_PACKED_PARAMETERS);
int tenon_get_num_outputs(TENON_PACKED_PARAMETERS);
int tenon_get_input_index(TENON_PACKED_PARAMETERS); /* -1 for other names */
int tenon_get_input_name(TENON_PACKED_PARAMETERS);
int tenon_get_input_info(TENON_PACKED_PARAMETERS);
int tenon_run(TENON_PACKED_PARAMETERS);

#endif
