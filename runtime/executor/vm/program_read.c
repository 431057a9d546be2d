/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a VM program out of its payload. */
#include <string.h>

#include "../../common/dtype.h"
#include "../../common/error.h"
#include "program.h"

enum
{
    kMaxRegisters = 1 << 22,
    kMaxArenaShift = 46
};

static int cut_off(void) { return tenon_fail("a VM program is cut off"); }

/* A u64 count of words and the words, copied. */
static int64_t* read_words(tenon_reader* reader, tenon_arena* arena, size_t* count)
{
    *count = tenon_read_count(reader, 8);
    int64_t* words = tenon_arena_alloc(arena, *count + 1, sizeof *words);
    for (size_t i = 0; words && i < *count; ++i) words[i] = tenon_read_i64(reader);
    if (!words || !reader->failed) return words;
    cut_off();
    return NULL;
}

static const char* read_text(tenon_reader* reader, tenon_arena* arena)
{
    size_t length;
    const char* text = tenon_read_string(reader, &length);
    if (text) return tenon_arena_text(arena, text, length);
    cut_off();
    return NULL;
}

static int read_value(tenon_reader* reader, tenon_arena* arena, vm_value* out)
{
    size_t rank;
    out->name = read_text(reader, arena);
    out->dtype = vm_dtype_of(tenon_read_i64(reader));
    out->reg = tenon_read_i64(reader);
    out->shape = out->name ? read_words(reader, arena, &rank) : NULL;
    if (!out->shape) return -1;
    if (rank > kTenonVmMaxRank || tenon_dtype_bytes(out->dtype) == 0)
        return tenon_fail("`%s` of a VM program has no valid type", out->name);
    out->rank = (int32_t)rank;
    for (size_t i = 0; i < rank; ++i)
        if (out->shape[i] < -1)
            return tenon_fail("`%s` of a VM program has a negative size", out->name);
    return 0;
}

static int read_values(tenon_reader* reader, tenon_arena* arena, vm_value** out, size_t* count)
{
    *count = tenon_read_count(reader, 32);
    *out = tenon_arena_alloc(arena, *count + 1, sizeof **out);
    if (!*out) return -1;
    for (size_t i = 0; i < *count; ++i)
        if (read_value(reader, arena, &(*out)[i]) != 0) return -1;
    return reader->failed ? cut_off() : 0;
}

static int read_texts(tenon_reader* reader, vm_program* out)
{
    out->text_count = tenon_read_count(reader, 8);
    out->texts = tenon_arena_alloc(&out->arena, out->text_count + 1, sizeof *out->texts);
    if (!out->texts) return -1;
    for (size_t i = 0; i < out->text_count; ++i) {
        out->texts[i] = read_text(reader, &out->arena);
        if (!out->texts[i]) return -1;
    }
    return 0;
}

/* Words in pairs become structures of two. */
static void* read_pairs(tenon_reader* reader, tenon_arena* arena, size_t* count)
{
    int64_t* words = read_words(reader, arena, count);
    if (!words) return NULL;
    if (*count % 2 != 0) {
        cut_off();
        return NULL;
    }
    *count /= 2;
    return words;
}

/* A number of registers; fails the reader when there are too many. */
static size_t read_register_count(tenon_reader* reader)
{
    uint64_t count = tenon_read_u64(reader);
    if (count <= kMaxRegisters) return (size_t)count;
    reader->failed = true;
    return 0;
}

static int read_counts(tenon_reader* reader, vm_program* out)
{
    if (tenon_read_i64(reader) != kTenonVmVersion || reader->failed)
        return tenon_fail("a VM program of another version");
    out->name = read_text(reader, &out->arena);
    if (!out->name) return -1;
    out->tensor_count = read_register_count(reader);
    out->list_count = read_register_count(reader);
    out->call_count = read_register_count(reader);
    uint64_t arena_bytes = tenon_read_u64(reader);
    out->arena_bytes = (size_t)arena_bytes;
    if (arena_bytes >> kMaxArenaShift || arena_bytes > SIZE_MAX / 4)
        return tenon_fail("a VM program with too large an arena");
    return reader->failed ? tenon_fail("a VM program with too many registers") : 0;
}

int vm_program_read(tenon_reader* reader, vm_program* out)
{
    memset(out, 0, sizeof *out);
    tenon_arena* arena = &out->arena;
    if (read_counts(reader, out) != 0) return -1;
    out->presets = read_words(reader, arena, &out->scalar_count);
    if (!out->presets || read_values(reader, arena, &out->inputs, &out->input_count) != 0 ||
        read_values(reader, arena, &out->outputs, &out->output_count) != 0 ||
        read_values(reader, arena, &out->constants, &out->constant_count) != 0)
        return -1;
    out->kernels = read_pairs(reader, arena, &out->kernel_count);
    if (!out->kernels || read_texts(reader, out) != 0) return -1;
    out->lines = read_pairs(reader, arena, &out->line_count);
    if (!out->lines) return -1;
    out->code = read_words(reader, arena, &out->word_count);
    return out->code ? vm_program_check(out) : -1;
}

DLDataType vm_dtype_of(int64_t word)
{
    return (DLDataType){(uint8_t)(word & 0xff), (uint8_t)(word >> 8 & 0xff),
                        (uint16_t)(word >> 16 & 0xffff)};
}

void vm_program_free(vm_program* program) { tenon_arena_free(&program->arena); }

const char* vm_program_node(const vm_program* program, size_t at)
{
    const char* text = NULL;
    for (size_t i = 0; i < program->line_count && program->lines[i].at <= (int64_t)at; ++i)
        text = program->texts[program->lines[i].text];
    return text && text[0] ? text : NULL;
}
