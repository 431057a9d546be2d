/* SPDX-License-Identifier: Apache-2.0 */
/* Packets and argument sequences of the session protocol. */
#include "protocol.h"

#include <string.h>

#include "../common/dtype.h"
#include "../common/error.h"
#include "../common/tensor_head.h"

enum
{
    kMaxArguments = 4096
};

size_t tenon_packet_begin(tenon_writer* writer, tenon_rpc_code code)
{
    size_t start = writer->size;
    tenon_write_u64(writer, 0);
    tenon_write_i32(writer, (int32_t)code);
    return start;
}

void tenon_packet_end(tenon_writer* writer, size_t start)
{
    if (writer->failed) return;
    uint64_t size = writer->size - start - 8;
    for (size_t i = 0; i < 8; ++i) writer->data[start + i] = (uint8_t)(size >> (8 * i));
}

int64_t tenon_packet_size(const uint8_t header[8], size_t maximum)
{
    tenon_reader reader = tenon_reader_of(header, 8);
    uint64_t size = tenon_read_u64(&reader);
    if (size < 4 || size > maximum || size > INT64_MAX)
        return tenon_fail("a packet of %llu bytes", (unsigned long long)size);
    return (int64_t)size;
}

void tenon_write_tensor(tenon_writer* writer, const DLTensor* tensor)
{
    tenon_write_u64(writer, (uint64_t)(uintptr_t)tensor->data);
    tenon_write_tensor_head(writer, tensor->device, tensor);
    tenon_write_u64(writer, tensor->byte_offset);
}

static void write_value(tenon_writer* writer, const TVMValue* value, int code)
{
    const TVMByteArray* bytes = value->v_handle;
    switch (code) {
    case kTVMArgInt:
    case kTVMArgFloat:
    case kTVMOpaqueHandle:
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle: tenon_write_i64(writer, value->v_int64); break;
    case kTVMNullptr: break;
    case kTVMDataType:
        tenon_write_u8(writer, value->v_type.code);
        tenon_write_u8(writer, value->v_type.bits);
        tenon_write_u16(writer, value->v_type.lanes);
        tenon_write_u32(writer, 0);
        break;
    case kDLDevice:
        tenon_write_i32(writer, value->v_device.device_type);
        tenon_write_i32(writer, value->v_device.device_id);
        break;
    case kTVMStr: tenon_write_string(writer, value->v_str, strlen(value->v_str)); break;
    case kTVMBytes: tenon_write_string(writer, bytes->data, bytes->size); break;
    case kTVMDLTensorHandle: tenon_write_tensor(writer, value->v_handle); break;
    default: writer->failed = true;
    }
}

void tenon_write_seq(tenon_writer* writer, const TVMValue* values, const int* codes, int count)
{
    tenon_write_i32(writer, count);
    for (int i = 0; i < count; ++i) tenon_write_i32(writer, codes[i]);
    for (int i = 0; i < count; ++i) write_value(writer, &values[i], codes[i]);
}

int tenon_read_tensor(tenon_reader* reader, tenon_arena* arena, DLTensor* out)
{
    memset(out, 0, sizeof *out);
    uint64_t handle = tenon_read_u64(reader);
    if (handle > UINTPTR_MAX) return tenon_fail("a tensor's handle is none of this server");
    out->data = (void*)(uintptr_t)handle;
    if (tenon_read_tensor_head(reader, arena, out) != 0) return -1;
    out->byte_offset = tenon_read_u64(reader);
    size_t bytes;
    if (reader->failed) return tenon_fail("a tensor is cut off");
    if (!tenon_tensor_bytes(out->shape, out->ndim, out->dtype, &bytes))
        return tenon_fail("a tensor has an impossible shape");
    return 0;
}

static int read_text(tenon_reader* reader, tenon_arena* arena, TVMValue* value)
{
    size_t length;
    const char* text = tenon_read_string(reader, &length);
    if (!text || memchr(text, 0, length)) return tenon_fail("a string is cut off or holds a NUL");
    value->v_str = tenon_arena_text(arena, text, length);
    return value->v_str ? 0 : -1;
}

static int read_byte_array(tenon_reader* reader, tenon_arena* arena, TVMValue* value)
{
    TVMByteArray* bytes = tenon_arena_alloc(arena, 1, sizeof *bytes);
    if (!bytes) return -1;
    bytes->data = tenon_read_string(reader, &bytes->size);
    value->v_handle = bytes;
    return bytes->data ? 0 : tenon_fail("bytes are cut off");
}

static int read_value(tenon_reader* reader, tenon_arena* arena, int code, TVMValue* value)
{
    switch (code) {
    case kTVMArgInt:
    case kTVMArgFloat:
    case kTVMOpaqueHandle:
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle: value->v_int64 = tenon_read_i64(reader); return 0;
    case kTVMNullptr: return 0;
    case kTVMDataType:
        value->v_type.code = tenon_read_u8(reader);
        value->v_type.bits = tenon_read_u8(reader);
        value->v_type.lanes = tenon_read_u16(reader);
        tenon_read_u32(reader);
        return 0;
    case kDLDevice:
        value->v_device.device_type = tenon_read_i32(reader);
        value->v_device.device_id = tenon_read_i32(reader);
        return 0;
    case kTVMStr: return read_text(reader, arena, value);
    case kTVMBytes: return read_byte_array(reader, arena, value);
    case kTVMDLTensorHandle:
        value->v_handle = tenon_arena_alloc(arena, 1, sizeof(DLTensor));
        return value->v_handle ? tenon_read_tensor(reader, arena, value->v_handle) : -1;
    default: return tenon_fail("an argument of type code %d cannot travel", code);
    }
}

int tenon_read_seq(tenon_reader* reader, tenon_arena* arena, tenon_rpc_seq* out)
{
    int32_t count = tenon_read_i32(reader);
    if (reader->failed || count < 0 || count > kMaxArguments)
        return tenon_fail("a sequence of %d arguments", count);
    out->count = count;
    out->values = tenon_arena_alloc(arena, (size_t)count + 1, sizeof(TVMValue));
    out->codes = tenon_arena_alloc(arena, (size_t)count + 1, sizeof(int));
    if (!out->values || !out->codes) return -1;
    for (int i = 0; i < count; ++i) out->codes[i] = tenon_read_i32(reader);
    for (int i = 0; i < count; ++i)
        if (reader->failed || read_value(reader, arena, out->codes[i], &out->values[i]) != 0)
            return tenon_fail_within("argument sequence");
    return reader->failed ? tenon_fail("an argument sequence is cut off") : 0;
}
