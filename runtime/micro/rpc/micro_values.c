/* SPDX-License-Identifier: MIT-0 */
/* Little-endian numbers, byte by byte: packets are aligned to nothing. */
#include "micro_values.h"

#include <string.h>

const uint8_t* micro_read_bytes(micro_reader* reader, uint64_t size)
{
    const uint8_t* at = reader->at;
    if (reader->failed || size > reader->left) {
        reader->failed = 1;
        return NULL;
    }
    reader->at += size;
    reader->left -= (size_t)size;
    return at;
}

uint64_t micro_read_u64(micro_reader* reader)
{
    const uint32_t low = micro_read_u32(reader);
    return low | (uint64_t)micro_read_u32(reader) << 32;
}

uint32_t micro_read_u32(micro_reader* reader)
{
    const uint8_t* at = micro_read_bytes(reader, 4);
    if (!at) return 0;
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static DLDataType read_dtype(micro_reader* reader)
{
    const uint32_t word = micro_read_u32(reader);
    const DLDataType dtype = {(uint8_t)word, (uint8_t)(word >> 8), (uint16_t)(word >> 16)};
    return dtype;
}

void micro_read_tensor(micro_reader* reader, micro_tensor* out)
{
    out->address = micro_read_u64(reader);
    micro_read_u64(reader); /* the device; there is one */
    out->ndim = (int32_t)micro_read_u32(reader);
    out->dtype = read_dtype(reader);
    if (out->ndim < 0 || out->ndim > kMicroMostDims) {
        reader->failed = 1;
        out->ndim = 0;
    }
    for (int32_t i = 0; i < out->ndim; ++i) out->shape[i] = (int64_t)micro_read_u64(reader);
    out->address += micro_read_u64(reader);
}

size_t micro_tensor_bytes(const micro_tensor* tensor, uint8_t* failed)
{
    uint64_t bytes = (tensor->dtype.bits * (uint32_t)tensor->dtype.lanes + 7u) / 8u;
    if (bytes == 0) *failed = 1;
    for (int32_t i = 0; i < tensor->ndim; ++i) {
        if (tensor->shape[i] < 0 || tensor->shape[i] > INT32_MAX) *failed = 1;
        if (*failed) return 0;
        bytes *= (uint64_t)tensor->shape[i];
        if (bytes > INT32_MAX) *failed = 1;
    }
    return *failed ? 0 : (size_t)bytes;
}

static void read_value(micro_reader* reader, micro_arguments* all, micro_value* value)
{
    switch (value->code) {
    case kTVMNullptr: return;
    case kTVMArgInt:
    case kTVMArgFloat:
    case kTVMOpaqueHandle:
    case kTVMModuleHandle:
    case kTVMPackedFuncHandle:
    case kTVMDataType: /* with padding */
    case kDLDevice: value->as.handle = micro_read_u64(reader); return;
    case kTVMStr:
    case kTVMBytes: {
        const uint64_t size = micro_read_u64(reader);
        value->bytes = micro_read_bytes(reader, size);
        value->size = value->bytes ? (size_t)size : 0;
        return;
    }
    case kTVMDLTensorHandle: {
        if (all->tensor_count == kMicroMostTensors) {
            reader->failed = 1;
            return;
        }
        micro_tensor* tensor = &all->tensors[all->tensor_count++];
        micro_read_tensor(reader, tensor);
        value->as.tensor = tensor;
        return;
    }
    default: reader->failed = 1;
    }
}

void micro_read_arguments(micro_reader* reader, micro_arguments* out)
{
    out->tensor_count = 0;
    out->count = (int32_t)micro_read_u32(reader);
    if (out->count < 0 || out->count > kMicroMostArguments) {
        reader->failed = 1;
        out->count = 0;
    }
    memset(out->values, 0, sizeof out->values);
    for (int32_t i = 0; i < out->count; ++i) out->values[i].code = (int32_t)micro_read_u32(reader);
    for (int32_t i = 0; i < out->count && !reader->failed; ++i)
        read_value(reader, out, &out->values[i]);
}

int micro_is_text(const micro_value* value, const char* text)
{
    const size_t size = strlen(text);
    return value->code == kTVMStr && value->size == size && memcmp(value->bytes, text, size) == 0;
}

void micro_write_bytes(micro_writer* writer, const void* bytes, size_t size)
{
    if (writer->failed || size > writer->capacity - writer->size) {
        writer->failed = 1;
        return;
    }
    if (size > 0) memcpy(writer->bytes + writer->size, bytes, size);
    writer->size += size;
}

void micro_write_u32(micro_writer* writer, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    micro_write_bytes(writer, bytes, sizeof bytes);
}

void micro_write_u64(micro_writer* writer, uint64_t value)
{
    micro_write_u32(writer, (uint32_t)value);
    micro_write_u32(writer, (uint32_t)(value >> 32));
}

/* Processors of 8 bits have doubles of 4 bytes: widened by hand, zeros and the smallest as 0. */
void micro_write_double(micro_writer* writer, double value)
{
    if (sizeof value == sizeof(uint64_t)) {
        uint64_t bits = 0;
        memcpy(&bits, &value, sizeof value);
        micro_write_u64(writer, bits);
        return;
    }
    uint32_t narrow = 0;
    memcpy(&narrow, &value, sizeof narrow);
    const uint64_t sign = (uint64_t)(narrow >> 31) << 63, exponent = narrow >> 23 & 0xFFu;
    const uint64_t fraction = (uint64_t)(narrow & 0x7FFFFFu) << 29;
    micro_write_u64(writer, exponent ? sign | (exponent + 1023 - 127) << 52 | fraction : sign);
}

void micro_write_text(micro_writer* writer, const char* text)
{
    const size_t size = strlen(text);
    micro_write_u64(writer, size);
    micro_write_bytes(writer, text, size);
}

void micro_write_tensor(micro_writer* writer, const micro_tensor* tensor)
{
    micro_write_u64(writer, tensor->address);
    micro_write_u32(writer, kDLCPU);
    micro_write_u32(writer, 0);
    micro_write_u32(writer, (uint32_t)tensor->ndim);
    micro_write_u32(writer, tensor->dtype.code | (uint32_t)tensor->dtype.bits << 8 |
                                (uint32_t)tensor->dtype.lanes << 16);
    for (int32_t i = 0; i < tensor->ndim; ++i) micro_write_u64(writer, (uint64_t)tensor->shape[i]);
    micro_write_u64(writer, 0);
}
