/* SPDX-License-Identifier: Apache-2.0 */
/* Data types: text form, byte sizes, and checked element counts. */
#include "dtype.h"

#include <stdio.h>
#include <string.h>

enum
{
    kE4M3 = 6,
    kE5M2 = 7
};

static const struct
{
    const char* prefix;
    uint8_t code;
    uint8_t bits; /* 0: digits follow */
} kNames[] = {
    {"int", kDLInt, 0},        {"uint", kDLUInt, 0},      {"float", kDLFloat, 0},
    {"bfloat", kDLBfloat, 0},  {"bool", kDLUInt, 1},      {"handle", kDLOpaqueHandle, 64},
    {"e4m3_float8", kE4M3, 8}, {"e5m2_float8", kE5M2, 8}, {"complex", kDLComplex, 0},
};
enum
{
    kNameCount = sizeof kNames / sizeof kNames[0]
};

static bool parse_number(const char** text, const char* end, unsigned maximum, unsigned* out)
{
    unsigned value = 0;
    const char* start = *text;
    while (*text < end && **text >= '0' && **text <= '9') {
        value = value * 10 + (unsigned)(**text - '0');
        if (value > maximum) return false;
        ++*text;
    }
    *out = value;
    return *text > start && value > 0;
}

static bool parse_suffix(const char* text, const char* end, uint8_t fixed_bits, DLDataType* out)
{
    unsigned bits = fixed_bits;
    unsigned lanes = 1;
    if (!bits && !parse_number(&text, end, 255, &bits)) return false;
    if (text < end) {
        if (*text++ != 'x' || !parse_number(&text, end, 65535, &lanes) || text != end) return false;
    }
    out->bits = (uint8_t)bits;
    out->lanes = (uint16_t)lanes;
    return bits == 1 || bits == 4 || bits % 8 == 0;
}

bool tenon_dtype_parse(const char* text, size_t length, DLDataType* out)
{
    for (size_t i = 0; i < kNameCount; ++i) {
        size_t prefix = strlen(kNames[i].prefix);
        if (length < prefix || memcmp(text, kNames[i].prefix, prefix) != 0) continue;
        out->code = kNames[i].code;
        if (parse_suffix(text + prefix, text + length, kNames[i].bits, out)) return true;
    }
    return false;
}

void tenon_dtype_print(DLDataType dtype, char* out)
{
    const char* name = "unknown";
    bool has_bits = true;
    for (size_t i = 0; i < kNameCount; ++i) {
        if (kNames[i].code != dtype.code || (kNames[i].bits && kNames[i].bits != dtype.bits))
            continue;
        name = kNames[i].prefix;
        has_bits = kNames[i].bits == 0;
        if (!has_bits) break; /* "bool" rather than "uint1" */
    }
    int at = has_bits ? snprintf(out, 32, "%s%u", name, dtype.bits) : snprintf(out, 32, "%s", name);
    if (dtype.lanes != 1) snprintf(out + at, 32 - (size_t)at, "x%u", dtype.lanes);
}

bool tenon_dtype_equal(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

size_t tenon_dtype_bytes(DLDataType dtype) { return ((size_t)dtype.bits * dtype.lanes + 7) / 8; }

bool tenon_tensor_bytes(const int64_t* shape, int32_t ndim, DLDataType dtype, size_t* out)
{
    size_t bytes = tenon_dtype_bytes(dtype);
    if (ndim < 0 || ndim > kTenonMaxRank || bytes == 0) return false;
    bool empty = false;
    for (int32_t i = 0; i < ndim; ++i) {
        if (shape[i] < 0) return false;
        if (shape[i] == 0)
            empty = true;
        else if ((uint64_t)shape[i] > SIZE_MAX ||
                 __builtin_mul_overflow(bytes, (size_t)shape[i], &bytes))
            return false;
    }
    /* Half of the address space leaves room for rounding up to any alignment. */
    if (bytes > SIZE_MAX / 4) return false;
    *out = empty ? 0 : bytes;
    return true;
}

bool tenon_tensor_is_compact(const DLTensor* tensor)
{
    if (!tensor->strides) return true;
    int64_t expected = 1;
    for (int32_t i = tensor->ndim; i-- > 0;) {
        if (tensor->shape[i] != 1 && tensor->strides[i] != expected) return false;
        expected *= tensor->shape[i];
    }
    return true;
}
