/* SPDX-License-Identifier: Apache-2.0 */
/* Serialised arrays and named parameters. */
#include "params.h"

#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"
#include "../common/tensor_head.h"

#define ARRAY_MAGIC UINT64_C(0xDD5E40F096B4A13F)
#define PARAMS_MAGIC UINT64_C(0xF7E58D4F05049CB7)

int tenon_read_ndarray(tenon_reader* reader, tenon_arena* arena, DLTensor* out)
{
    if (tenon_read_u64(reader) != ARRAY_MAGIC)
        return tenon_fail("an array does not start with its magic");
    tenon_read_u64(reader); /* reserved */
    memset(out, 0, sizeof *out);
    if (tenon_read_tensor_head(reader, arena, out) != 0) return -1;
    uint64_t size = tenon_read_u64(reader);
    size_t expected;
    if (reader->failed || !tenon_tensor_bytes(out->shape, out->ndim, out->dtype, &expected) ||
        size != expected)
        return tenon_fail("the size of an array does not fit its shape");
    out->data = (void*)(uintptr_t)tenon_read_bytes(reader, size);
    return reader->failed ? tenon_fail("the data of an array is cut off") : 0;
}

static int read_names(tenon_reader* reader, tenon_arena* arena, tenon_params* out)
{
    size_t count = tenon_read_count(reader, 8);
    out->count = count;
    out->items = tenon_arena_alloc(arena, count + 1, sizeof *out->items);
    if (!out->items) return -1;
    for (size_t i = 0; i < count; ++i) {
        size_t length;
        const char* name = tenon_read_string(reader, &length);
        if (!name) return tenon_fail("the parameter names are cut off");
        out->items[i].name = tenon_arena_text(arena, name, length);
        if (!out->items[i].name) return -1;
    }
    return reader->failed ? tenon_fail("the parameter names are cut off") : 0;
}

static int read_arrays(tenon_reader* reader, tenon_arena* arena, uint64_t count, tenon_params* out)
{
    if (count != out->count || reader->failed)
        return tenon_fail("there are not as many parameters as names");
    for (size_t i = 0; i < count; ++i)
        if (tenon_read_ndarray(reader, arena, &out->items[i].tensor) != 0)
            return tenon_fail_within(out->items[i].name);
    return 0;
}

int tenon_read_factory_params(tenon_reader* reader, tenon_arena* arena, tenon_params* out)
{
    uint64_t count = tenon_read_u64(reader);
    return read_names(reader, arena, out) == 0 ? read_arrays(reader, arena, count, out) : -1;
}

int tenon_read_params_file(const void* data, size_t size, tenon_arena* arena, tenon_params* out)
{
    tenon_reader reader = tenon_reader_of(data, size);
    if (tenon_read_u64(&reader) != PARAMS_MAGIC)
        return tenon_fail("these bytes are not a parameter file");
    tenon_read_u64(&reader); /* reserved */
    if (read_names(&reader, arena, out) != 0) return -1;
    uint64_t count = tenon_read_u64(&reader);
    return read_arrays(&reader, arena, count, out);
}

static void write_ndarray(tenon_writer* writer, const DLTensor* tensor)
{
    size_t bytes = 0;
    tenon_tensor_bytes(tensor->shape, tensor->ndim, tensor->dtype, &bytes);
    tenon_write_u64(writer, ARRAY_MAGIC);
    tenon_write_u64(writer, 0);
    tenon_write_tensor_head(writer, (DLDevice){kDLCPU, 0}, tensor);
    tenon_write_u64(writer, bytes);
    tenon_write_bytes(writer, tenon_tensor_data(tensor), bytes);
}

void tenon_write_params_file(tenon_writer* writer, const tenon_params* params)
{
    tenon_write_u64(writer, PARAMS_MAGIC);
    tenon_write_u64(writer, 0);
    tenon_write_u64(writer, params->count);
    for (size_t i = 0; i < params->count; ++i)
        tenon_write_string(writer, params->items[i].name, strlen(params->items[i].name));
    tenon_write_u64(writer, params->count);
    for (size_t i = 0; i < params->count; ++i) write_ndarray(writer, &params->items[i].tensor);
}
