/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds-checked little-endian reading and writing of byte streams; used for every blob and packet.
 */
#ifndef TENON_RUNTIME_BYTES_H
#define TENON_RUNTIME_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads from borrowed bytes. Once a read fails, every further read yields zeros. */
typedef struct
{
    const uint8_t* data;
    size_t size;
    size_t at;
    bool failed;
} tenon_reader;

tenon_reader tenon_reader_of(const void* data, size_t size);
/** Borrowed pointer to the next `size` bytes, or NULL (and failed). */
const uint8_t* tenon_read_bytes(tenon_reader* reader, uint64_t size);
uint8_t tenon_read_u8(tenon_reader* reader);
uint16_t tenon_read_u16(tenon_reader* reader);
uint32_t tenon_read_u32(tenon_reader* reader);
int32_t tenon_read_i32(tenon_reader* reader);
uint64_t tenon_read_u64(tenon_reader* reader);
int64_t tenon_read_i64(tenon_reader* reader);
size_t tenon_reader_left(const tenon_reader* reader);
/** A u64 count of things that take at least `item_bytes` each; fails when they cannot fit. */
size_t tenon_read_count(tenon_reader* reader, size_t item_bytes);
/** u64 length + bytes, borrowed and not terminated. */
const char* tenon_read_string(tenon_reader* reader, size_t* length);

/** Appends to memory of its own, never beyond `maximum`; on failure the content is meaningless. */
typedef struct
{
    uint8_t* data;
    size_t size;
    size_t capacity;
    size_t maximum;
    bool failed;
} tenon_writer;

tenon_writer tenon_writer_of(size_t maximum);
void tenon_writer_free(tenon_writer* writer);
void tenon_write_bytes(tenon_writer* writer, const void* data, size_t size);
void tenon_write_u8(tenon_writer* writer, uint8_t value);
void tenon_write_u16(tenon_writer* writer, uint16_t value);
void tenon_write_u32(tenon_writer* writer, uint32_t value);
void tenon_write_i32(tenon_writer* writer, int32_t value);
void tenon_write_u64(tenon_writer* writer, uint64_t value);
void tenon_write_i64(tenon_writer* writer, int64_t value);
void tenon_write_string(tenon_writer* writer, const char* text, size_t length);

#ifdef __cplusplus
}
#endif

#endif
