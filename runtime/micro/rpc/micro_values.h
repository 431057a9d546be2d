/* SPDX-License-Identifier: MIT-0 */
/* Values of TVM's session protocol "0.8.0", read from a packet and written into one. Everything
 * stays where it lies; reading and writing past the end sets `failed` and does nothing else. */
#ifndef TENON_MICRO_VALUES_H
#define TENON_MICRO_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "../../include/tenon/c_runtime_api.h"

/* Small boards take fewer tensors at once: kernels that are called alone need them, models do not.
 */
#ifndef MICRO_MOST_TENSORS
#define MICRO_MOST_TENSORS 16
#endif
#ifndef MICRO_MOST_DIMS
#define MICRO_MOST_DIMS 8
#endif

enum
{
    kMicroMostArguments = 16, /* the time evaluator takes 12 */
    kMicroMostTensors = MICRO_MOST_TENSORS,
    kMicroMostDims = MICRO_MOST_DIMS
};

typedef struct
{
    const uint8_t* at;
    size_t left;
    uint8_t failed;
} micro_reader;

uint32_t micro_read_u32(micro_reader* reader);
uint64_t micro_read_u64(micro_reader* reader);
/** `size` bytes in place; NULL past the end. */
const uint8_t* micro_read_bytes(micro_reader* reader, uint64_t size);

/** A tensor as it travels: `address` is what we called its memory. */
typedef struct
{
    uint64_t address; /* of the first element, byte offset and all */
    DLDataType dtype;
    int32_t ndim;
    int64_t shape[kMicroMostDims];
} micro_tensor;

void micro_read_tensor(micro_reader* reader, micro_tensor* out);
/** Its size; 0 with `failed` for one that does not fit this processor. */
size_t micro_tensor_bytes(const micro_tensor* tensor, uint8_t* failed);

typedef struct
{
    int32_t code; /* TVMArgTypeCode */
    union {
        int64_t integer;
        double number;
        uint64_t handle;
        const micro_tensor* tensor;
    } as;
    const uint8_t* bytes; /* of texts and bytes; not terminated */
    size_t size;
} micro_value;

typedef struct
{
    int32_t count;
    int32_t tensor_count;
    micro_value values[kMicroMostArguments];
    micro_tensor tensors[kMicroMostTensors];
} micro_arguments;

void micro_read_arguments(micro_reader* reader, micro_arguments* out);
/** Whether a value is the given text. */
int micro_is_text(const micro_value* value, const char* text);

typedef struct
{
    uint8_t* bytes;
    size_t capacity;
    size_t size;
    uint8_t failed;
} micro_writer;

void micro_write_u32(micro_writer* writer, uint32_t value);
void micro_write_u64(micro_writer* writer, uint64_t value);
/** In binary64, whatever the processor's double is. */
void micro_write_double(micro_writer* writer, double value);
void micro_write_bytes(micro_writer* writer, const void* bytes, size_t size);
/** Length and content of a text or of bytes. */
void micro_write_text(micro_writer* writer, const char* text);
void micro_write_tensor(micro_writer* writer, const micro_tensor* tensor);

#endif
