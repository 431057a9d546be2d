/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised arrays and named parameters. */
#ifndef TENON_RUNTIME_PARAMS_H
#define TENON_RUNTIME_PARAMS_H

#include "../common/arena.h"
#include "../common/bytes.h"
#include "../include/tenon/dlpack.h"

/** A parameter whose data lies, possibly unaligned, in the bytes it was read from. */
typedef struct
{
    const char* name;
    DLTensor tensor;
} tenon_param;

typedef struct
{
    tenon_param* items;
    size_t count;
} tenon_params;

/** One serialised array; shape in the arena, data borrowed. 0 or -1. */
int tenon_read_ndarray(tenon_reader* reader, tenon_arena* arena, DLTensor* out);
/** Count, names, arrays: as executor factories hold them. */
int tenon_read_factory_params(tenon_reader* reader, tenon_arena* arena, tenon_params* out);
/** A whole params file, as runtime.save_param_dict writes it. */
int tenon_read_params_file(const void* data, size_t size, tenon_arena* arena, tenon_params* out);
/** The inverse of tenon_read_params_file. */
void tenon_write_params_file(tenon_writer* writer, const tenon_params* params);

#endif
