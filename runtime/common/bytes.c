/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds-checked little-endian reading and writing. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

tenon_reader tenon_reader_of(const void* data, size_t size)
{
    tenon_reader reader = {data, size, 0, false};
    return reader;
}

size_t tenon_reader_left(const tenon_reader* reader)
{
    return reader->failed ? 0 : reader->size - reader->at;
}

const uint8_t* tenon_read_bytes(tenon_reader* reader, uint64_t size)
{
    if (reader->failed || size > reader->size - reader->at) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t* bytes = reader->data + reader->at;
    reader->at += (size_t)size;
    return bytes;
}

static uint64_t read_integer(tenon_reader* reader, size_t size)
{
    const uint8_t* bytes = tenon_read_bytes(reader, size);
    uint64_t value = 0;
    for (size_t i = 0; bytes && i < size; ++i) value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint8_t tenon_read_u8(tenon_reader* reader) { return (uint8_t)read_integer(reader, 1); }
uint16_t tenon_read_u16(tenon_reader* reader) { return (uint16_t)read_integer(reader, 2); }
uint32_t tenon_read_u32(tenon_reader* reader) { return (uint32_t)read_integer(reader, 4); }
int32_t tenon_read_i32(tenon_reader* reader) { return (int32_t)tenon_read_u32(reader); }
uint64_t tenon_read_u64(tenon_reader* reader) { return read_integer(reader, 8); }
int64_t tenon_read_i64(tenon_reader* reader) { return (int64_t)tenon_read_u64(reader); }

size_t tenon_read_count(tenon_reader* reader, size_t item_bytes)
{
    uint64_t count = tenon_read_u64(reader);
    if (count > tenon_reader_left(reader) / item_bytes) {
        reader->failed = true;
        return 0;
    }
    return (size_t)count;
}

const char* tenon_read_string(tenon_reader* reader, size_t* length)
{
    *length = tenon_read_count(reader, 1);
    return (const char*)tenon_read_bytes(reader, *length);
}

tenon_writer tenon_writer_of(size_t maximum)
{
    tenon_writer writer = {NULL, 0, 0, maximum, false};
    return writer;
}

void tenon_writer_free(tenon_writer* writer)
{
    free(writer->data);
    *writer = tenon_writer_of(writer->maximum);
}

static bool reserve(tenon_writer* writer, size_t size)
{
    if (writer->failed || size > writer->maximum - writer->size) return false;
    size_t needed = writer->size + size;
    if (needed <= writer->capacity) return true;
    size_t capacity = writer->capacity * 2 > needed ? writer->capacity * 2 : needed + 64;
    if (capacity > writer->maximum) capacity = writer->maximum;
    uint8_t* data = realloc(writer->data, capacity);
    if (!data) return false;
    writer->data = data;
    writer->capacity = capacity;
    return true;
}

void tenon_write_bytes(tenon_writer* writer, const void* data, size_t size)
{
    if (!reserve(writer, size)) {
        writer->failed = true;
        return;
    }
    if (size) memcpy(writer->data + writer->size, data, size);
    writer->size += size;
}

static void write_integer(tenon_writer* writer, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < size; ++i) bytes[i] = (uint8_t)(value >> (8 * i));
    tenon_write_bytes(writer, bytes, size);
}

void tenon_write_u8(tenon_writer* writer, uint8_t value) { write_integer(writer, value, 1); }
void tenon_write_u16(tenon_writer* writer, uint16_t value) { write_integer(writer, value, 2); }
void tenon_write_u32(tenon_writer* writer, uint32_t value) { write_integer(writer, value, 4); }
void tenon_write_i32(tenon_writer* writer, int32_t value)
{
    tenon_write_u32(writer, (uint32_t)value);
}
void tenon_write_u64(tenon_writer* writer, uint64_t value) { write_integer(writer, value, 8); }
void tenon_write_i64(tenon_writer* writer, int64_t value)
{
    tenon_write_u64(writer, (uint64_t)value);
}

void tenon_write_string(tenon_writer* writer, const char* text, size_t length)
{
    tenon_write_u64(writer, length);
    tenon_write_bytes(writer, text, length);
}
