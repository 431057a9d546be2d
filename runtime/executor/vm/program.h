/* SPDX-License-Identifier: Apache-2.0 */
/* A VM program as it lies in an artifact, read and checked. */
#ifndef TENON_RUNTIME_VM_PROGRAM_H
#define TENON_RUNTIME_VM_PROGRAM_H

#include "../../common/arena.h"
#include "../../common/bytes.h"
#include "../../include/tenon/vm_code.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An input, output or constant; a dimension of -1 is known at run time only. */
typedef struct
{
    const char* name;
    DLDataType dtype;
    int32_t rank;
    const int64_t* shape;
    int64_t reg;
} vm_value;

typedef struct
{
    int64_t tensors;
    int64_t sizes;
} vm_signature;

/** From word `at` on, instructions belong to the node that `text` names. */
typedef struct
{
    int64_t at;
    int64_t text;
} vm_line;

/** CallEach, taken apart. */
typedef struct
{
    int64_t call;
    int64_t items;   /* scalar register */
    int64_t kernels; /* how many sizes of chunks there are */
    const int64_t* kernel;
    const int64_t* steps; /* items of a chunk of each kernel */
    int64_t tensors;
    const int64_t* tensor;
    const int64_t* item_bytes;
    int64_t sizes;
    const int64_t* size; /* scalar registers */
} vm_each;

typedef struct
{
    tenon_arena arena;
    const char* name;
    size_t tensor_count;
    size_t scalar_count;
    size_t list_count;
    size_t call_count;
    size_t arena_bytes;
    int64_t* presets; /* first values of the scalars */
    vm_value* inputs;
    size_t input_count;
    vm_value* outputs;
    size_t output_count;
    vm_value* constants;
    size_t constant_count;
    vm_signature* kernels;
    size_t kernel_count;
    const char** texts;
    size_t text_count;
    vm_line* lines;
    size_t line_count;
    int64_t* code;
    size_t word_count;
    size_t widest_call; /* most operands of one call */
} vm_program;

/** Reads a payload; every operand of every instruction is checked to be in range. */
int vm_program_read(tenon_reader* reader, vm_program* out);
void vm_program_free(vm_program* program);

/** Number of words of the instruction at `at`, or 0 when it is cut off or unknown. */
size_t vm_instruction_length(const vm_program* program, size_t at);
/** The operands of the CallEach that begins at `words`. */
vm_each vm_each_at(const int64_t* words);
/** -1 with a text when an instruction does not fit the program. */
int vm_program_check(vm_program* program);
/** The text of the node that the instruction at `at` belongs to, or NULL. */
const char* vm_program_node(const vm_program* program, size_t at);

DLDataType vm_dtype_of(int64_t word);

#ifdef __cplusplus
}
#endif

#endif
