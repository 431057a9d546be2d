/* SPDX-License-Identifier: Apache-2.0 */
/* What stands before a tensor's data. */
#include "tensor_head.h"

#include "dtype.h"
#include "error.h"

int tenon_read_tensor_head(tenon_reader* reader, tenon_arena* arena, DLTensor* out)
{
    out->device.device_type = tenon_read_i32(reader);
    out->device.device_id = tenon_read_i32(reader);
    out->ndim = tenon_read_i32(reader);
    out->dtype.code = tenon_read_u8(reader);
    out->dtype.bits = tenon_read_u8(reader);
    out->dtype.lanes = tenon_read_u16(reader);
    if (reader->failed || out->ndim < 0 || out->ndim > kTenonMaxRank)
        return tenon_fail("a tensor is cut off or has a bad rank");
    out->shape = tenon_arena_alloc(arena, (size_t)out->ndim + 1, sizeof(int64_t));
    if (!out->shape) return -1;
    for (int32_t i = 0; i < out->ndim; ++i) out->shape[i] = tenon_read_i64(reader);
    return 0;
}

void tenon_write_tensor_head(tenon_writer* writer, DLDevice device, const DLTensor* tensor)
{
    tenon_write_i32(writer, (int32_t)device.device_type);
    tenon_write_i32(writer, device.device_id);
    tenon_write_i32(writer, tensor->ndim);
    tenon_write_u8(writer, tensor->dtype.code);
    tenon_write_u8(writer, tensor->dtype.bits);
    tenon_write_u16(writer, tensor->dtype.lanes);
    for (int32_t i = 0; i < tensor->ndim; ++i) tenon_write_i64(writer, tensor->shape[i]);
}
