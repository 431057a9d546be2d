/* SPDX-License-Identifier: Apache-2.0 */
/* Data types: text form, byte sizes, and checked element counts. */
#ifndef TENON_RUNTIME_DTYPE_H
#define TENON_RUNTIME_DTYPE_H

#include <stdbool.h>

#include "../include/tenon/c_backend_api.h"
#include "../include/tenon/dlpack.h"

enum
{
    kTenonMaxRank = TENON_MOST_DIMS
};

/** Parses "float32", "int8x4", "bool", "bfloat16", ... of `length` bytes; false when unknown. */
bool tenon_dtype_parse(const char* text, size_t length, DLDataType* out);
/** Writes the text form into `out` (at least 32 bytes). */
void tenon_dtype_print(DLDataType dtype, char* out);
bool tenon_dtype_equal(DLDataType a, DLDataType b);
/** Bytes of one element with all its lanes; 0 for types that cannot be stored. */
size_t tenon_dtype_bytes(DLDataType dtype);
/** Bytes of a compact tensor; false for negative dimensions, overflow or a bad rank. */
bool tenon_tensor_bytes(const int64_t* shape, int32_t ndim, DLDataType dtype, size_t* out);
/** True when strides are absent or describe the compact row-major layout. */
bool tenon_tensor_is_compact(const DLTensor* tensor);
static inline char* tenon_tensor_data(const DLTensor* tensor)
{
    return (char*)tensor->data + tensor->byte_offset;
}

#endif
