/* SPDX-License-Identifier: MIT-0 */
/* Bytecode of the VM executor: int64 words, an opcode and its operands; and the table by which a
 * library hands its kernels and constants to the VM.
 *
 * Operands: t tensor register, s scalar register (int64), l list, x text, w word; a dtype is the
 * word code | bits << 8 | lanes << 16 of DLPack's triple. A program is one
 * function: the bodies of control flow lie between their jumps. Scalars start with given values, so
 * constants need no instruction. Values whose largest size was known lie in one arena that is taken
 * with the executor.
 *
 * CallEach runs a kernel once per item of its tensors, whose items follow one another; tensors of 0
 * bytes per item are the same for all. Kernels may take chunks of items at once; the last chunk of
 * a size may repeat items of the one before. Those that take sizes take the number of their first
 * item behind these. */
#ifndef TENON_VM_CODE_H
#define TENON_VM_CODE_H

#include "dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

enum
{
    kTenonVmVersion = 4,
    kTenonVmMaxRank = 16
};

enum tenon_vm_opcode
{
    kTenonVmEnd = 0,        /* the outputs are complete */
    kTenonVmConstant = 1,   /* t, w constant */
    kTenonVmAllocate = 2,   /* t, w dtype, w rank, s... dimensions */
    kTenonVmView = 3,       /* t, t from, w rank, s...: the same values under another shape */
    kTenonVmCall = 4,       /* w kernel, w call, w tensors, t..., w sizes, s... */
    kTenonVmMove = 5,       /* t, t from: both are the same value */
    kTenonVmDrop = 6,       /* t */
    kTenonVmExtent = 7,     /* s, t, w axis */
    kTenonVmElement = 8,    /* s, t, w index: an integer or bool element */
    kTenonVmArithmetic = 9, /* s, w operation, s, s */
    kTenonVmExpect = 10,    /* w relation, s, s, x what to say when it does not hold */
    kTenonVmGoto = 11,      /* w target */
    kTenonVmIfZero = 12,    /* s, w target */
    kTenonVmListClear = 13, /* l */
    kTenonVmListPush = 14,  /* l, t */
    kTenonVmListStack = 15, /* t, l, w dtype, w rank, s... dimensions of one item */
    kTenonVmScalar = 16,    /* t, w dtype, s: a rank-0 tensor */
    kTenonVmPlace = 17,     /* t, w dtype, w offset, w room, w rank, s...: in the arena */
    kTenonVmWithin = 18,    /* s, s least, s most, x what it is the size of */
    kTenonVmCallEach = 19,  /* w call, s items, w kernels, w..., w kernels, w... items that each
                               takes, falling to 1, w tensors, t..., w tensors, w... bytes of one
                               item of each, w sizes, s... */
    kTenonVmOpcodeCount = 20
};

/** Overflow and division by zero are errors of the program's data. Relations give 0 or 1. */
enum tenon_vm_operation
{
    kTenonVmAdd = 0,
    kTenonVmSubtract = 1,
    kTenonVmMultiply = 2,
    kTenonVmFloorDivide = 3,
    kTenonVmLess = 4,
    kTenonVmLessEqual = 5,
    kTenonVmEqual = 6,
    kTenonVmMinimum = 7,
    kTenonVmMaximum = 8,
    kTenonVmOneOrEqual = 9, /* the first may be 1 instead */
    kTenonVmOperationCount = 10
};

/** A kernel behind one signature: pointers to its tensors, then its sizes. */
typedef int32_t (*tenon_vm_kernel)(void* const* tensors, const int64_t* sizes);

/** What `tenon_vm_table` of a library returns the address of. */
typedef struct
{
    int64_t kernel_count;
    const tenon_vm_kernel* kernels;
    int64_t constant_count;
    const void* const* constants;
} tenon_vm_table;

#ifdef __cplusplus
}
#endif

#endif
